"""Recorded runs and the table made from them."""

import json

import pytest

from disan_tf.errors import UserError
from disan_tf.evaluation.results import (
    ROOT,
    benchmark_table,
    summarise_run,
    table,
    update_readme,
)

NAMES = ("results", "benchmark")


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
    text = _updated(tmp_path)
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert "| mine (seed 3) | 1,000 | 20 (1.0) | 2 | 50.00 | 47.50 | 51.72 |" in text


def test_the_readme_gets_the_times_of_each_benchmark(tmp_path):
    times = {"dense": 90.0, "native": 3.0, "float32": 30.0, "mixed_bfloat16": 20.0}
    forms = {
        name: {
            "median_ms": each, "dense_ratio": 90.0 / each, "products_ratio": each / 15.0,
            "pairs_per_second": 9000.0 / each,
        }
        for name, each in times.items()
    }  # fmt: skip
    record = {
        "machine": {"processor": "Fast", "threads": 2, "tensorflow": "2.15.1"},
        "core": [{"length": 14, "forms": forms}, {"length": 400, "forms": {"native": {}}}],
        "step": [{"kind": "train", "lengths": [15, 8], "forms": forms}],
        "epoch": {"forms": forms},
    }
    _write(tmp_path / "benchmarks" / "fast.json", record)
    text = _updated(tmp_path)
    assert "Fast, 2 threads, TensorFlow 2.15.1:" in text
    assert "| attention, forward and backward | 14 | 90.0 | 3.0 | | 30 | |" in text
    assert "| training step | 15/8 | 90 | 30 | 20 | 3.0, 4.5 | 2.00, 1.33 |" in text
    assert "| epoch, pairs per second | of SNLI | 100 | 300 | 450 | 3.0, 4.5 | |" in text
    assert "400" not in text


def _updated(folder):
    """A README after `update_readme`; what stood between its marks is gone."""
    readme = folder / "README.md"
    parts = [f"<!-- {name}: begin -->\nold\n<!-- {name}: end -->\n" for name in NAMES]
    readme.write_text("\n".join(["before", *parts, "after\n"]))
    update_readme(readme, folder / "results", folder / "benchmarks")
    text = readme.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    return text


@pytest.mark.parametrize("name", NAMES)
def test_a_readme_without_the_marks_is_refused(tmp_path, name):
    (other,) = set(NAMES) - {name}
    marks = f"<!-- {other}: begin -->\n<!-- {other}: end -->\n"
    (tmp_path / "README.md").write_text(marks)
    with pytest.raises(UserError, match=f"{name}: begin"):
        update_readme(tmp_path / "README.md", tmp_path, tmp_path)
    assert (tmp_path / "README.md").read_text() == marks


def test_the_readme_of_the_repository_shows_the_recorded_runs_and_benchmarks():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert table() in text and benchmark_table() in text
