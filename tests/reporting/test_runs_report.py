"""`--mode=report` of a user's own runs: a line for each, for people and for programs."""

import csv

import pytest

from disan_tf.reporting.comparison import report_runs
from tests.support.errors import user_error
from tests.support.runs.finished import config_of, write_run, write_series


@pytest.fixture
def tree(tmp_path):
    write_run(tmp_path / "runs" / "plain", config_of(seed=1), dev=0.5)
    write_series(tmp_path / "runs" / "later" / "series", config_of(seed=1, encoder="dsa"))
    write_run(tmp_path / "runs" / "best", config_of(seed=7), dev=0.75)
    return tmp_path / "runs"


def _rows(tmp_path):
    with open(tmp_path / "out" / "runs.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_best_run_on_dev_comes_first(tree, tmp_path):
    report_runs(tree, tmp_path / "out")
    assert [row["run"] for row in _rows(tmp_path)] == ["best", "later/series", "plain"]


def test_a_line_has_the_options_that_differ_and_the_scores(tree, tmp_path):
    report_runs(tree, tmp_path / "out")
    best, series, _ = _rows(tmp_path)
    assert best == {
        "run": "best",
        "seed": "7",
        "encoder.name": "disan",
        "trainings": "1",
        "dev_accuracy": "0.75",
        "test_accuracy": "0.475",
        "dev_accuracy_deviation": "",
        "test_accuracy_deviation": "",
    }
    assert float(series["test_accuracy"]) == pytest.approx(0.5)
    assert float(series["test_accuracy_deviation"]) == pytest.approx(0.1)


def test_the_table_is_printed_and_written_for_people(tree, tmp_path):
    text = report_runs(tree, tmp_path / "out")
    assert "0.5000 (0.1000)" in text and "3 runs in " in text
    page = (tmp_path / "out" / "runs.md").read_text()
    assert "| best | 7 | disan | 1 | 20 | 0.7500 | 0.4750 |\n" in page


def test_no_table_of_a_paper_is_written(tree, tmp_path):
    report_runs(tree, tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"runs.csv", "runs.md", "curves.svg", "curves.png"}


def test_a_run_without_an_evaluation_is_named_and_left_out(tree, tmp_path):
    (tree / "plain" / "best" / "model.json").unlink()
    assert f"skipped: {tree / 'plain'} holds a training" in report_runs(tree, tmp_path / "out")
    assert len(_rows(tmp_path)) == 2


def test_a_single_run_may_be_named(tree, tmp_path):
    report_runs(tree / "plain", tmp_path / "out")
    assert [row["run"] for row in _rows(tmp_path)] == ["plain"]


def test_a_folder_without_runs_is_refused(tmp_path):
    assert "holds no run with an evaluation" in user_error(report_runs, tmp_path, tmp_path / "out")
