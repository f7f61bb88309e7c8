"""The curves' tables: `tables/scaling.md`, and their points as `scaling.csv`."""

from collections.abc import Iterator
from typing import Optional

from disan_tf.common.tables import csv_table, markdown_table
from disan_tf.reporting.scaling.curves import FEWEST_SIZES, Curve
from disan_tf.reporting.scaling.law import Curves, Fit, Forecast

NAME = "scaling"
_MORE = "train on fewer or more with --config.train.examples=N"
_PICTURE = f"![accuracy against the number of training examples](../figures/{NAME}.png)\n"
_TITLE = f"""# Test accuracy against the number of training examples

The law error = a + b N^-c of runs that differ in their number N of training examples alone, fitted
by least squares to every seed. "Held out" is the largest N: its forecast is by the law of all
smaller ones. The whole corpus is forecast by the law of all N, far beyond what was measured, and
stands beside what the paper measured there. Accuracies are per cent; 95 % intervals are of a
bootstrap over seeds and test examples, which cannot tell whether the law holds so far out. A law,
and a test of it, need {FEWEST_SIZES} numbers.

"""


def scaling_tables(curves: Curves) -> dict[str, str]:
    """Renders the tables: file name -> text; without curves, a sentence about the missing data.

    Args:
      curves: see `fit_curves`.
    """
    if not curves:
        sentence = f"No model was trained on two numbers of examples yet: {_MORE}.\n"
        return {f"{NAME}.md": _TITLE + sentence}
    fits = [_fit(curve, fit) for curve, fit in curves if fit]
    lines = [line for curve in curves for line in _lines(*curve)]
    parts = (
        f"{markdown_table(fits)}\n{_PICTURE}" if fits else "",
        "".join(f"- {describe_missing_sizes(curve)}\n" for curve, fit in curves if fit is None),
        markdown_table(lines),
        "".join(
            f"- {curve.model}, {curve.corpus}: {', '.join(curve.runs)}.\n" for curve, _ in curves
        ),
    )
    return {f"{NAME}.md": _TITLE + "\n".join(filter(None, parts)), f"{NAME}.csv": csv_table(lines)}


def describe_missing_sizes(curve: Curve) -> str:
    """Returns a sentence about a curve that has too few points for a fit."""
    sizes = " and ".join(f"{point.examples:,}" for point in curve.points)
    return (
        f"{curve.model} on {curve.corpus} was trained on {sizes} {curve.unit}, and a law needs "
        f"{FEWEST_SIZES} numbers: {_MORE}."
    )


def show(forecast: Forecast) -> str:
    """Formats a forecast's accuracy in per cent, such as "84.10 (82.95 to 85.02)"."""
    text = _per_cent(forecast.error)
    if forecast.interval is None:
        return f"{text} (no interval: predictions were not kept)"
    low, high = (_per_cent(error) for error in reversed(forecast.interval))
    return f"{text} ({low} to {high})"


def _fit(curve: Curve, fit: Fit) -> dict:
    last, law = curve.points[-1], fit.law
    return {
        "model": curve.model,
        "corpus": curve.corpus,
        "a, %": f"{100 * law.a:.2f}",
        "b, %": f"{100 * law.b:.4g}",
        "c": f"{law.c:.3f}",
        "held out": f"{last.examples:,}",
        "measured there": _per_cent(last.error),
        "forecast there": show(fit.held_out),
        "whole corpus": f"{curve.whole:,}",
        "forecast for it": show(fit.whole),
        "paper": curve.paper,
    }


def _lines(curve: Curve, fit: Optional[Fit]) -> Iterator[dict]:
    """Yields a line for each point."""
    for point in curve.points:
        yield {
            "model": curve.model,
            "corpus": curve.corpus,
            "training examples": f"{point.examples:,}",
            "seeds": len(point.members),
            "test accuracy, %": _per_cent(point.error),
            "standard deviation, %": _spread(point.deviation),
            "fitted, %": _per_cent(fit.law.error(point.examples)) if fit else "",
        }


def _spread(deviation: Optional[float]) -> str:
    return "" if deviation is None else f"{100 * deviation:.2f}"


def _per_cent(error: float) -> str:
    return f"{100 * (1 - error):.2f}"
