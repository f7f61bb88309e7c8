"""The report of a model of scores against numbers computed by hand."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from disan_tf.metrics.relatedness import calibration, summarise
from disan_tf.training.evaluation import render

LABELS = np.array([1.0, 1.9, 2.0, 4.0, 5.0], np.float32)
ANSWERS = np.array([1.5, 1.9, 3.0, 4.0, 4.0], np.float32)
POINTS = ["1", "2", "3", "4", "5"]


@pytest.fixture
def summary():
    return summarise(SimpleNamespace(labels=LABELS), ANSWERS, POINTS)


def test_correlations_and_error_of_a_hand_computed_case(summary):
    assert summary["pearson"] == pytest.approx(np.corrcoef(LABELS, ANSWERS)[0, 1])
    # ranks 1 to 5 and 1, 2, 3, 4.5, 4.5: covariance 9.5, variances 10 and 9.5
    assert summary["spearman"] == pytest.approx(9.5 / np.sqrt(10 * 9.5))
    assert summary["mse"] == pytest.approx((0.25 + 0 + 1 + 0 + 1) / 5)


def test_bins_hold_their_lower_bounds_and_the_last_both(summary):
    bins = summary["by_score"]
    assert [each["count"] for each in bins.values()] == [2, 1, 0, 2]
    assert list(bins) == ["[1, 2)", "[2, 3)", "[3, 4)", "[4, 5]"]
    assert bins["[1, 2)"] == pytest.approx(
        {"count": 2, "mean_label": 1.45, "mean_answer": 1.7, "mse": 0.125}
    )
    assert bins["[4, 5]"] == {"count": 2, "mean_label": 4.5, "mean_answer": 4.0, "mse": 0.5}


def test_a_bin_without_an_example_has_no_means(summary):
    empty = {"count": 0, "mean_label": None, "mean_answer": None, "mse": None}
    assert summary["by_score"]["[3, 4)"] == empty


def test_bins_follow_the_scale():
    assert list(calibration(ANSWERS[:2], LABELS[:2], 3)) == ["[1, 2)", "[2, 3]"]


def test_json_holds_the_summary(summary):
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_rendered_report_shows_the_scores_and_the_bins(summary):
    report = {"config": "demo", "step": 1500, "split": "test", "examples": 5, "loss": 0.5}
    lines = render({**report, "criterion": "pearson", **summary}).splitlines()
    assert lines[0] == "demo, step 1,500, on test: 5 examples"
    assert lines[1] == "Pearson's r 0.9207, Spearman's rho 0.9747, MSE 0.4500, loss 0.5000"
    table = [line.split() for line in lines]
    assert ["[4,", "5]", "2", "4.5000", "4.0000", "0.5000"] in table
    assert ["[3,", "4)", "0", "-", "-", "-"] in table
