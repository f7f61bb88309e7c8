"""Differences of two models: values by hand, intervals that hold what they should."""

import numpy as np
import pytest
from scipy import stats

from disan_tf.common.errors import UserError
from disan_tf.metrics import differences
from disan_tf.metrics.differences import (
    Predictions,
    difference,
    grouped_interval,
    score_interval,
    seeds_interval,
)
from disan_tf.metrics.scores import macro_f1

EXAMPLES = 1000
GENERATOR = np.random.default_rng(5)
LABELS = GENERATOR.integers(0, 5, EXAMPLES).astype(np.uint8)


def _right(share, labels=LABELS, seed=0):
    """Predictions of which about this share is right."""
    right = np.random.default_rng(seed).random(len(labels)) < share
    return Predictions(np.where(right, labels, (labels + 1) % 5).astype(np.uint8), labels)


def _accuracy(predictions):
    return np.mean(predictions.predictions == predictions.labels)


def test_the_difference_is_that_of_the_means_over_the_members():
    ours, others = [_right(0.5, seed=1), _right(0.7, seed=2)], [_right(0.4, seed=3)]
    found, _ = difference(ours, others, "accuracy")
    expected = np.mean([_accuracy(each) for each in ours]) - _accuracy(others[0])
    assert found.value == pytest.approx(expected)
    assert found.low < found.value < found.high


def test_the_interval_is_about_that_of_the_normal_distribution():
    one, other = _right(0.6, seed=1), _right(0.5, seed=2)
    found, _ = difference([one], [other], "accuracy")
    gains = (one.predictions == LABELS).astype(float) - (other.predictions == LABELS)
    half = 1.96 * np.std(gains) / np.sqrt(EXAMPLES)
    assert found.low == pytest.approx(found.value - half, abs=0.004)
    assert found.high == pytest.approx(found.value + half, abs=0.004)


def test_macro_f1_is_that_of_scikit_learn():
    from sklearn.metrics import f1_score

    one, other = _right(0.6, seed=1), _right(0.5, seed=2)
    found, _ = difference([one], [other], "macro_f1")
    first, second = (f1_score(LABELS, each.predictions, average="macro") for each in (one, other))
    assert found.value == pytest.approx(first - second)
    by_accuracy, _ = difference([one], [other], "accuracy")
    assert found.low == pytest.approx(by_accuracy.low, abs=0.02)
    assert found.high == pytest.approx(by_accuracy.high, abs=0.02)


def test_a_class_that_does_not_occur_counts_as_in_the_score():
    one, other = _right(0.6, seed=1), _right(0.5, seed=2)
    classes = int(LABELS.max()) + 2
    found, _ = difference([one], [other], "macro_f1", classes=classes)
    first, second = (macro_f1(each.predictions, LABELS, classes) for each in (one, other))
    assert found.value == pytest.approx(first - second)


def test_draws_in_parts_give_the_same_interval(monkeypatch):
    whole, _ = difference([_right(0.6)], [_right(0.5, seed=2)], "accuracy")
    monkeypatch.setattr(differences, "_KEPT_EXAMPLES", len(LABELS) // 3)
    assert difference([_right(0.6)], [_right(0.5, seed=2)], "accuracy")[0] == whole


def test_too_many_examples_have_no_interval(monkeypatch):
    monkeypatch.setattr(differences, "_MOST_EXAMPLES", len(LABELS) - 1)
    with pytest.raises(UserError, match="examples are too many for an interval; score at most"):
        difference([_right(0.6)], [_right(0.5, seed=2)], "accuracy")


def test_a_model_does_not_differ_from_itself():
    assert difference([_right(0.5)], [_right(0.5)], "accuracy")[0] == (0.0, 0.0, 0.0)


def test_correlations_are_pearsons():
    labels = GENERATOR.uniform(1, 5, EXAMPLES).astype(np.float32)
    noisy = [
        Predictions((labels + GENERATOR.normal(0, width, EXAMPLES)).astype(np.float32), labels)
        for width in (0.5, 0.6, 1.0)
    ]
    found, _ = difference(noisy[:2], noisy[2:], "pearson")
    first, second, third = (stats.pearsonr(each.predictions, labels)[0] for each in noisy)
    assert found.value == pytest.approx((first + second) / 2 - third, abs=1e-6)
    assert 0 < found.low < found.value < found.high
    assert difference(noisy[2:], noisy[:2], "pearson")[0].value == pytest.approx(-found.value)


def test_a_correlation_with_constants_is_0():
    labels = np.array([1.1, 1.1, 1.1, 4.7], np.float32)  # some resamples have only the first three
    good, constant = (Predictions(it, labels) for it in (labels, np.full(4, 3.3, np.float32)))
    found, _ = difference([good], [constant], "pearson")
    assert found == (pytest.approx(1.0), 0.0, pytest.approx(1.0))
    same = [Predictions(it.predictions, constant.predictions) for it in (good, constant)]
    assert difference(same[:1], same[1:], "pearson")[0] == (0.0, 0.0, 0.0)


def test_exchanging_the_sides_negates_the_interval():
    ours = [_right(0.5, seed=1), _right(0.55, seed=2), _right(0.53, seed=3)]
    others = [_right(0.4, seed=4), _right(0.47, seed=5)]
    found, _ = difference(ours, others, "accuracy")
    (value, low, high), _ = difference(others, ours, "accuracy")
    assert (-value, -high, -low) == pytest.approx(found, abs=1e-12)


def test_other_examples_cannot_be_compared():
    other = np.roll(LABELS, 1)
    assert difference([_right(0.5)], [_right(0.5, other)], "accuracy")[0] is None


# Seeds and examples


def _members(shares):
    """Members that differ in accuracy, each correct on the first examples."""
    labels = np.zeros(EXAMPLES, np.uint8)
    return [
        Predictions((np.arange(EXAMPLES) >= share * EXAMPLES).astype(np.uint8), labels)
        for share in shares
    ]


def test_equal_systems_differ_by_nothing_within_an_interval_that_holds_0():
    ours = [_right(0.5, seed=seed) for seed in (1, 2, 3)]
    found, _ = difference(ours, ours[::-1], "accuracy")
    assert found.value == pytest.approx(0.0, abs=1e-12)
    assert found.low < 0 < found.high
    assert difference(ours, ours[::-1], "accuracy")[0] == found  # the same draws


def test_members_that_agree_add_nothing_to_the_interval_over_examples():
    ours, others = _right(0.6, seed=1), _right(0.5, seed=1)
    found, covers = difference([ours] * 3, [others] * 3, "accuracy")
    alone, examples_only = difference([ours], [others], "accuracy")
    assert found == pytest.approx(alone)
    assert (covers, examples_only) == ("seeds and examples", "one seed: examples only")


def test_the_variation_over_seeds_is_that_of_the_sample():
    shares = np.linspace(0.3, 0.9, 4)
    ours, others = _members(shares), _members((0.0, 0.0))
    found, _ = difference(ours, others, "accuracy")
    error = np.sqrt(np.var(shares, ddof=1) / 4)
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * error, rel=0.12)


