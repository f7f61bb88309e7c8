"""The difference between two models on the same test examples, with its 95 % interval."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, Optional

import numpy as np

from disan_tf.common.errors import UserError

# What an interval covers.
ALL, EXAMPLES_ONLY = "seeds and examples", "one seed: examples only"
BORROWED = "examples and another model's seeds"
_RESAMPLES, _BATCH, _LEVEL = 2000, 100, 0.95
_KEPT_EXAMPLES = 30_000  # up to this number, the draws of all resamples are kept (60 MB)
_MOST_EXAMPLES = 10_000_000  # an interval of more examples is refused
_ROUNDING = 1e-12  # a variance below this share of the mean square is a rounding error


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
    ours: Sequence[Predictions],
    others: Sequence[Predictions],
    score: str,
    spread: Sequence[Predictions] = (),
    classes: int = 0,
) -> tuple[Optional[Interval], str]:
    """Computes the mean score of `ours` minus the mean of `others`, with a bootstrap interval.

    The interval is the percentile bootstrap's (Efron and Tibshirani 1993, Sec. 13.3). Each of 2,000
    resamples draws test examples with replacement, the same for all models, and averages the scores
    over the members.

    If both sides have several members, the bootstrap is hierarchical: each resample also draws each
    side's members with replacement. The mean of m drawn members varies too little, by the factor
    (m - 1) / m, so its distance from the mean of all members is scaled by sqrt(m / (m - 1)).

    A single member has no known spread. If another series is given as `spread`, each resample draws
    a member of that series and adds the member's scaled distance from the series' mean.

    Args:
      ours, others: the members of two series, at least one each.
      score: "accuracy", "macro_f1", "pearson" or "mse".
      spread: the members of a third series, at least two; empty = none.
      classes: number of classes, over which macro F1 is a mean; 0 = those that occur.

    Returns:
      The interval, or None where the members were not scored on the same examples; and what it
      covers: `ALL`, `BORROWED` or `EXAMPLES_ONLY`.

    Raises:
      UserError: there are more than ten million examples.
    """
    several = min(len(ours), len(others)) > 1
    covers = ALL if several else BORROWED if spread else EXAMPLES_ONLY
    members = [*ours, *others, *spread]
    if any(not np.array_equal(member.labels, members[0].labels) for member in members):
        return None, covers
    value, scores = _resample(members, score, classes)
    ends = [len(ours), len(ours) + len(others)]
    *sides, drawn = np.split(scores, ends, axis=1)
    mean = value[: ends[0]].mean() - value[ends[0] : ends[1]].mean()
    sign = -1 if mean < 0 else 1  # the better side draws first, whichever is `ours`
    generator = None if covers == EXAMPLES_ONLY else np.random.default_rng(2)
    first, second = (_average(side, generator, drawn) for side in sides[::sign])
    return _interval(mean, sign * (first - second)), covers


def join_folds(
    seeds_and_folds: Sequence[tuple[int, Optional[int]]], kept: Sequence[Predictions]
) -> list[Predictions]:
    """Joins the predictions of each seed's folds, whose examples differ, as one model's.

    The fold of a member without folds is None.
    """
    seeds: dict[int, dict] = {}
    for (seed, fold), predictions in zip(seeds_and_folds, kept):
        seeds.setdefault(seed, {})[-1 if fold is None else fold] = predictions
    parts = [[of_fold[fold] for fold in sorted(of_fold)] for of_fold in seeds.values()]
    return [Predictions(*map(np.concatenate, zip(*part))) for part in parts]


def score_interval(members: Sequence[Predictions], score: str) -> tuple[Interval, str]:
    """Computes a series' mean score with its bootstrap interval, see `difference`.

    Returns:
      The interval, and what it covers: `ALL` or `EXAMPLES_ONLY`.
    """
    several = len(members) > 1
    value, scores = _resample(members, score)
    generator = np.random.default_rng(2) if several else None
    averages = _average(scores, generator, scores[:, :0])
    return _interval(value.mean(), averages), ALL if several else EXAMPLES_ONLY


def seeds_interval(ours: Sequence[float], others: Sequence[float]) -> Interval:
    """Computes a difference of mean scores with its bootstrap interval over seeds.

    Unlike `difference`, it needs no predictions. The bootstrap draws the members of both sides, at
    least two each.
    """
    generator = np.random.default_rng(2)
    first, second = (
        _average(np.tile(np.asarray(side, np.float64), (_RESAMPLES, 1)), generator, None)
        for side in (ours, others)
    )
    return _interval(np.mean(ours) - np.mean(others), first - second)


def grouped_interval(groups: Sequence[Sequence[float]]) -> Interval:
    """Computes the mean of values that belong to groups, with a hierarchical bootstrap interval.

    Each resample draws groups, at least two, and then values of each drawn group. The distance from
    the mean is scaled by sqrt(k / (k - 1)) for k groups, as in `difference`.
    """
    generator, count = np.random.default_rng(2), len(groups)
    mean = np.mean([np.mean(group) for group in groups])
    draws = [
        np.mean([np.mean(generator.choice(groups[k], len(groups[k]))) for k in chosen])
        for chosen in generator.integers(0, count, (_RESAMPLES, count))
    ]
    return _interval(mean, mean + (np.array(draws) - mean) * np.sqrt(count / (count - 1)))


def _interval(mean, resampled: np.ndarray) -> Interval:
    low, high = np.quantile(resampled, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return Interval(float(mean), float(low), float(high))


def _resample(members, score, classes: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Returns the members' scores <float64>[members] and <float64>[resamples, members]."""
    labels = members[0].labels
    options = {"classes": classes} if score == "macro_f1" else {}
    columns, scores_of = _STATISTICS[score](members, **options)
    count = len(labels)
    if count > _MOST_EXAMPLES:
        raise UserError(
            f"{count:,} examples are too many for an interval; score at most {_MOST_EXAMPLES:,}."
        )
    parts = _draw_examples(count) if count <= _KEPT_EXAMPLES else _draws(count)
    scores = [scores_of(part.astype(np.float64) @ columns / len(labels)) for part in parts]
    return scores_of(columns.mean(axis=0, keepdims=True))[0], np.concatenate(scores)


