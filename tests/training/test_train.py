"""What stands around the loop: the work directory's owner, run.json, the lines on the console."""

import json
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from ml_collections import ConfigDict

from disan_tf.common.errors import UserError
from disan_tf.elmo.official_files import save_bilm
from disan_tf.runs import work_directory
from disan_tf.runs.bundle import load_bundle
from disan_tf.runs.recorded_config import FORMAT
from disan_tf.runs.run_summary import is_finished
from disan_tf.runs.work_directory import WorkDirectory
from disan_tf.training.config import from_dict
from disan_tf.training.evaluation import write_evaluation
from disan_tf.training.train import gather_resources, introduce, train
from tests.support.corpora.pairs import make_pair_corpus
from tests.support.models.bilm import small_bilm
from tests.support.runs.training import corpus_of, make_loop, tiny_config, with_few_operations


def claim(folder, config):
    work = WorkDirectory(folder, config)
    work.check()
    work.claim()


def test_a_work_directory_belongs_to_one_config(tmp_path):
    claim(tmp_path, tiny_config())
    claim(tmp_path, tiny_config())
    with pytest.raises(UserError, match=r"train\.dropout \(0\.2 there, 0\.5 here\)"):
        claim(tmp_path, tiny_config(dropout=0.5))
    assert json.loads((tmp_path / "config.json").read_text())["train"]["dropout"] == 0.2


def test_a_work_directory_may_be_asked_for_more_steps_and_patience(tmp_path):
    claim(tmp_path, tiny_config(steps=50, patience=2))
    claim(tmp_path, tiny_config(steps=80, patience=5))
    train = json.loads((tmp_path / "config.json").read_text())["train"]
    assert (train["steps"], train["patience"]) == (80, 5)
    claim(tmp_path, tiny_config(steps=80, patience=0))  # never ends it


@pytest.mark.parametrize(
    "key, there, here",
    [("steps", 80, 50), ("steps", 80, 0), ("epochs", 9, 0), ("patience", 5, 2), ("patience", 0, 9)],
)
def test_a_work_directory_is_not_asked_for_less(tmp_path, key, there, here):
    claim(tmp_path, tiny_config(**{"steps": 100, key: there}))
    with pytest.raises(UserError, match=rf"train\.{key} \({there} there, {here} here\)"):
        claim(tmp_path, tiny_config(**{"steps": 100, key: here}))
    assert json.loads((tmp_path / "config.json").read_text())["train"][key] == there


def test_a_finished_training_without_its_checkpoints_is_left_alone(tmp_path):
    config = from_dict(with_few_operations(tiny_config(steps=4, evaluate_every=2)))
    corpus = corpus_of(config.tree, tmp_path / "corpus")
    train(config, lambda: corpus, tmp_path / "run", pictures=False)
    shutil.rmtree(tmp_path / "run/checkpoints")
    files = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*.json*")}
    with pytest.raises(UserError, match="whose checkpoints are missing; restore them"):
        train(config, lambda: corpus, tmp_path / "run", pictures=False)
    assert files == {path: path.read_bytes() for path in files}


def test_a_bilm_is_not_larger_than_its_file(tmp_path):
    files = tmp_path / "options.json", tmp_path / "weights.hdf5"
    save_bilm(small_bilm(), *files)
    options = json.loads(files[0].read_text())
    options["lstm"]["dim"] = 60_000
    files[0].write_text(json.dumps(options))
    corpus = SimpleNamespace(bilm=files, words=(1, 1), classes=["a"], vectors=None)
    with pytest.raises(UserError, match=r"options.json describes a larger biLM than .*hdf5 holds"):
        gather_resources(ConfigDict({"name": "elmo", "cached": True}), "float32", corpus)


@pytest.mark.parametrize("number", [None, 1, FORMAT + 1])
def test_a_work_directory_of_another_format_is_refused(tmp_path, number):
    (tmp_path / "config.json").write_text(json.dumps({"format": number, **tiny_config().to_dict()}))
    message = rf"config.json has format {number}, and this version .* reads format {FORMAT}: use"
    with pytest.raises(UserError, match=message):
        claim(tmp_path, tiny_config())


