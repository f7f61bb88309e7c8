"""`--mode=compare`, and `--mode=report` of a user's own runs: tables, intervals and curves."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from disan_tf.metrics.differences import Predictions, difference
from disan_tf.runs.comparison import compare, report_runs
from disan_tf.runs.recorded_config import FORMAT
from disan_tf.runs.run import read_run
from tests.support.errors import user_error
from tests.support.runs.finished import (
    choose_by_macro_f1,
    config_of,
    write,
    write_run,
    write_series,
)

LABELS = np.arange(40, dtype=np.uint8) % 2


def _answer(workdir, wrong, labels=LABELS):
    """Writes predictions of which the first `wrong` are wrong; returns them."""
    predictions = np.where(np.arange(len(labels)) < wrong, 1 - labels, labels).astype(np.uint8)
    path = workdir / "evaluation" / "test.npz"
    np.savez(path, predictions=predictions, labels=labels, step=20)
    return Predictions(predictions, labels)


@pytest.fixture
def runs(tmp_path):
    first = write_run(tmp_path / "first", config_of(seed=1), test=0.9)
    second = write_run(tmp_path / "second", config_of(seed=1, encoder="dsa"), test=0.6)
    return [str(first), str(second)]


def test_options_that_differ_scores_and_the_paired_interval_are_shown(runs, tmp_path):
    first, second = _answer(tmp_path / "first", 4), _answer(tmp_path / "second", 16)
    text = compare(runs, tmp_path / "out")
    lines = [line.split() for line in text.splitlines()]
    assert lines[:3] == [runs, ["encoder.name", "disan", "dsa"], ["trainings", "1", "1"]]
    assert ["test", "accuracy", "0.9000", "0.6000"] in lines and "seed " not in text
    expected, _ = difference([second], [first], "accuracy")
    assert expected.value == pytest.approx(-0.3)
    assert (
        f"{runs[1]} minus {runs[0]}, test accuracy: -0.3000 (95 % interval {expected.low:+.4f} to "
        f"{expected.high:+.4f}; one seed: examples only): differs from 0" in text
    )
    page = (tmp_path / "out" / "comparison.md").read_text()
    assert "| encoder.name | disan | dsa |\n" in page and "](curves.svg)" in page
    assert f"- {runs[1]} minus {runs[0]}, test" in page
    curves = (tmp_path / "out" / "curves.svg").read_text()
    assert f">{runs[0]}<" in curves and f">{runs[1]}<" in curves and "dev accuracy" in curves


def test_init_from_is_compared_as_an_option(runs, tmp_path):
    start = {"name": "demo", "sha256": "ab", "words": 2, "words_found": 2, "head": False}
    other = str(write_run(tmp_path / "third", config_of(seed=1), init_from=start))
    assert compare([runs[0], other], tmp_path / "out").splitlines()[1].split() == [
        "init_from",
        "-",
        "demo",
    ]


def test_series_are_compared_over_seeds_each_with_the_first(runs, tmp_path):
    names = [str(write_series(tmp_path / name, config_of(), (0.9, 0.8))) for name in ("a", "b")]
    for name in names:
        for seed, wrong in ((1, 4), (2, 8)):
            _answer(tmp_path / name / f"seed-{seed}", wrong)
    _answer(tmp_path / "first", 4)
    text = compare([*names, runs[0]], tmp_path / "out")
    assert "; seeds and examples): may be chance" in text and "0.8500 (0.0707)" in text
    assert f"{names[1]} minus {names[0]}" in text and f"{runs[0]} minus {names[0]}" in text
    assert f"{runs[0]} minus {names[1]}" not in text


def test_the_folds_of_a_seed_are_one_test_set(tmp_path):
    names = []
    for name, wrong in (("a", 4), ("b", 8)):
        config = config_of("cr", seed=1, folds=2)
        folder = tmp_path / name
        for fold, size in ((0, 40), (1, 38)):
            member = config_of("cr", seed=1, folds=2, fold=fold)
            _answer(write_run(folder / f"seed-1/fold-{fold}", member), wrong, LABELS[:size])
        names.append(str(folder))
        write(folder / "config.json", {"format": FORMAT, **config})
    text = compare(names, tmp_path / "out")
    assert f"{names[1]} minus {names[0]}, test accuracy: -0.1026 (95 % interval" in text
    assert "one seed: examples only" in text


def test_a_run_without_predictions_is_named_with_the_command(runs, tmp_path):
    _answer(tmp_path / "first", 4)
    text = compare(runs, tmp_path / "out")
    assert "minus" not in text
    assert f"run --mode=evaluate --split=test --workdir={runs[1]}, with" in text
    assert f"--workdir={runs[0]}," not in text


def test_runs_that_were_scored_on_other_examples_have_no_interval(runs, tmp_path):
    _answer(tmp_path / "first", 4)
    _answer(tmp_path / "second", 4, labels=1 - LABELS)
    assert "were scored on other test examples" in compare(runs, tmp_path / "out")


@pytest.mark.parametrize("picked", [[0], [0, 0]])
def test_fewer_than_two_runs_are_refused(picked, runs, tmp_path):
    names = [runs[number] for number in picked]
    assert "needs two or more different runs" in user_error(compare, names, tmp_path / "out")


# All runs of a folder


@pytest.fixture
def tree(tmp_path):
    write_run(tmp_path / "runs" / "plain", config_of(seed=1), dev=0.5)
    write_series(tmp_path / "runs" / "later" / "series", config_of(seed=1, encoder="dsa"))
    write_run(tmp_path / "runs" / "best", config_of(seed=7), dev=0.75)
    return tmp_path / "runs"


def _rows(tmp_path):
    with open(tmp_path / "out" / "runs.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_line_has_the_options_that_differ_and_the_scores_the_best_on_dev_first(tree, tmp_path):
    text = report_runs(tree, tmp_path / "out")
    best, series, plain = _rows(tmp_path)
    none = {"dev_accuracy_deviation": "", "test_accuracy_deviation": ""}
    options = {
        "run": "best",
        "seed": "7",
        "data.seed": "7",
        "encoder.name": "disan",
        "trainings": "1",
    }
    assert best == {**options, "dev_accuracy": "0.75", "test_accuracy": "0.475", **none}
    assert (series["run"], plain["run"]) == ("later/series", "plain")
    assert float(series["test_accuracy"]) == pytest.approx(0.5)
    assert float(series["test_accuracy_deviation"]) == pytest.approx(0.1)
    assert "0.5000 (0.1000)" in text and "3 runs in " in text
    page = (tmp_path / "out" / "runs.md").read_text()
    assert "| best | 7 | 7 | disan | 1 | 20 | 0.7500 | 0.4750 |\n" in page
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"runs.csv", "runs.md", "curves.svg", "curves.png"}


def test_runs_that_macro_f1_selected_are_ranked_and_compared_by_it(runs, tmp_path):
    for folder, wrong in zip(map(Path, runs), (4, 16)):
        _answer(choose_by_macro_f1(folder), wrong)
    first = read_run(runs[0])
    assert first.criterion == "macro_f1" and first.values("test", "macro_f1") == [
        pytest.approx(0.1)
    ]
    assert first.members[0].curve == [(0.5, 0.75), (1.0, 0.5), (1.5, 0.625)]
    assert f"{runs[1]} minus {runs[0]}, test macro_f1: -0.30" in compare(runs, tmp_path / "out")
    write_run(tmp_path / "second", config_of(seed=1, encoder="dsa"), dev=0.4)
    choose_by_macro_f1(tmp_path / "second")
    report_runs(tmp_path, tmp_path / "out")
    assert [row["run"] for row in _rows(tmp_path)] == ["second", "first"]


def test_a_run_without_an_evaluation_is_named_and_left_out(tree, tmp_path):
    (tree / "plain" / "best" / "model.json").unlink()
    assert f"skipped: {tree / 'plain'} holds a training" in report_runs(tree, tmp_path / "out")
    assert len(_rows(tmp_path)) == 2
    message = user_error(report_runs, tree / "plain", tmp_path / "out")
    assert "holds no run with an evaluation" in message and "was never evaluated" in message
    path = tree / "best/run.json"
    write(path, {**json.loads(path.read_text()), "inputs": {"\x1b[2J": {}}})
    text = report_runs(tree, tmp_path / "out")
    assert "\\x1b[2J" in text and "\x1b" not in text


def test_a_single_run_may_be_named(tree, tmp_path):
    report_runs(tree / "plain", tmp_path / "out")
    assert [row["run"] for row in _rows(tmp_path)] == ["plain"]
