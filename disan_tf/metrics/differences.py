"""The difference between two models on the same test examples, with its 95 % interval."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, Optional

import numpy as np

# What an interval covers.
ALL, EXAMPLES_ONLY = "seeds and examples", "one seed: examples only"
_RESAMPLES, _BATCH, _LEVEL = 2000, 100, 0.95


class Predictions(NamedTuple):
    """The predictions of one trained model on a split, in its order, and the gold labels."""

    predictions: np.ndarray  # <uint8 or float32>[examples], classes or scores
    labels: np.ndarray  # <uint8 or float32>[examples]


class Interval(NamedTuple):
    """A difference and its 95 % interval."""

    value: float
    low: float
    high: float


def difference(
    ours: Sequence[Predictions], others: Sequence[Predictions], score: str
) -> tuple[Optional[Interval], str]:
    """Computes the mean score of `ours` minus the mean of `others`, with a bootstrap interval.

    The interval is the percentile bootstrap's (Efron and Tibshirani 1993, Sec. 13.3). Each of 2,000
    resamples draws test examples with replacement, the same for all models, and averages the scores
    over the members.

    If both sides have several members, the bootstrap is hierarchical: each resample also draws each
    side's members with replacement. The mean of m drawn members varies too little, by the factor
    (m - 1) / m, so its distance from the mean of all members is scaled by sqrt(m / (m - 1)).

    Args:
      ours, others: the members of two series, at least one each.
      score: "accuracy" or "pearson".

    Returns:
      The interval, or None where the members were not scored on the same examples; and what it
      covers: `ALL` or `EXAMPLES_ONLY`.
    """
    several = min(len(ours), len(others)) > 1
    covers = ALL if several else EXAMPLES_ONLY
    labels = ours[0].labels
    members = [*ours, *others]
    if any(not np.array_equal(member.labels, labels) for member in members):
        return None, covers
    columns, scores_of = _STATISTICS[score](members)
    draws = _draw_examples(len(labels))
    parts = np.split(draws, range(_BATCH, _RESAMPLES, _BATCH))
    scores = [scores_of(part.astype(np.float64) @ columns / len(labels)) for part in parts]
    value = scores_of(columns.mean(axis=0, keepdims=True))[0]
    mean = value[: len(ours)].mean() - value[len(ours) :].mean()
    sides = np.split(np.concatenate(scores), [len(ours)], axis=1)
    sign = -1 if mean < 0 else 1  # the better side draws first, whichever is `ours`
    generator = np.random.default_rng(2) if several else None
    first, second = (_average(side, generator) for side in sides[::sign])
    low, high = np.quantile(sign * (first - second), [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return Interval(float(mean), float(low), float(high)), covers


@lru_cache(maxsize=4)  # most comparisons are on one test set
def _draw_examples(count: int) -> np.ndarray:
    """Returns how often each resample has each example, <uint8>[resamples, examples]."""
    generator = np.random.default_rng(1)
    rows = np.arange(_BATCH)[:, None] * count
    batches = []
    for _ in range(0, _RESAMPLES, _BATCH):
        drawn = generator.integers(0, count, (_BATCH, count)) + rows
        counts = np.bincount(drawn.ravel(), minlength=_BATCH * count)
        batches.append(counts.reshape(_BATCH, count).astype(np.uint8))
    return np.concatenate(batches)


def _average(scores: np.ndarray, generator: Optional[np.random.Generator]) -> np.ndarray:
    """Averages scores <float64>[resamples, members] over members, or over drawn members."""
    mean, members = scores.mean(axis=1), scores.shape[1]
    if generator is None:
        return mean
    drawn = generator.integers(0, members, scores.shape)
    distance = np.take_along_axis(scores, drawn, axis=1).mean(axis=1) - mean
    return mean + distance * np.sqrt(members / (members - 1))


def _accuracies(members):
    """Returns a column per member, 1 where it is correct; their means are the accuracies."""
    correct = [member.predictions == member.labels for member in members]
    return np.array(correct, np.float64).T, lambda means: means


def _correlations(members):
    """Returns the columns whose means give all r's: y, y^2, and p, p^2, p y per member."""
    y = members[0].labels.astype(np.float64)
    predictions = [member.predictions.astype(np.float64) for member in members]
    columns = [y, y * y, *(column for p in predictions for column in (p, p * p, p * y))]

    def scores_of(means):
        first, second, rest = means[:, :1], means[:, 1:2], means[:, 2:]
        mean, square, product = rest[:, ::3], rest[:, 1::3], rest[:, 2::3]
        spread = (square - mean**2) * (second - first**2)
        return (product - mean * first) / np.sqrt(spread)

    return np.stack(columns, axis=1), scores_of


_STATISTICS = {"accuracy": _accuracies, "pearson": _correlations}
PAIRED = tuple(_STATISTICS)  # the scores whose differences have an interval
