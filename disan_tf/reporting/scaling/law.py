"""The law error = a + b N^-c of a number N of training examples, and forecasts by it.

A power law with a constant describes the error of neural models over many numbers of examples
(Hestness et al. 2017, *Deep Learning Scaling is Predictable, Empirically*).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Optional

import numpy as np
from scipy import optimize

from disan_tf.reporting.differences import Answers
from disan_tf.reporting.scaling.curves import (
    FEWEST_SIZES,
    Curve,
    Point,
    find_curves,
    training_examples,
)

_RESAMPLES, _LEVEL = 500, 0.95
_EXPONENTS = (0.01, 2.0)  # the bounds of c


class Law(NamedTuple):
    """error = a + b N^-c with a, b >= 0."""

    a: float
    b: float
    c: float

    def error(self, examples):
        """For a number of training examples, or an array of them."""
        return self.a + self.b * np.asarray(examples, np.float64) ** -self.c


class Forecast(NamedTuple):
    """An error for a number of examples, with its 95 % interval where that could be told."""

    error: float
    interval: Optional[tuple[float, float]]


class Fit(NamedTuple):
    """What the points of a curve tell.

    Attributes:
      law: of all points.
      whole: its forecast for the whole corpus.
      held_out: the forecast for the largest number of examples by the law of all other points.
    """

    law: Law
    whole: Forecast
    held_out: Forecast


Curves = Sequence[tuple[Curve, Optional[Fit]]]  # None where a curve has too few points


def fit_curves(results: Mapping[str, dict], predictions: Mapping[str, Sequence[Answers]]) -> Curves:
    """The curves of recorded results, each with its law; see `find_curves`."""
    return [(curve, fit_curve(curve)) for curve in find_curves(results, predictions)]


def leave_out_parts(results: Mapping[str, dict], curves: Curves) -> dict[str, dict]:
    """Results without those that stand for a point of a law below its largest number of examples.

    The papers' tables are of runs on all that there is; other draws stay, which no law explains.
    """
    parts = {
        name
        for curve, fit in curves
        for name in curve.runs
        if fit and training_examples(results[name]) < curve.points[-1].examples
    }
    return {name: run for name, run in results.items() if name not in parts}


def fit_curve(curve: Curve) -> Optional[Fit]:
    """The law of a curve; None where it has fewer than `FEWEST_SIZES` points."""
    if len(curve.points) < FEWEST_SIZES:
        return None
    *others, last = curve.points
    return Fit(
        fit_law(*points_to_arrays(curve.points)),
        forecast(curve.points, curve.whole),
        forecast(others, last.examples),
    )


def fit_law(examples: np.ndarray, errors: np.ndarray) -> Law:
    """The law with the least squared error.

    For a given c the best a and b are those of a linear regression on N^-c whose coefficients are
    not negative; c is found between 0.01 and 2.

    Args:
      examples: numbers of training examples <int>[points].
      errors: <float>[points].
    """
    scale = np.exp(np.mean(np.log(examples)))  # so that the powers are near 1

    def squared_error(c):
        powers = (examples / scale) ** -c
        a, b = _regress(powers, errors)
        return np.sum(np.square(a + b * powers - errors))

    c = optimize.minimize_scalar(squared_error, bounds=_EXPONENTS, method="bounded").x
    a, b = _regress((examples / scale) ** -c, errors)
    return Law(float(a), float(b * scale**c), float(c))


def _regress(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """a, b >= 0 with the least squared error of y = a + b x, for positive x and y."""
    x_mean, y_mean = x.mean(), y.mean()
    b = max(0.0, np.dot(x - x_mean, y - y_mean) / np.dot(x - x_mean, x - x_mean))
    a = y_mean - b * x_mean
    return (a, b) if a >= 0.0 else (0.0, np.dot(x, y) / np.dot(x, x))


def forecast(points: Sequence[Point], examples: int) -> Forecast:
    """The error that the law of some points has for another number of examples.

    The interval is the percentile bootstrap's (Efron and Tibshirani 1993, Sec. 13.3), 500
    resamples: each draws test examples with replacement, the same for all models, and of every
    point as many members as it has. There is none where the predictions of a member were not kept,
    or are not of the same examples.
    """
    error = float(fit_law(*points_to_arrays(points)).error(examples))
    wrong = _wrong(points)
    if wrong is None:
        return Forecast(error, None)
    sizes = np.repeat([point.examples for point in points], [len(rows) for rows in wrong])
    generator = np.random.default_rng(1)
    drawn = [
        float(fit_law(sizes, _resample(wrong, generator)).error(examples))
        for _ in range(_RESAMPLES)
    ]
    low, high = np.quantile(drawn, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return Forecast(error, (float(low), float(high)))


def points_to_arrays(points: Sequence[Point]) -> tuple[np.ndarray, np.ndarray]:
    """Number of training examples <int>[members] and error <float>[members] of all members."""
    pairs = [(point.examples, member.error) for point in points for member in point.members]
    examples, errors = map(np.array, zip(*pairs))
    return examples, errors


def _wrong(points) -> Optional[list[np.ndarray]]:
    """For each point which test examples its members got wrong, <bool>[members, test examples]."""
    answers = [member.answers for point in points for member in point.members]
    if any(each is None or not np.array_equal(each.labels, answers[0].labels) for each in answers):
        return None
    return [
        np.stack([member.answers.predictions != member.answers.labels for member in point.members])
        for point in points
    ]


def _resample(wrong: Sequence[np.ndarray], generator: np.random.Generator) -> np.ndarray:
    """The errors of drawn members on drawn test examples, <float>[members]."""
    count = wrong[0].shape[1]
    weights = np.bincount(generator.integers(count, size=count), minlength=count) / count
    return np.concatenate(
        [(rows @ weights)[generator.integers(len(rows), size=len(rows))] for rows in wrong]
    )
