"""Correlations, errors and scores by label against hand values and against SciPy."""

import json
import warnings

import numpy as np
import pytest
from scipy import stats

from disan_tf.metrics.scores import (
    correlation_scores,
    mean_squared_error,
    pearson,
    scores_by_label,
    spearman,
)


def test_mean_squared_error_of_a_hand_computed_case():
    assert mean_squared_error(np.array([1.0, 2.5]), np.array([2.0, 2.0])) == 0.625


@pytest.mark.parametrize("statistic, theirs", [(pearson, "pearsonr"), (spearman, "spearmanr")])
@pytest.mark.parametrize("decimals", [1, 6])
def test_correlations_equal_scipys_with_and_without_ties(statistic, theirs, decimals):
    generator = np.random.default_rng(4)
    labels = generator.uniform(1, 5, 500).round(decimals).astype(np.float32)
    predictions = (labels + generator.normal(0, 1, 500)).round(decimals).astype(np.float32)
    expected = getattr(stats, theirs)(predictions.astype(np.float64), labels.astype(np.float64))
    assert statistic(predictions, labels) == pytest.approx(expected.statistic, abs=1e-12)


@pytest.mark.parametrize("statistic", [pearson, spearman])
def test_the_correlation_of_a_constant_is_0_without_a_warning(statistic):
    varied, constant = np.array([1.0, 2.0, 5.0]), np.full(3, 3.3, np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for pair in ((constant, varied), (varied, constant), (constant, constant)):
            assert statistic(*pair) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("statistic", [pearson, spearman])
def test_correlations_stay_inside_their_bounds(statistic):
    values = np.array([0.1, 0.2, 0.7, 1.3])
    assert statistic(values, 3 * values) == pytest.approx(1.0) and statistic(values, values) <= 1.0
    assert statistic(values, -values) == pytest.approx(-1.0)


def test_float32_predictions_far_from_zero_lose_nothing():
    predictions = (1000 + np.arange(5) / 64).astype(np.float32)
    assert pearson(predictions, np.arange(5)) == pytest.approx(1.0, abs=1e-9)


LABELS = np.array([1.0, 1.9, 2.0, 4.0, 5.0], np.float32)
PREDICTIONS = np.array([1.5, 1.9, 3.0, 4.0, 4.0], np.float32)


@pytest.fixture
def bins():
    return scores_by_label(PREDICTIONS, LABELS, 5)


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
        {"count": 2, "mean_label": 1.45, "mean_prediction": 1.7, "mse": 0.125}
    )
    assert bins["[4, 5]"] == {"count": 2, "mean_label": 4.5, "mean_prediction": 4.0, "mse": 0.5}


def test_a_bin_without_an_example_has_no_means(bins):
    empty = {"count": 0, "mean_label": None, "mean_prediction": None, "mse": None}
    assert bins["[3, 4)"] == empty


def test_bins_follow_the_scale():
    assert list(scores_by_label(PREDICTIONS[:2], LABELS[:2], 3)) == ["[1, 2)", "[2, 3]"]


@pytest.mark.parametrize("lowest", [-2, 0])
def test_bins_begin_at_the_lowest_point_and_hold_all_examples(lowest):
    labels = np.array([0.0, 0.5, 1.0, 2.5, 4.0, 5.0]) + lowest
    bins = scores_by_label(labels, labels, 6, lowest)
    assert [scores["count"] for scores in bins.values()] == [2, 1, 1, 0, 2]
    assert list(bins)[0] == f"[{lowest}, {lowest + 1})"
    assert list(bins)[-1] == f"[{lowest + 4}, {lowest + 5}]"


def test_json_holds_the_bins(bins):
    assert json.loads(json.dumps(bins, allow_nan=False)) == bins