@lru_cache(maxsize=4)  # most comparisons are on one test set
def _draw_examples(count: int) -> list[np.ndarray]:
    """Returns the parts of `_draws`, for at most `_KEPT_EXAMPLES` examples."""
    return list(_draws(count))


def _draws(count: int) -> Iterator[np.ndarray]:
    """Yields how often each resample has each example, <uint8>[part of the resamples, examples]."""
    generator = np.random.default_rng(1)
    size = max(1, _BATCH * _KEPT_EXAMPLES // max(count, _KEPT_EXAMPLES))
    for start in range(0, _RESAMPLES, size):
        drawn = min(size, _RESAMPLES - start)
        indices = generator.integers(0, count, (drawn, count)) + np.arange(drawn)[:, None] * count
        counts = np.bincount(indices.ravel(), minlength=drawn * count)
        yield counts.reshape(drawn, count).astype(np.uint8)


def _average(scores, generator: Optional[np.random.Generator], spread) -> np.ndarray:
    """Averages scores <float64>[resamples, members] over members, or over drawn members.

    A single member deviates by the distances in `spread` <float64>[resamples, others].
    """
    mean, members = scores.mean(axis=1), scores.shape[1]
    if generator is None:
        return mean
    source = scores if members > 1 else spread
    count = source.shape[1]
    shape = (len(source), members)
    drawn = np.take_along_axis(source, generator.integers(0, count, shape), axis=1).mean(axis=1)
    return mean + (drawn - source.mean(axis=1)) * np.sqrt(count / (count - 1))


def _accuracies(members):
    """Returns a column per member, 1 where it is correct; their means are the accuracies."""
    correct = [member.predictions == member.labels for member in members]
    return np.array(correct, np.float64).T, lambda means: means


def _correlations(members):
    """Returns the columns whose means give all r's: y, y^2, and p, p^2, p y per member.

    As in `disan_tf.metrics.scores.pearson`, r is 0 if all predictions or all labels are the same.
    """
    values = [members[0].labels, *(member.predictions for member in members)]
    y, *predictions = (it - np.mean(it, dtype=np.float64) for it in values)
    columns = [y, y * y, *(column for p in predictions for column in (p, p * p, p * y))]

    def scores_of(means):
        first, second, rest = means[:, :1], means[:, 1:2], means[:, 2:]
        mean, square, product = rest[:, ::3], rest[:, 1::3], rest[:, 2::3]
        variance, of_labels = square - mean**2, second - first**2
        varies = (variance > _ROUNDING * square) & (of_labels > _ROUNDING * second)
        return (product - mean * first) / np.sqrt(np.where(varies, variance * of_labels, np.inf))

    return np.stack(columns, axis=1), scores_of


def _squared_errors(members):
    """Returns the squared errors of each member; their means are the mean squared errors."""
    errors = [member.predictions.astype(np.float64) - member.labels for member in members]
    return np.square(errors).T, lambda means: means


def _macro_f1(members, classes: int):
    """Returns the columns whose means give each macro F1: labels, hits and predictions by class.

    As in `disan_tf.metrics.scores.macro_f1`, a class that does not occur counts as 0; without the
    number of `classes` it does not count.
    """
    numbers = np.unique([member for pair in members for member in pair])
    numbers = np.arange(max(classes, numbers[-1] + 1)) if classes else numbers
    gold = members[0].labels[:, None] == numbers
    columns = [gold]
    for member in members:
        predicted = member.predictions[:, None] == numbers
        columns += [predicted & gold, predicted]

    def scores_of(means):
        gold, *parts = np.split(means, 1 + 2 * len(members), axis=1)
        scores = []
        for hits, predicted in zip(parts[::2], parts[1::2]):
            either = gold + predicted
            scores.append(np.mean(2 * hits / np.where(either > 0, either, 1), axis=1))
        return np.stack(scores, axis=1)

    return np.concatenate(columns, axis=1).astype(np.float64), scores_of


PAIRED = ("accuracy", "pearson", "mse", "macro_f1")  # the scores whose differences have an interval
_STATISTICS = dict(zip(PAIRED, (_accuracies, _correlations, _squared_errors, _macro_f1)))
