"""`--mode=report`: from a tree of work directories to results and tables."""

import json

import numpy as np
import pytest

from disan_tf.common.errors import UserError
from disan_tf.reporting.report import find_runs, report
from disan_tf.reporting.result_files import read_predictions
from tests.support.runs.finished import COMMAND, DATA, config_of, write, write_run, write_series


@pytest.fixture
def tree(tmp_path):
    write_run(tmp_path / "runs" / "plain", config_of())
    write_series(tmp_path / "runs" / "later" / "series", config_of())
    return tmp_path / "runs"


def _result(tmp_path, name):
    return json.loads((tmp_path / "out" / "results" / f"{name}.json").read_text())


def test_runs_and_series_are_found_and_what_is_inside_them_is_not(tree):
    write(tree / "plain" / "best" / "model.json", {})
    assert list(find_runs(tree)) == [tree / "later" / "series", tree / "plain"]


def test_a_trained_model_alone_is_no_run(tmp_path):
    write(tmp_path / "best" / "model.json", {})
    assert list(find_runs(tmp_path)) == []


def test_each_run_becomes_a_file_named_for_its_place(tree, tmp_path):
    report(tree, tmp_path / "out")
    assert {path.name for path in (tmp_path / "out" / "results").iterdir()} == {
        "plain.json",
        "later-series.json",
    }
    plain = _result(tmp_path, "plain")
    assert list(plain)[:4] == ["command", "paper", "note", "config"]
    assert (plain["command"], plain["paper"]) == (COMMAND, "51.72")


def test_a_series_keeps_members_means_and_deviations(tree, tmp_path):
    report(tree, tmp_path / "out")
    series = _result(tmp_path, "later-series")
    assert series["command"] == f"{COMMAND} --seeds=1,2,3"
    assert [member["seed"] for member in series["members"]] == [1, 2, 3]
    assert series["mean"]["test"]["accuracy"] == pytest.approx(0.5)
    assert series["standard_deviation"]["test"]["accuracy"] == pytest.approx(0.1)
    assert series["mean"]["best_on_test"]["accuracy"] == pytest.approx((0.49 + 0.5 + 0.6) / 3)
    assert series["parameters"] == 1000 and series["minutes"] == 3.0


def test_a_single_run_may_be_named(tree, tmp_path):
    report(tree / "plain", tmp_path / "out")
    assert _result(tmp_path, "plain")["steps"] == 30


def test_the_tables_are_written(tree, tmp_path):
    report(tree, tmp_path / "out")
    tables = {path.name for path in (tmp_path / "out" / "tables").iterdir()}
    names = [f"disan_table_{n}" for n in range(1, 6)] + [f"resan_table_{n}" for n in range(1, 5)]
    names += ["dsa_table_1", "dsa_table_2_sst_2", "dsa_table_2_sst_5", "drcn_table_1"]
    names.append("elmo_disan_table_1")
    expected = {f"{name}.{kind}" for name in names for kind in ("md", "csv")}
    assert tables == expected | {"disan_figure_5.csv", "elmo_disan_tables_2_3.md", "results.md"}
    text = (tmp_path / "out" / "tables" / "disan_table_2.md").read_text()
    assert (
        "| DiSAN | plain | seed 3 |" in text and "| DiSAN | later-series | seeds 1, 2, 3 |" in text
    )


def test_the_pages_of_deviations_and_hours_are_written(tree, tmp_path):
    report(tree, tmp_path / "out")
    assert "## ELMo-DiSAN" in (tmp_path / "out" / "deviations.md").read_text()
    text = (tmp_path / "out" / "tables" / "results.md").read_text()
    assert "In all 2 runs, 4 trainings, 0.2 hours." in text


def test_tables_alone_are_made_of_what_was_recorded(tree, tmp_path):
    report(tree, tmp_path / "out")
    tables = tmp_path / "out" / "tables" / "disan_table_2.md"
    text = tables.read_text()
    tables.unlink()
    report(None, tmp_path / "out")
    assert tables.read_text() == text


def test_note_and_command_of_a_recorded_run_stay_where_it_has_none(tree, tmp_path):
    report(tree, tmp_path / "out")
    recorded = {**_result(tmp_path, "plain"), "command": "mine", "note": "why"}
    write(tmp_path / "out/results/plain.json", recorded)
    write_run(tree / "plain", config_of(), command=None)
    report(tree, tmp_path / "out")
    assert (_result(tmp_path, "plain")["command"], _result(tmp_path, "plain")["note"]) == (
        "mine",
        "why",
    )


@pytest.mark.parametrize(
    "name, content",
    [
        ("run.json", None),
        ("metrics.jsonl", None),
        ("best/model.json", None),
        ("evaluation/test.json", None),
        ("evaluation/test.json", '{"step"'),
        ("evaluation/test.json", "[]"),
        ("config.json", "{"),
        ("config.json", "{}"),
        ("metrics.jsonl", '{"step": 20}\n'),
        ("metrics.jsonl", "\n{}\n"),
    ],
)
def test_a_broken_run_is_named_and_skipped(tree, tmp_path, capsys, name, content):
    (tree / "plain" / name).unlink()
    if content is not None:
        (tree / "plain" / name).write_text(content)
    report(tree, tmp_path / "out")
    (line,) = (x for x in capsys.readouterr().out.splitlines() if x.startswith("skipped: "))
    assert "plain" in line
    assert [path.name for path in (tmp_path / "out" / "results").iterdir()] == ["later-series.json"]


def test_a_series_without_a_finished_member_is_skipped(tmp_path, capsys):
    write_series(tmp_path / "runs" / "new", config_of(), tests=())
    report(tmp_path / "runs", tmp_path / "out")
    assert "new is a series without a finished member" in capsys.readouterr().out


