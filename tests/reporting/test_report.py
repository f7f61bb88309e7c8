"""`--mode=report`: from a tree of work directories to results and tables."""

import json

import pytest

from disan_tf.common.errors import UserError
from disan_tf.reporting.report import find_runs, report
from tests.support.runs.finished import COMMAND, config_of, write, write_run, write_series


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
    assert tables == expected | {"disan_figure_5.csv", "elmo_disan_tables_2_3.md", "scaling.md"}
    text = (tmp_path / "out" / "tables" / "disan_table_2.md").read_text()
    assert (
        "| DiSAN | plain | seed 3 |" in text and "| DiSAN | later-series | seeds 1, 2, 3 |" in text
    )


def test_the_pages_of_deviations_and_hours_are_written(tree, tmp_path):
    report(tree, tmp_path / "out")
    assert "## ELMo-DiSAN" in (tmp_path / "out" / "deviations.md").read_text()
    assert "| all runs | 2 | 4 | 0.2 |" in (tmp_path / "out" / "compute.md").read_text()


def test_tables_alone_are_made_of_what_was_recorded(tree, tmp_path):
    report(tree, tmp_path / "out")
    tables = tmp_path / "out" / "tables" / "disan_table_2.md"
    text = tables.read_text()
    tables.unlink()
    report(None, tmp_path / "out")
    assert tables.read_text() == text


def test_note_and_command_of_a_recorded_run_stay_where_it_has_none(tree, tmp_path):
    write_run(tree / "plain", config_of(), command=None)
    write(tmp_path / "out/results/plain.json", {"command": "mine", "note": "why", "paper": ""})
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
