"""The difference between two models on the same test examples, with its 95 % interval."""

from collections.abc import Sequence
from typing import NamedTuple, Optional

import numpy as np
from scipy import stats

_RESAMPLES, _BATCH, _LEVEL = 2000, 100, 0.95


class Answers(NamedTuple):
    """The predictions and gold labels of one trained model on a split, in its order.

    Attributes:
      predictions: <uint8 or float32>[examples], classes or scores.
      labels: <uint8 or float32>[examples], the gold labels.
    """

    predictions: np.ndarray
    labels: np.ndarray


class Interval(NamedTuple):
    """A difference and its 95 % interval."""

    value: float
    low: float
    high: float


def difference(
    ours: Sequence[Answers], others: Sequence[Answers], score: str
) -> Optional[Interval]:
    """Computes the mean score of `ours` minus that of `others`, with a bootstrap interval.

    The interval is the percentile bootstrap's (Efron and Tibshirani 1993, Sec. 13.3) over the
    examples, 2,000 resamples. Each resample draws examples with replacement, the same for all
    models, and averages the scores over the members. The interval covers the choice of test
    examples; the deviation over the members covers the choice of seeds.

    Args:
      ours, others: the members of two series, at least one each.
      score: "accuracy" or "pearson".

    Returns:
      The interval; None where the members were not scored on the same examples.
    """
    labels = ours[0].labels
    members = [*ours, *others]
    if any(not np.array_equal(member.labels, labels) for member in members):
        return None
    signs = [1.0 / len(ours)] * len(ours) + [-1.0 / len(others)] * len(others)
    columns, statistic = _STATISTICS[score](members, signs)
    value = float(statistic(*columns, axis=-1))
    found = stats.bootstrap(
        columns,
        statistic,
        n_resamples=_RESAMPLES,
        batch=_BATCH,
        paired=True,
        vectorized=True,
        confidence_level=_LEVEL,
        method="percentile",
        random_state=np.random.default_rng(1),
    )
    return Interval(value, *map(float, found.confidence_interval))


def _accuracies(members, signs):
    """Returns one column: the signed share of members that classify an example correctly."""
    correct = [member.predictions == member.labels for member in members]
    return (np.tensordot(signs, np.array(correct, float), axes=1),), np.mean


def _correlations(members, signs):
    """Returns the columns whose means give all r's: y, y^2, and p, p^2, p y per member."""
    y = members[0].labels.astype(np.float64)
    predictions = [member.predictions.astype(np.float64) for member in members]
    columns = [y, y * y, *(column for p in predictions for column in (p, p * p, p * y))]

    def statistic(*columns, axis):
        first, second, *rest = (np.mean(column, axis=axis) for column in columns)
        spread = second - first**2
        total = 0.0
        for sign, mean, square, product in zip(signs, rest[::3], rest[1::3], rest[2::3]):
            total += sign * (product - mean * first) / np.sqrt((square - mean**2) * spread)
        return total

    return tuple(columns), statistic


_STATISTICS = {"accuracy": _accuracies, "pearson": _correlations}
