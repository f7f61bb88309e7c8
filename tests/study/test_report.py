"""`--mode=report`: from a tree of work directories to results and pages."""

import json
from unittest import mock

import numpy as np
import pytest

from disan_tf.common.errors import UserError
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.study import report as report_module
from disan_tf.study.claims.ledger import assess_claims
from disan_tf.study.report import record, render_pages, report, repository_pages
from disan_tf.study.results import (
    read_predictions,
    read_records,
    read_result,
    read_results,
)
from tests.support.errors import user_error
from tests.support.runs.finished import COMMAND, DATA, config_of, write, write_run, write_series
from tests.support.runs.training import load_config

START = {"name": "m", "sha256": "a", "words": 9, "words_found": 7, "head": False}


def test_the_pages_of_the_repository_are_those_of_its_records():
    records = read_records(CHECKPOINTS)
    ledger = assess_claims(records)
    pages = render_pages(records, ledger, load_config)
    for name, text in pages.items():
        assert (CHECKPOINTS / name).read_text("utf-8") == text, f"run --mode=report for {name}"
    for path, text in repository_pages(records.results, ledger).items():
        assert path.read_text("utf-8") == text, f"run --mode=report for {path}"
    tables = {f"tables/{path.name}" for path in (CHECKPOINTS / "tables").iterdir()}
    assert pages.keys() == {*tables, "claims.md", "claims.csv", "deviations.md"}


@pytest.fixture
def tree(tmp_path):
    write_run(tmp_path / "runs" / "plain", config_of())
    write_series(tmp_path / "runs" / "later" / "series", config_of())
    return tmp_path / "runs"


def test_each_run_becomes_a_file_named_for_its_place_and_stands_in_the_tables(tree, tmp_path):
    report(tree, tmp_path / "out", load_config)
    results = read_results(tmp_path / "out" / "results")
    assert {*results} == {"plain", "later-series"}
    plain, series = results["plain"], results["later-series"]
    assert list(plain)[:4] == ["command", "paper", "note", "config"]
    assert (plain["command"], plain["paper"], plain["steps"]) == (COMMAND, "51.72", 30)
    assert series["command"] == f"{COMMAND} --seeds=1,2,3"
    assert [member["seed"] for member in series["members"]] == [1, 2, 3]
    assert series["mean"]["test"]["accuracy"] == pytest.approx(0.5)
    assert series["standard_deviation"]["test"]["accuracy"] == pytest.approx(0.1)
    assert series["mean"]["best_on_test"]["accuracy"] == pytest.approx((0.49 + 0.5 + 0.6) / 3)
    assert series["parameters"] == 1000 and series["minutes"] == 3.0
    text = (tmp_path / "out" / "tables" / "disan_table_2.md").read_text()
    assert "| DiSAN | plain | seed 3 |" in text
    assert "| DiSAN | later-series | seeds 1, 2, 3 |" in text
    assert "## ELMo-DiSAN" in (tmp_path / "out" / "deviations.md").read_text()
    assert "| not tested |" in (tmp_path / "out" / "claims.md").read_text()
    pictures = {path.name for path in (tmp_path / "out" / "figures").glob("*.svg")}
    assert pictures == {"disan_figure_5.svg", "disan_table_2.svg"}


def _record(folder, output, name="it"):
    record(folder, output)
    return json.loads((output / f"results/{name}.json").read_text())


def test_note_and_command_of_a_recorded_run_stay_where_it_has_none(tree, tmp_path):
    recorded = {**_record(tree / "plain", tmp_path, "plain"), "command": "mine", "note": "why"}
    write(tmp_path / "results/plain.json", recorded)
    write_run(tree / "plain", config_of(), command=None)
    again = _record(tree / "plain", tmp_path, "plain")
    assert (again["command"], again["note"]) == ("mine", "why")


@pytest.mark.parametrize(
    "name, content",
    [
        ("run.json", None),
        ("evaluation/test.json", "[]"),
        ("metrics.jsonl", '{"step": 20}\n'),
    ],
)
def test_a_broken_run_is_named_and_skipped(tree, tmp_path, capsys, name, content):
    (tree / "plain" / name).unlink()
    if content is not None:
        (tree / "plain" / name).write_text(content)
    record(tree, tmp_path)
    (line,) = (x for x in capsys.readouterr().out.splitlines() if x.startswith("skipped: "))
    assert "plain" in line
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["later-series.json"]