def test_a_training_says_what_it_trains_and_leaves_a_record(tmp_path, capsys, monkeypatch):
    config = with_few_operations(tiny_config(steps=10))
    corpus = corpus_of(config, tmp_path / "corpus")
    summary = train(from_dict(config), lambda: corpus, tmp_path / "run")
    printed = capsys.readouterr().out
    assert " parameters without" in printed and "tokens per step" in printed
    assert "step 10 of 10, epoch 0.1: dev loss" in printed and "examples/s" in printed
    assert summary["step"] == 10
    described = json.loads((tmp_path / "run" / "run.json").read_text())
    assert described["parameters"] > 0 and list((tmp_path / "run/tensorboard/dev").iterdir())
    assert set(described["versions"]) == {"disan_tf", "python", "tensorflow", "numpy"}
    assert any(path.endswith("train.txt") for path in described["inputs"])
    machine = described["machine"]
    assert set(machine) == {"processor", "gpu", "cores", "threads", "load_before", "load_after"}
    assert machine["processor"] and 0 < machine["threads"] <= machine["cores"]
    assert machine["load_before"] >= 0 and machine["load_after"] >= 0
    monkeypatch.setattr(work_directory, "describe_machine", dict)  # which trains nothing more
    train(from_dict(config), lambda: corpus, tmp_path / "run", pictures=False)
    assert json.loads((tmp_path / "run" / "run.json").read_text()) == described


def test_a_training_counts_in_epochs(tmp_path, capsys):
    config = with_few_operations(tiny_config(steps=0, evaluate_every=0, examples=70))
    config.train.epochs = 2
    corpus = corpus_of(config, tmp_path / "corpus")
    summary = train(from_dict(config), lambda: corpus, tmp_path / "run", pictures=False)
    assert (summary["step"], summary["epoch"]) == (10, 2.0)  # 70 examples in batches of 16
    assert summary["best_epoch"] in (1.0, 2.0)
    printed = capsys.readouterr().out
    assert "step 5 of 10, epoch 1.0: " in printed and "step 10 of 10, epoch 2.0: " in printed
    bundle = load_bundle(tmp_path / "run/best")
    for split in ("dev", "test"):
        assert not is_finished(tmp_path / "run", from_dict(config).train.schedule)
        write_evaluation(tmp_path / "run/evaluation", bundle, corpus, split)
    assert is_finished(tmp_path / "run", from_dict(config).train.schedule)
    config.train.epochs = 3
    assert not is_finished(tmp_path / "run", from_dict(config).train.schedule)


def test_a_training_does_not_go_on_with_other_data(tmp_path):
    config = with_few_operations(tiny_config(steps=2, evaluate_every=2))
    corpus = corpus_of(config, tmp_path / "corpus")
    train(from_dict(config), lambda: corpus, tmp_path / "run", pictures=False)
    before = (tmp_path / "run/run.json").read_bytes()
    other = corpus_of(config, tmp_path / "other", {"train": 61, "dev": 40, "test": 40})
    with pytest.raises(UserError, match=r"or removed: \S*train\.txt; restore") as refusal:
        train(from_dict(config), lambda: other, tmp_path / "run")
    assert "dev.txt" not in str(refusal.value)
    assert (tmp_path / "run/run.json").read_bytes() == before
    moved = corpus_of(config, tmp_path / "moved")
    assert train(from_dict(config), lambda: moved, tmp_path / "run", False)["step"] == 2


@pytest.mark.parametrize("dtype, is_slow", [("mixed_bfloat16", True), ("float32", False)])
def test_a_training_in_emulated_bfloat16_warns(dtype, is_slow, tmp_path, monkeypatch):
    monkeypatch.setattr("disan_tf.training.train.emulates_bfloat16", lambda: True)
    config = with_few_operations(tiny_config(name="disan_snli", steps=2))
    config.dtype = dtype
    trainer = make_loop(config, make_pair_corpus(tmp_path / "corpus"), tmp_path / "run")
    assert ("oneDNN emulates bfloat16" in introduce(trainer, 0)) == is_slow


def test_a_training_on_a_draw_of_its_examples_says_so_and_sees_no_other(tmp_path):
    corpus = make_pair_corpus(tmp_path / "corpus")
    config = with_few_operations(tiny_config(name="disan_snli", steps=2, examples=20))
    trainer = make_loop(config, corpus, tmp_path / "run")
    assert "20 training examples, 2 steps per epoch, " in introduce(trainer, 0)
    seen = np.concatenate([batch["index"] for batch in trainer.batches(0)])
    np.testing.assert_array_equal(np.sort(seen), trainer.plan.rows)


def test_more_examples_than_the_corpus_has_are_refused(tmp_path):
    corpus = make_pair_corpus(tmp_path / "corpus")
    config = tiny_config(name="disan_snli", examples=61)
    with pytest.raises(UserError, match="train.examples=61 is more than the 60 training examples"):
        train(from_dict(config), lambda: corpus, tmp_path / "run")
    assert not (tmp_path / "run" / "config.json").exists()  # it may be used with fewer
