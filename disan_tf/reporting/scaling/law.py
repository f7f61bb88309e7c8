"""The law error = a + b N^-c for N training examples, and its forecasts.

A power law with a constant describes neural models' errors over a wide range of training set sizes
(Hestness et al. 2017, *Deep Learning Scaling is Predictable, Empirically*).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Optional

import numpy as np
from scipy import optimize

from disan_tf.reporting.differences import Answers
from disan_tf.reporting.results import training_examples
from disan_tf.reporting.scaling.curves import FEWEST_SIZES, Curve, Point, find_curves

_RESAMPLES, _LEVEL = 500, 0.95
_EXPONENTS = (0.01, 2.0)  # the bounds of c


class Law(NamedTuple):
    """The law error = a + b N^-c with a, b >= 0."""

    a: float
    b: float
    c: float

    def error(self, examples):
        """Returns the error for a number of training examples, or for an array of numbers."""
        return self.a + self.b * np.asarray(examples, np.float64) ** -self.c


class Forecast(NamedTuple):
    """An error for a number of examples, with its 95 % interval where it can be computed."""

    error: float
    interval: Optional[tuple[float, float]]


class Fit(NamedTuple):
    """A law fitted to a curve, and its forecasts.

    Attributes:
      law: the law fitted to all points.
      whole: its forecast for the whole corpus.
      held_out: the forecast for the largest number of examples, fitted to all other points.
    """

    law: Law
    whole: Forecast
    held_out: Forecast


Curves = Sequence[tuple[Curve, Optional[Fit]]]  # None where a curve has too few points


def fit_curves(results: Mapping[str, dict], predictions: Mapping[str, Sequence[Answers]]) -> Curves:
    """Returns the curves of recorded results with their laws; see `find_curves`."""
    return [(curve, fit_curve(curve)) for curve in find_curves(results, predictions)]


def leave_out_parts(results: Mapping[str, dict], curves: Curves) -> dict[str, dict]:
    """Returns results without a law's points below its largest number of examples.

    The papers' tables hold runs on all available examples. Smaller draws stay if they have no law.
    """
    parts = {
        name
        for curve, fit in curves
        for name in curve.runs
        if fit and training_examples(results[name]) < curve.points[-1].examples
    }
    return {name: run for name, run in results.items() if name not in parts}


def fit_curve(curve: Curve) -> Optional[Fit]:
    """Fits a law to a curve; None where the curve has fewer than `FEWEST_SIZES` points."""
    if len(curve.points) < FEWEST_SIZES:
        return None
    *others, last = curve.points
    return Fit(
        fit_law(*points_to_arrays(curve.points)),
        forecast(curve.points, curve.whole),
        forecast(others, last.examples),
    )


def fit_law(examples: np.ndarray, errors: np.ndarray) -> Law:
    """Fits the law with the least squared error.

    For a given c, a linear regression on N^-c with coefficients that are not negative gives the
    best a and b; c is searched between 0.01 and 2.

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
    """Returns a, b >= 0 with the least squared error of y = a + b x, for positive x and y."""
    x_mean, y_mean = x.mean(), y.mean()
    b = max(0.0, np.dot(x - x_mean, y - y_mean) / np.dot(x - x_mean, x - x_mean))
    a = y_mean - b * x_mean
    return (a, b) if a >= 0.0 else (0.0, np.dot(x, y) / np.dot(x, x))


def forecast(points: Sequence[Point], examples: int) -> Forecast:
    """Forecasts the error for another number of examples by a law fitted to points.

    The interval is the percentile bootstrap's (Efron and Tibshirani 1993, Sec. 13.3), 500
    resamples. Each resample draws test examples with replacement, the same for all models, and for
    every point as many members as it has. There is no interval where a member's predictions were
    not kept, or belong to other examples.
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
    """Returns all members' training examples <int>[members] and errors <float>[members]."""
    pairs = [(point.examples, member.error) for point in points for member in point.members]
    examples, errors = map(np.array, zip(*pairs))
    return examples, errors


def _wrong(points) -> Optional[list[np.ndarray]]:
    """Returns for each point its members' wrong predictions <bool>[members, test examples]."""
    answers = [member.answers for point in points for member in point.members]
    if any(part is None or not np.array_equal(part.labels, answers[0].labels) for part in answers):
        return None
    return [
        np.stack([member.answers.predictions != member.answers.labels for member in point.members])
        for point in points
    ]


def _resample(wrong: Sequence[np.ndarray], generator: np.random.Generator) -> np.ndarray:
    """Returns the errors of drawn members on drawn test examples, <float>[members]."""
    count = wrong[0].shape[1]
    weights = np.bincount(generator.integers(count, size=count), minlength=count) / count
    return np.concatenate(
        [(rows @ weights)[generator.integers(len(rows), size=len(rows))] for rows in wrong]
    )
