"""The learning curves of a user's runs."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from disan_tf.common import plots
from disan_tf.reporting.figures.curves import STYLES
from disan_tf.reporting.figures.direct_labels import End, label_ends
from disan_tf.reporting.own_runs.run import Run

_MOST = 20  # runs in a picture


def draw_dev_scores(runs: Sequence[Run]) -> Figure:
    """Draws the dev score of each training by epoch, for at most 20 runs.

    Args:
      runs: the runs; the first ones are drawn.
    """
    figure = plots.new_figure(8.6, max(4.0, 0.2 * min(len(runs), _MOST) + 1.0))
    axes, ends = figure.add_subplot(), []
    for number, run in enumerate(runs[:_MOST]):
        style = STYLES[number % len(STYLES)]
        for member in run.members:
            axes.plot(*zip(*member.curve), **style, markersize=3, linewidth=1.2)
        ends.append(End(*run.members[0].curve[-1], run.name, style["color"]))
    names = dict.fromkeys(run.criterion for run in runs)
    axes.set(xlabel="epochs", ylabel=f"dev {', '.join(names)}")
    axes.grid(alpha=0.3)
    label_ends(axes, ends)
    return figure
