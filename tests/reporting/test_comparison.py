"""`--mode=compare`: options, scores, paired intervals and curves of two and more runs."""

import numpy as np
import pytest

from disan_tf.reporting.comparison import compare
from disan_tf.reporting.differences import Answers, difference
from tests.support.errors import user_error
from tests.support.runs.finished import config_of, write_run, write_series

LABELS = np.arange(40, dtype=np.uint8) % 2


def _answer(workdir, wrong, labels=LABELS, split="test"):
    """Writes predictions of which the first `wrong` are wrong; returns them."""
    predictions = np.where(np.arange(len(labels)) < wrong, 1 - labels, labels).astype(np.uint8)
    path = workdir / "evaluation" / f"{split}.npz"
    np.savez(path, predictions=predictions, labels=labels, step=20)
    return Answers(predictions, labels)


@pytest.fixture
def runs(tmp_path):
    first = write_run(tmp_path / "first", config_of(seed=1), test=0.9)
    second = write_run(tmp_path / "second", config_of(seed=1, encoder="dsa"), test=0.6)
    return [str(first), str(second)]


def test_the_options_that_differ_are_printed_and_no_others(runs, tmp_path):
    lines = compare(runs, tmp_path / "out").splitlines()
    assert lines[0].split() == runs
    assert lines[1].split() == ["encoder.name", "disan", "dsa"]
    assert lines[2].split() == ["trainings", "1", "1"]
    assert not any("seed" in line for line in lines)


def test_scores_and_the_paired_interval_are_printed(runs, tmp_path):
    first, second = (
        _answer(tmp_path / name, wrong) for name, wrong in (("first", 4), ("second", 16))
    )
    text = compare(runs, tmp_path / "out")
    expected = difference([second], [first], "accuracy")
    assert expected.value == pytest.approx(-0.3)
    assert (
        f"{runs[1]} minus {runs[0]}, test accuracy: -0.3000 (95 % interval {expected.low:+.4f} to "
        f"{expected.high:+.4f}, over examples alone): differs from 0" in text
    )
    assert ["test", "accuracy", "0.9000", "0.6000"] in [line.split() for line in text.splitlines()]


def test_a_small_difference_may_be_chance(runs, tmp_path):
    for name, wrong in (("first", 4), ("second", 5)):
        _answer(tmp_path / name, wrong)
    assert "over examples alone): may be chance" in compare(runs, tmp_path / "out")


def test_two_series_are_compared_over_seeds_too(tmp_path):
    names = [str(write_series(tmp_path / name, config_of(), (0.9, 0.8))) for name in ("a", "b")]
    for name in names:
        for seed, wrong in ((1, 4), (2, 8)):
            _answer(tmp_path / name / f"seed-{seed}", wrong)
    text = compare(names, tmp_path / "out")
    assert "over examples and seeds): may be chance" in text and "0.8500 (0.0707)" in text


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


def test_three_runs_are_each_compared_with_the_first(runs, tmp_path):
    third = str(write_run(tmp_path / "third", config_of(seed=2)))
    for name in ("first", "second", "third"):
        _answer(tmp_path / name, 4)
    text = compare([*runs, third], tmp_path / "out")
    assert f"{runs[1]} minus {runs[0]}" in text and f"{third} minus {runs[0]}" in text
    assert f"{third} minus {runs[1]}" not in text


def test_the_page_and_the_curves_are_written(runs, tmp_path):
    compare(runs, tmp_path / "out")
    page = (tmp_path / "out" / "comparison.md").read_text()
    assert "| encoder.name | disan | dsa |\n" in page and "](curves.svg)" in page
    curves = (tmp_path / "out" / "curves.svg").read_text()
    assert f">{runs[0]}<" in curves and f">{runs[1]}<" in curves and "dev accuracy" in curves


@pytest.mark.parametrize("picked", [[0], [0, 0]])
def test_fewer_than_two_runs_are_refused(picked, runs, tmp_path):
    names = [runs[number] for number in picked]
    assert "needs two or more different runs" in user_error(compare, names, tmp_path / "out")
