"""The curves' picture: `figures/scaling.svg` and `.png`, with a caption beside."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from disan_tf.common import plots
from disan_tf.common.files import write_atomically
from disan_tf.reporting.figures.curves import STYLES, finish
from disan_tf.reporting.scaling.curves import Curve
from disan_tf.reporting.scaling.law import Curves, Fit
from disan_tf.reporting.scaling.table import NAME

_STEP = 1.05  # factor between two curves' bars, so that none hides another
_CAPTION = """# Test accuracy against the number of training examples

![accuracy against the number of training examples]({name}.png)

Marks are means over the seeds of recorded runs, lines the law error = a + b N^-c
([SVG]({name}.svg), [table](../tables/{name}.md)).

- dashed: beyond what was measured; the bar at the whole corpus is the 95 % interval of the forecast
- stars: what the paper measured on the whole corpus
- drawn again by `python run.py --mode=report`
"""


def draw_curves(curves: Curves, folder: Path) -> None:
    """Writes the picture of the curves with a law, and its caption; nothing where none has one."""
    drawn = [(curve, fit) for curve, fit in curves if fit]
    if drawn:
        plots.save_picture(picture(drawn), folder / NAME)
        write_atomically(folder / f"{NAME}.md", _CAPTION.format(name=NAME))


def picture(drawn: Sequence[tuple[Curve, Fit]]) -> Figure:
    """Draws the points, laws and forecasts of all curves in one pair of axes."""
    axes = plots.new_figure(6.8, 4.4).add_subplot()
    for number, (curve, fit) in enumerate(drawn):
        _draw(axes, curve, fit, STYLES[number % len(STYLES)], beside=_STEP**number)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    return finish(axes, "training examples", "test accuracy, %")


def _draw(axes, curve: Curve, fit: Fit, style: dict, beside: float) -> None:
    """Draws a curve: points with deviations, its law, the forecast's interval and the paper.

    The interval and the paper's figure stand at the whole corpus' size times `beside`.
    """
    colour = style["color"]
    sizes = [point.examples for point in curve.points]
    axes.errorbar(
        sizes,
        [_accuracy(point.error) for point in curve.points],
        [100 * (point.deviation or 0.0) for point in curve.points],
        capsize=3,
        label=f"{curve.model}, {curve.corpus}",
        color=colour,
        marker=style["marker"],
        linestyle="",
    )
    for ends, line in ((sizes, "-"), ((sizes[-1], curve.whole), "--")):
        inside = np.geomspace(ends[0], ends[-1], 100)
        axes.plot(inside, _accuracy(fit.law.error(inside)), line, color=colour, linewidth=1)
    if fit.whole.interval:
        low, high = sorted(map(_accuracy, fit.whole.interval))
        axes.vlines(beside * curve.whole, low, high, colors=colour, linewidth=3, alpha=0.4)
    if curve.paper:
        paper = float(curve.paper.split()[0])  # before a deviation in parentheses
        axes.plot(beside * curve.whole, paper, color=colour, marker="*", markersize=10)


def _accuracy(error):
    return 100 * (1 - error)