def test_one_seed_on_either_side_leaves_the_other_seeds_out_of_the_interval():
    several, (one, _) = _members((0.5, 0.6, 0.7)), _members((0.5, 0.5))
    for sides in ((several, [one]), ([one], several)):
        found, covers = difference(*sides, "accuracy")
        assert covers == "one seed: examples only" and found.high - found.low < 0.07
    assert np.ptp(difference(several, [one, one], "accuracy")[0][1:]) > 0.1


def test_a_single_member_varies_as_the_members_of_another_series_do():
    shares = np.linspace(0.3, 0.9, 4)
    one, other = _members((0.6,)), _members((0.4, 0.4))
    found, covers = difference(one, other, "accuracy", spread=_members(shares))
    assert covers == "examples and another model's seeds"
    assert found.value == pytest.approx(0.2)
    # The deviation of one training, and not of a mean: its range is that of the four members.
    assert (found.high - found.low) / 2 == pytest.approx(0.3 * np.sqrt(4 / 3), rel=0.15)
    alone, _ = difference(one, other, "accuracy")
    assert np.ptp(alone[1:]) < np.ptp(found[1:]) / 5
    both, covers = difference(one, one, "accuracy", spread=_members(shares))
    assert covers == "examples and another model's seeds"
    assert np.ptp(both[1:]) > np.ptp(found[1:])  # both sides deviate


def test_squared_errors_have_intervals_over_examples():
    labels = GENERATOR.uniform(1, 5, EXAMPLES).astype(np.float32)
    near, far = (Predictions(labels + width, labels) for width in (0.5, 1.0))
    assert difference([near], [far], "mse")[0].value == pytest.approx(0.25 - 1.0, abs=1e-5)
    noisy = [Predictions(labels + GENERATOR.normal(0, 1, EXAMPLES), labels) for _ in range(2)]
    found, _ = difference(noisy[:1], noisy[1:], "mse")
    gains = np.subtract(*(np.square(each.predictions - labels) for each in noisy))
    half = 1.96 * np.std(gains) / np.sqrt(EXAMPLES)
    assert found.low == pytest.approx(gains.mean() - half, abs=half / 5)


def test_a_score_alone_has_an_interval_over_its_seeds_and_examples():
    found, covers = score_interval([_right(0.6, seed=1)], "accuracy")
    half = 1.96 * np.sqrt(found.value * (1 - found.value) / EXAMPLES)
    assert covers == "one seed: examples only"
    assert found.low == pytest.approx(found.value - half, abs=0.004)
    shares = np.linspace(0.3, 0.9, 4)
    found, covers = score_interval(_members(shares), "accuracy")
    assert covers == "seeds and examples" and found.value == pytest.approx(0.6, abs=1e-3)
    error = np.sqrt(np.var(shares, ddof=1) / 4)
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * error, rel=0.12)


def test_scores_that_were_not_kept_by_example_vary_over_seeds():
    ours, others = np.linspace(0.3, 0.9, 4), np.full(3, 0.5)
    found = seeds_interval(ours, others)
    error = np.sqrt(np.var(ours, ddof=1) / 4)
    assert found.value == pytest.approx(0.1)
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * error, rel=0.12)


def test_values_of_a_group_do_not_count_as_independent():
    values = [[0.0] * 10, [0.3] * 10, [0.6] * 10]
    apart, together = grouped_interval(values), seeds_interval(np.ravel(values), [0.0, 0.0])
    assert apart.value == pytest.approx(together.value) == pytest.approx(0.3)
    assert np.ptp(apart[1:]) > 2 * np.ptp(together[1:])
    assert grouped_interval([[0.1, 0.1], [0.1, 0.1]]) == pytest.approx((0.1, 0.1, 0.1))