def test_members_that_are_not_finished_do_not_count(tree, tmp_path):
    (tree / "later" / "series" / "seed-2" / "evaluation" / "test.json").unlink()
    report(tree, tmp_path / "out")
    series = _result(tmp_path, "later-series")
    assert [member["seed"] for member in series["members"]] == [1, 3]
    assert series["command"].endswith("--seeds=1,3")


def test_a_folder_without_runs_is_refused(tmp_path):
    with pytest.raises(UserError, match="holds no work directory"):
        report(tmp_path, tmp_path / "out")


def _write_answers(folder, predictions):
    arrays = {"predictions": np.array(predictions), "labels": np.array([0, 1, 1]), "step": 20}
    np.savez(folder / "evaluation/test.npz", **arrays)


@pytest.fixture
def apart(tmp_path):
    """A series of seeds 1 and 2, and one of seed 3, which the same test accuracies follow."""
    for name, tests in (("whole", (0.4, 0.5, 0.75)), ("first", (0.4, 0.5)), ("later", (0.75,))):
        first_seed = 3 if name == "later" else 1
        series = write_series(tmp_path / name / "it", config_of(), tests, first_seed)
        for seed, folder in enumerate(sorted(series.glob("seed-*")), first_seed):
            _write_answers(folder, [0, seed % 2, 1])
    return tmp_path


def _record(folder, output, name="it"):
    report(folder, output)
    return json.loads((output / f"results/{name}.json").read_text())


def test_seeds_that_were_trained_apart_are_joined(apart, capsys):
    expected = _record(apart / "whole", apart / "at_once")
    _record(apart / "first", apart / "out")
    assert _record(apart / "later", apart / "out") == expected
    assert "seeds 1, 2, 3 now" in capsys.readouterr().out
    assert expected["command"] == f"{COMMAND} --seeds=1,2,3"
    one, other = (read_predictions(apart / name / "predictions") for name in ("out", "at_once"))
    assert len(one["it"]) == 3
    np.testing.assert_equal(one, other)


@pytest.mark.parametrize("lengths", [(4, 6), (0, 6)])
def test_joined_lengths_have_the_deviation_over_all_members(apart, lengths):
    for name in ("whole", "first", "later"):
        for seed in (1, 2, 3):
            path = apart / name / f"it/seed-{seed}/evaluation/test.json"
            if path.exists():
                accuracy = (0.25, 0.5, 1.0)[seed - 1]
                bins = {"1-4": {"count": seed, "accuracy": accuracy}}
                if lengths[0] or seed < 3:
                    bins["5-11"] = {"count": 6, "accuracy": accuracy / 2}
                else:
                    bins["5-11"] = {"count": 0, "accuracy": None}
                write(path, {**json.loads(path.read_text()), "by_length": bins})
    expected = _record(apart / "whole", apart / "at_once")["by_length"]
    _record(apart / "first", apart / "out")
    joined = _record(apart / "later", apart / "out")["by_length"]
    assert joined.keys() == expected.keys() and ("5-11" in joined) == bool(lengths[0])
    for name, scores in expected.items():
        assert joined[name] == pytest.approx(scores)
    assert expected["1-4"]["standard_deviation"] == pytest.approx(np.std([0.25, 0.5, 1], ddof=1))


def test_single_runs_become_a_series(apart):
    for seed in (1, 2):
        folder = write_run(apart / f"run{seed}/it", config_of(seed=seed), test=seed / 4)
        _write_answers(folder, [0, 0, seed % 2])
        result = _record(apart / f"run{seed}", apart / "out")
    assert [member["name"] for member in result["members"]] == ["seed-1", "seed-2"]
    assert result["mean"]["test"]["accuracy"] == 0.375
    assert result["command"] == f"{COMMAND} --seeds=1,2"
    first, second = read_predictions(apart / "out/predictions")["it"]
    assert (first.predictions[-1], second.predictions[-1]) == (1, 0)


@pytest.mark.parametrize(
    "config, run",
    [
        ({"vectors": "glove/other.txt"}, {}),
        ({}, {"inputs": {"sst/trees/train.txt": {"sha256": "b"}}}),
        ({}, {"versions": {"tensorflow": "2.21.0"}}),
        ({}, {"parameters": 999}),
        ({}, {"data": {**DATA, "training_read": 999}}),
        (
            {},
            {"init_from": {"name": "a", "sha256": "b", "words": 1, "words_found": 1, "head": True}},
        ),
        ({"seed": 1}, {}),
    ],
)
def test_another_experiment_or_seed_replaces_the_recorded_one(apart, config, run):
    _record(apart / "first", apart / "out")
    write_run(apart / "other/it", config_of(**{"seed": 4, **config}), **run)
    assert "members" not in _record(apart / "other", apart / "out")
    assert not (apart / "out/predictions/it.npz").exists()  # those were of the other result


@pytest.mark.parametrize("lost", ["later/it/seed-3/evaluation/test.npz", "out/predictions/it.npz"])
def test_predictions_that_not_all_members_have_are_not_kept(apart, lost):
    _record(apart / "first", apart / "out")
    (apart / lost).unlink()
    assert len(_record(apart / "later", apart / "out")["members"]) == 3
    assert not (apart / "out/predictions/it.npz").exists()


def test_a_damaged_result_is_neither_extended_nor_replaced(apart):
    damaged = {**_record(apart / "first", apart / "out"), "members": []}
    write(apart / "out/results/it.json", damaged)
    with pytest.raises(UserError, match="members is empty; restore it"):
        report(apart / "later", apart / "out")
    assert json.loads((apart / "out/results/it.json").read_text()) == damaged