def test_members_that_are_not_finished_do_not_count(tree, tmp_path, capsys):
    (tree / "later" / "series" / "seed-2" / "evaluation" / "test.json").unlink()
    series = _record(tree, tmp_path, "later-series")
    assert [member["seed"] for member in series["members"]] == [1, 3]
    assert series["command"].endswith("--seeds=1,3")
    write_series(tmp_path / "new", config_of(), tests=())
    record(tmp_path / "new", tmp_path)
    assert "new is a series without a finished member" in capsys.readouterr().out


def test_a_folder_without_runs_is_refused(tmp_path):
    assert "holds no work directory" in user_error(record, tmp_path, tmp_path / "out")


def test_a_training_that_began_with_a_trained_model_is_recorded_but_in_no_table(tmp_path):
    write_run(tmp_path / "runs/ours", config_of(), test=0.41)
    write_run(tmp_path / "runs/tuned", config_of(), test=0.63, init_from=START)
    write_run(tmp_path / "runs/fine_tuning/in/it", config_of(), init_from=START)
    write_run(tmp_path / "runs/fine_tuning/random", config_of())
    record(tmp_path / "runs", tmp_path)
    assert list(read_results(tmp_path / "results")) == ["ours"]
    assert read_result(tmp_path / "results/tuned.json")["init_from"] == START
    names = {path.name for path in (tmp_path / "results/fine_tuning").iterdir()}
    assert names == {"in-it.json", "random.json"}


# Seeds that were trained apart


def _write_predictions(folder, predictions, step=20):
    arrays = {"predictions": np.array(predictions), "labels": np.array([0, 1, 1]), "step": step}
    np.savez(folder / "evaluation/test.npz", **arrays)


@pytest.fixture
def apart(tmp_path):
    """A series of seeds 1 and 2, and one of seed 3, which the same test accuracies follow."""
    for name, tests in (("whole", (0.4, 0.5, 0.75)), ("first", (0.4, 0.5)), ("later", (0.75,))):
        first_seed = 3 if name == "later" else 1
        series = write_series(tmp_path / name / "it", config_of(), tests, first_seed)
        for seed, folder in enumerate(sorted(series.glob("seed-*")), first_seed):
            _write_predictions(folder, [0, seed % 2, 1])
    return tmp_path


def test_seeds_that_were_trained_apart_are_joined(apart, capsys):
    expected = _record(apart / "whole", apart / "at_once")
    _record(apart / "first", apart / "out")
    assert _record(apart / "later", apart / "out") == expected
    assert "seeds 1, 2, 3 now" in capsys.readouterr().out
    assert expected["command"] == f"{COMMAND} --seeds=1,2,3"
    one, other = (
        read_predictions(apart / name / "predictions/it.npz") for name in ("out", "at_once")
    )
    assert len(one) == 3
    np.testing.assert_equal(one, other)


def test_a_record_that_was_killed_is_completed_by_the_same_command(apart, monkeypatch):
    expected = _record(apart / "whole", apart / "at_once")
    _record(apart / "first", apart / "out")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(report_module, "write_json", mock.Mock(side_effect=KeyboardInterrupt))
        _record(apart / "later", apart / "out")
    assert "holds the predictions of 3 trainings, and the result has 2" in user_error(
        read_records, apart / "out"
    )
    assert _record(apart / "later", apart / "out") == expected
    assert len(read_records(apart / "out").predictions["it"]) == 3


def test_a_file_of_another_name_and_the_same_content_is_the_same_input(tmp_path):
    for seed, name in enumerate(("glove/whole.txt", "glove/renamed.txt"), start=1):
        folder = tmp_path / f"run{seed}"
        write_run(folder / "it", config_of(seed=seed), inputs={name: {"sha256": "a"}})
        result = _record(folder, tmp_path / "out")
    assert len(result["members"]) == 2


def test_seeds_with_swapped_files_are_not_joined(tmp_path):
    for seed, digests in enumerate(("ab", "ba"), start=1):
        inputs = {name: {"sha256": it} for name, it in zip(("dev.txt", "test.txt"), digests)}
        write_run(tmp_path / f"run{seed}/it", config_of(seed=seed), inputs=inputs)
    _record(tmp_path / "run1/it", tmp_path / "out")
    assert "members" not in _record(tmp_path / "run2/it", tmp_path / "out")


