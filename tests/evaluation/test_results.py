"""Recorded runs and the table made from them."""

import json

import pytest

from disan_tf.errors import UserError
from disan_tf.evaluation.results import ROOT, summarise_run, table, update_readme


def _write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


@pytest.fixture
def workdir(tmp_path):
    _write(tmp_path / "config.json", {"seed": 3})
    run = {"versions": {}, "commit": "abc", "parameters": 1000, "inputs": {}}
    _write(tmp_path / "run.json", run)
    for split, accuracy in (("dev", 0.5), ("test", 0.475)):
        _write(tmp_path / "evaluation" / f"{split}.json", {"accuracy": accuracy, "step": 20})
    records = [
        {"step": 10, "split": "dev", "accuracy": 0.25, "epoch": 0.5, "seconds": 60.0},
        {"step": 20, "split": "dev", "accuracy": 0.5, "epoch": 1.0, "seconds": 120.0},
        {"step": 30, "split": "dev", "accuracy": 0.375, "epoch": 1.5, "seconds": 180.0},
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (tmp_path / "metrics.jsonl").write_text(lines)
    return tmp_path


def test_a_run_is_summed_up(workdir):
    run = summarise_run(workdir)
    assert (run["steps"], run["minutes"]) == (30, 3.0)
    assert (run["best_step"], run["best_epoch"], run["minutes_to_best"]) == (20, 1.0, 2.0)
    assert run["dev_curve"] == [[10, 0.25], [20, 0.5], [30, 0.375]]


def test_a_run_without_test_scores_is_refused(workdir):
    (workdir / "evaluation" / "test.json").unlink()
    with pytest.raises(UserError, match="--split=test"):
        summarise_run(workdir)


def test_the_readme_gets_a_row_for_each_run(workdir, tmp_path):
    _write(tmp_path / "results" / "mine.json", {"paper": "51.72", **summarise_run(workdir)})
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- results: begin -->\nold\n<!-- results: end -->\nafter\n")
    update_readme(readme, tmp_path / "results")
    text = readme.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert "| mine (seed 3) | 1,000 | 20 (1.0) | 2 | 50.00 | 47.50 | 51.72 |" in text


def test_a_readme_without_the_marks_is_refused(tmp_path):
    (tmp_path / "README.md").write_text("nothing\n")
    with pytest.raises(UserError, match="results: begin"):
        update_readme(tmp_path / "README.md", tmp_path)


def test_the_readme_of_the_repository_shows_the_recorded_runs():
    assert table() in (ROOT / "README.md").read_text(encoding="utf-8")
