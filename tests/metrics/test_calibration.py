"""Correlation scores and calibration against numbers computed by hand."""

import json

import numpy as np
import pytest

from disan_tf.metrics.correlations import calibration, correlation_scores

LABELS = np.array([1.0, 1.9, 2.0, 4.0, 5.0], np.float32)
PREDICTIONS = np.array([1.5, 1.9, 3.0, 4.0, 4.0], np.float32)


@pytest.fixture
def bins():
    return calibration(PREDICTIONS, LABELS, 5)


def test_correlations_and_error_of_a_hand_computed_case():
    assert correlation_scores(PREDICTIONS, LABELS) == pytest.approx(
        {
            "pearson": np.corrcoef(LABELS, PREDICTIONS)[0, 1],
            # ranks 1 to 5 and 1, 2, 3, 4.5, 4.5: covariance 9.5, variances 10 and 9.5
            "spearman": 9.5 / np.sqrt(10 * 9.5),
            "mse": (0.25 + 0 + 1 + 0 + 1) / 5,
        }
    )


def test_bins_hold_their_lower_bounds_and_the_last_both(bins):
    assert [scores["count"] for scores in bins.values()] == [2, 1, 0, 2]
    assert list(bins) == ["[1, 2)", "[2, 3)", "[3, 4)", "[4, 5]"]
    assert bins["[1, 2)"] == pytest.approx(
        {"count": 2, "mean_label": 1.45, "mean_answer": 1.7, "mse": 0.125}
    )
    assert bins["[4, 5]"] == {"count": 2, "mean_label": 4.5, "mean_answer": 4.0, "mse": 0.5}


def test_a_bin_without_an_example_has_no_means(bins):
    empty = {"count": 0, "mean_label": None, "mean_answer": None, "mse": None}
    assert bins["[3, 4)"] == empty


def test_bins_follow_the_scale():
    assert list(calibration(PREDICTIONS[:2], LABELS[:2], 3)) == ["[1, 2)", "[2, 3]"]


def test_json_holds_the_bins(bins):
    assert json.loads(json.dumps(bins, allow_nan=False)) == bins