@pytest.mark.parametrize("lacks", [False, True])
def test_joined_lengths_have_the_deviation_over_all_members(apart, lacks):
    for path in apart.glob("*/it/seed-*/evaluation/test.json"):
        seed = int(path.parts[-3][-1])
        accuracy = (0.25, 0.5, 1.0)[seed - 1]
        bins = {"1-4": {"count": seed, "accuracy": accuracy}}
        is_empty = lacks and seed == 3
        bins["5-11"] = {"count": 0 if is_empty else 6, "accuracy": None if is_empty else 0.5}
        write(path, {**json.loads(path.read_text()), "by_length": bins})
    expected = _record(apart / "whole", apart / "at_once")["by_length"]
    _record(apart / "first", apart / "out")
    joined = _record(apart / "later", apart / "out")["by_length"]
    assert joined.keys() == expected.keys() and ("5-11" in joined) != lacks
    for name, scores in expected.items():
        assert joined[name] == pytest.approx(scores)
    assert expected["1-4"]["standard_deviation"] == pytest.approx(np.std([0.25, 0.5, 1], ddof=1))


def test_single_runs_become_a_series(apart):
    for seed in (1, 2):
        folder = write_run(apart / f"run{seed}/it", config_of(seed=seed), test=seed / 4)
        _write_predictions(folder, [0, 0, seed % 2])
        result = _record(apart / f"run{seed}", apart / "out")
    assert [member["name"] for member in result["members"]] == ["seed-1", "seed-2"]
    assert result["mean"]["test"]["accuracy"] == 0.375
    assert result["command"] == f"{COMMAND} --seeds=1,2"
    first, second = read_predictions(apart / "out/predictions/it.npz")
    assert (first.predictions[-1], second.predictions[-1]) == (1, 0)


def test_single_folds_become_a_series(tmp_path):
    for fold in (0, 1):
        config = config_of("cr", fold=fold, folds=2)
        data = {**DATA, "splits": {**DATA["splits"], "test": 40 + fold}}
        write_run(tmp_path / f"run{fold}/it", config, data=data)
        result = _record(tmp_path / f"run{fold}", tmp_path / "out")
    assert [member["name"] for member in result["members"]] == ["seed-3/fold-0", "seed-3/fold-1"]
    assert result["command"] == f"{COMMAND} --seeds=3 --folds=all"


@pytest.mark.parametrize(
    "config, run, reason",
    [
        ({"vectors": "glove/other.txt"}, {}, "another config"),
        ({}, {"inputs": {"sst/trees/train.txt": {"sha256": "b"}}}, "other input files"),
        ({}, {"versions": {"tensorflow": "2.21.0"}}, "other versions"),
        ({}, {"parameters": 9, "init_from": START}, "other parameters, another model at the start"),
        ({}, {"data": {**DATA, "training_read": 999}}, "other examples"),
        ({"subset": "sst_500"}, {}, "another config"),
        ({"seed": 1}, {}, "a seed and fold in both"),
    ],
)
def test_another_training_replaces_no_seed_that_it_lacks(apart, config, run, reason, capsys):
    recorded = _record(apart / "first", apart / "out")
    write_run(apart / "other/it", config_of(**{"seed": 4, **config}), **run)
    assert _record(apart / "other", apart / "out") == recorded
    held = f"it.json, which holds seeds 1, 2 ({reason}); delete this file"
    assert held in capsys.readouterr().out
    assert len(read_predictions(apart / "out/predictions/it.npz")) == 2

    write_series(apart / "both/it", config_of(vectors="glove/other.txt"), (0.4, 0.5, 0.6))
    assert len(_record(apart / "both", apart / "out")["members"]) == 3
    assert not (apart / "out/predictions/it.npz").exists()  # those were of the other result


@pytest.mark.parametrize("lost", ["later/it/seed-3/evaluation/test.npz", "out/predictions/it.npz"])
def test_predictions_that_not_all_members_have_are_not_kept(apart, lost):
    _record(apart / "first", apart / "out")
    (apart / lost).unlink()
    assert len(_record(apart / "later", apart / "out")["members"]) == 3
    assert not (apart / "out/predictions/it.npz").exists()


def test_predictions_of_another_step_are_not_kept(tmp_path):
    _write_predictions(write_run(tmp_path / "it", config_of()), [0, 1, 1], step=10)
    record(tmp_path / "it", tmp_path)
    assert not (tmp_path / "predictions").exists()


def test_a_damaged_result_is_neither_extended_nor_replaced(apart):
    damaged = {**_record(apart / "first", apart / "out"), "members": []}
    write(apart / "out/results/it.json", damaged)
    with pytest.raises(UserError, match="members is empty; restore it"):
        record(apart / "later", apart / "out")
    assert json.loads((apart / "out/results/it.json").read_text()) == damaged
