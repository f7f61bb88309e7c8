"""Series of trainings: their members, their scores, and how they go on."""

import gc
import json
import shutil
import statistics
import threading
from contextlib import ExitStack
from unittest import mock

import numpy as np
import pytest

from disan_tf.common.errors import UserError
from disan_tf.common.process import owned
from disan_tf.runs.bundle import load_bundle
from disan_tf.runs.series_summary import series_command, summarise_series
from disan_tf.runs.work_directory import WorkDirectory
from disan_tf.training.config import Data, from_dict
from disan_tf.training.loop import Loop
from disan_tf.training.series import (
    check_no_series,
    evaluate_series,
    plan,
    recorded_version,
    train_series,
)
from tests.support.runs.training import corpus_of, make_loop, tiny_config, with_few_operations

FOLDS = 3


@pytest.fixture(scope="module", autouse=True)
def _frozen():
    """Spares the members, which free their memory, a look at what is there before them."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return corpus_of(tiny_config(), tmp_path_factory.mktemp("corpus"))


def _config(folds=0, **train):
    config = with_few_operations(tiny_config(**{"steps": 4, "evaluate_every": 2, **train}))
    config.evaluate.splits = ("test",)
    if folds:
        config.data.update(folds=folds, fold=0)
    return config.lock()


def read_config(config):
    """Folds are tried with a corpus that has none."""
    names = ("sentence",), ("train", "dev", "test")
    return from_dict(config, lambda options: Data(options, *names))


@pytest.fixture(scope="module")
def finished(corpus, tmp_path_factory):
    """A series of one seed and two of three folds."""
    workdir = tmp_path_factory.mktemp("series") / "run"
    _again(workdir, corpus)
    return workdir


@pytest.fixture
def copied(finished, tmp_path):
    shutil.copytree(finished, tmp_path / "run")
    return tmp_path / "run"


def _again(workdir, corpus, seeds=("2",), folds=("0", "2"), **train):
    config = read_config(_config(FOLDS, **train))
    return train_series(config, workdir, seeds, folds, lambda data: corpus, pictures=False)


def test_a_training_and_a_series_keep_the_version_of_the_tokenizer(copied, tmp_path):
    assert recorded_version(tmp_path / "new") is None
    member = copied / "seed-2" / "fold-0"
    assert recorded_version(member) == recorded_version(copied) == 2  # of the corpus
    for path in copied.glob("*/*/run.json"):
        run = json.loads(path.read_text())
        del run["tokenizer_version"]  # as older versions of the package wrote it
        path.write_text(json.dumps(run))
    assert recorded_version(member) == recorded_version(copied) == 1


def test_members_are_named_by_seed_and_fold():
    names = [member.name for member in plan(read_config(_config(FOLDS)), ["3", "1"], ["0", "2"])]
    assert names == ["seed-3/fold-0", "seed-3/fold-2", "seed-1/fold-0", "seed-1/fold-2"]
    assert [member.name for member in plan(read_config(_config()), ["7"], [])] == ["seed-7"]
    assert [member.name for member in plan(read_config(_config(FOLDS)), [], ["1"])] == ["fold-1"]


def test_the_seed_of_the_data_follows_the_seed_of_a_member():
    config = read_config(_config(FOLDS))
    assert [it.config.data.options.fold for it in plan(config, [], ["all"])] == [0, 1, 2]
    (member,) = plan(config, ["5"], ["1"])
    data = member.config.data.options
    assert (member.config.seed, data.seed, data.fold) == (5, 5, 1)
    data = config.data.options
    assert (config.seed, data.seed, data.fold) == (1, 1, 0)


@pytest.mark.parametrize(
    "seeds, folds, words",
    [
        (["1", "x"], [], "--seeds=1,x: 'x' is not a whole number"),
        (["1", ""], [], "'' is not a whole number"),
        (["2", "02"], [], "--seeds=2,02 names one twice"),
        (["9" * 5000], [], "999 must be at most"),
        ([], ["0", "0"], "--folds=0,0 names one twice"),
        ([], ["0", "3"], "--folds=0,3: the folds go from 0 to 2"),
        ([], ["all", "1"], "'all' is not a whole number"),
    ],
)
def test_bad_seeds_and_folds_are_refused(seeds, folds, words):
    with pytest.raises(UserError, match=words):
        plan(read_config(_config(FOLDS)), seeds, folds)


def test_folds_of_a_corpus_without_them_are_refused():
    with pytest.raises(UserError, match="corpus sst has an official split and no folds"):
        plan(read_config(_config()), [], ["all"])


def test_every_member_is_a_work_directory_with_its_scores(finished):
    for fold in (0, 2):
        folder = finished / f"seed-2/fold-{fold}"
        config = json.loads((folder / "config.json").read_text())
        assert (config["seed"], config["data"]["fold"]) == (2, fold)
        scored = {path.name for path in (folder / "evaluation").iterdir()}
        endings = (".json", ".npz", "_confusion.csv")
        assert scored == {f"{split}{end}" for split in ("dev", "test") for end in endings}
        assert load_bundle(folder / "best").config.data.seed == 2


def test_a_member_equals_a_training_of_its_own(finished, corpus, tmp_path):
    (member,) = plan(read_config(_config(FOLDS)), ["2"], ["2"])
    make_loop(member.config.tree, corpus, tmp_path).run()
    ours, alone = (
        load_bundle(folder / "best").model for folder in (finished / "seed-2/fold-2", tmp_path)
    )
    for one, other in zip(ours.weights, alone.weights):
        np.testing.assert_array_equal(one, other, one.name)


def test_the_series_has_means_and_deviations_of_its_members(finished):
    summary = json.loads((finished / "series.json").read_text())
    names = [member["name"] for member in summary["members"]]
    assert names == ["seed-2/fold-0", "seed-2/fold-2"]
    assert [(member["seed"], member["fold"]) for member in summary["members"]] == [(2, 0), (2, 2)]
    for split in ("dev", "test", "best_on_test"):
        scores = [member["scores"][split]["accuracy"] for member in summary["members"]]
        assert summary["mean"][split]["accuracy"] == pytest.approx(statistics.mean(scores))
        spread = summary["standard_deviation"][split]["accuracy"]
        assert spread == pytest.approx(statistics.stdev(scores))


def test_the_series_has_the_curves_and_the_confusions_of_its_members(finished):
    summary = json.loads((finished / "series.json").read_text())
    matrices = []
    for member in summary["members"]:
        assert [step for step, _ in member["dev_curve"]] == [2, 4]
        assert [step for step, _ in member["test_curve"]] == [2, 4]
        report = json.loads((finished / member["name"] / "evaluation/test.json").read_text())
        matrices.append(report["confusion"]["matrix"])
    assert summary["confusion"]["classes"] == report["confusion"]["classes"]
    assert summary["confusion"]["matrix"] == np.add(*matrices).tolist()


def test_finished_members_are_neither_prepared_nor_trained_again(copied, capsys):
    before = (copied / "series.json").read_text()
    _again(copied, corpus=None)
    assert capsys.readouterr().out.count(": finished") == 2
    assert (copied / "series.json").read_text() == before


def test_a_single_fold_is_explained_to_those_who_mean_a_number_of_folds(copied, capsys):
    _again(copied, corpus=None, folds=("2",))
    sentence = "--folds=2 trains the fold with the number 2 (of 0 to 2); --folds=all trains all, "
    assert capsys.readouterr().out.startswith(sentence)
    _again(copied, corpus=None)
    assert "trains the fold" not in capsys.readouterr().out


def test_a_member_that_lacks_scores_is_only_evaluated(copied, corpus, monkeypatch):
    (copied / "seed-2/fold-2/evaluation/test.json").unlink()
    metrics = (copied / "seed-2/fold-2/metrics.jsonl").read_text()
    before = json.loads((copied / "series.json").read_text())
    assert _again(copied, corpus)["mean"] == before["mean"]
    records = (copied / "seed-2/fold-2/metrics.jsonl").read_text()
    assert records == metrics


def test_a_series_is_scored_on_a_split_more(copied, corpus, capsys):
    summary = evaluate_series(copied, "train", lambda data: corpus)
    files = [copied / f"seed-2/fold-{fold}/evaluation/train.json" for fold in (0, 2)]
    scores = [json.loads(path.read_text())["accuracy"] for path in files]
    assert summary["mean"]["train"]["accuracy"] == pytest.approx(statistics.mean(scores))
    assert json.loads((copied / "series.json").read_text()) == json.loads(json.dumps(summary))
    first, second, heads = capsys.readouterr().out.splitlines()[:3]
    assert (first, second) == ("seed-2/fold-0 (1 of 2)", "seed-2/fold-2 (2 of 2)")
    assert "train accuracy" in heads


def test_a_series_without_a_finished_member_is_not_scored(copied):
    for path in copied.glob("seed-2/*/run.json"):
        path.unlink()
    with pytest.raises(UserError, match="a series without a finished member: train it"):
        evaluate_series(copied, "dev", lambda data: None)


def test_a_member_of_another_config_is_refused(copied, corpus):
    path = copied / "seed-2/fold-0/config.json"
    path.write_text(path.read_text().replace('"dropout": 0.2', '"dropout": 0.7'))
    with pytest.raises(UserError, match=r"seed-2/fold-0 holds .*train\.dropout"):
        _again(copied, corpus)


def test_a_new_member_does_not_train_on_other_files_than_its_series(copied, corpus):
    path = copied / "seed-2/fold-0/run.json"
    run = json.loads(path.read_text())
    path.write_text(json.dumps({**run, "inputs": {"more.txt": {"sha256": "0"}, **run["inputs"]}}))
    with pytest.raises(UserError, match=r"seed-2/fold-0 holds a training on other data.*more\.txt"):
        _again(copied, corpus, folds=("1",))
    assert not (copied / "seed-2/fold-1/config.json").exists()


def test_folds_with_and_without_seeds_do_not_share_a_folder(copied):
    with pytest.raises(UserError, match="cannot hold both fold-2 and seed-2/fold-2, which may be"):
        _again(copied, corpus=None, seeds=())


def test_a_series_belongs_to_the_first_config_that_fits_the_corpus(corpus, tmp_path):
    with pytest.raises(UserError, match="train.examples=9999 is more than"):
        _again(tmp_path, corpus, examples=9999)
    assert not list(tmp_path.rglob("config.json"))

    def prepare(data):  # while another process claims the series
        WorkDirectory(tmp_path, _config(FOLDS, dropout=0.7)).claim()
        return corpus

    with pytest.raises(UserError, match=r"train\.dropout \(0.7 there, 0.2 here\)"):
        train_series(read_config(_config(FOLDS)), tmp_path, ["2"], ["0"], prepare, pictures=False)


def test_a_single_training_and_a_series_do_not_share_a_folder(finished, tmp_path):
    check_no_series(tmp_path)
    (tmp_path / "run.json").touch()
    with pytest.raises(UserError, match="holds a single training"):
        _again(tmp_path, None)
    with pytest.raises(UserError, match="holds a series; say which --seeds or --folds"):
        check_no_series(finished)


def test_a_member_that_another_process_trains_comes_last(copied, corpus, capsys):
    shutil.rmtree(copied / "seed-2/fold-2/evaluation")
    with mock.patch("disan_tf.training.series.train"), ExitStack() as stack:
        stack.enter_context(owned(copied / "seed-2/fold-0"))
        threading.Timer(1.0, stack.close).start()
        _again(copied, corpus)
    lines = [line for line in capsys.readouterr().out.splitlines() if "seed-2/fold" in line]
    assert "seed-2/fold-0: " in lines[0] and "is being written by process" in lines[0]
    assert lines[1] == "seed-2/fold-2 (2 of 2)"
    assert lines[2] == "seed-2/fold-0 (1 of 2): finished"


def test_the_table_shows_members_and_means(copied, capsys):
    _again(copied, corpus=None)
    lines = capsys.readouterr().out.splitlines()
    assert lines[-5].split() == ["dev", "accuracy", "test", "accuracy", "best_on_test", "accuracy"]
    assert lines[-4].startswith("seed-2/fold-0 ")
    assert lines[-2].startswith("mean ") and lines[-1].startswith("standard deviation ")


def test_a_single_member_has_no_deviation_and_leaves_no_model_behind(corpus, tmp_path):
    where = tmp_path / "run"
    config = read_config(_config(steps=2))
    summary = train_series(config, where, ["4"], [], lambda data: corpus, pictures=False)
    assert summary["standard_deviation"]["test"]["accuracy"] is None
    assert not any(isinstance(each, Loop) for each in gc.get_objects())


def test_members_that_began_with_different_models_are_recorded(copied):
    path = copied / "seed-2" / "fold-2" / "run.json"
    start = {"name": "a", "sha256": "0", "words": 5, "words_found": 4, "head": False}
    path.write_text(json.dumps({**json.loads(path.read_text()), "init_from": start}))
    summary = summarise_series(copied)
    assert [it["began_with"] for it in summary["members"]] == ["random weights", "a"]
    assert summary["init_from"] == start


def test_the_series_command_names_all_its_members():
    members = [{"name": f"fold-{fold}", "seed": 1, "fold": fold} for fold in range(FOLDS)]
    command = "python run.py --config=configs/x.py:tiny --folds=0,1 --config.seed=1"
    config = _config(FOLDS).to_dict()
    assert series_command(command, members[:2], config).endswith("--config.seed=1 --folds=0,1")
    assert series_command(command, members, config).endswith("--config.seed=1 --folds=all")
