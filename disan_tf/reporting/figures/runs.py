"""Figures of runs and of the code: DiSAN's 3 and 5, DRCN's 2 and 9, ELMo-DiSAN's 6."""

from collections.abc import Sequence
from itertools import cycle
from typing import Optional

import numpy as np
import tensorflow as tf
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from disan_tf.common import plots
from disan_tf.common.plots import STYLES
from disan_tf.ops.direction_mask import positional_mask
from disan_tf.reporting.paper_tables import accuracy_by_length
from disan_tf.reporting.papers import TABLES
from disan_tf.reporting.results import describe_members, members_of

Drawn = tuple[Optional[Figure], list[str]]  # None for too little data; the names of the results
_TOKENS = 5  # in the figure of the masks
_CLOSED = "\N{MINUS SIGN}\N{INFINITY}"
_MASKS = {"diagonal": "diag-disabled", "forward": "forward", "backward": "backward"}


def positional_masks() -> Figure:
    """Draws DiSAN Fig. 3: a panel per mask, filled where a row attends to its column."""
    figure = plots.new_figure(8.4, 3.1)
    places, words = tf.range(_TOKENS), [str(place) for place in range(1, _TOKENS + 1)]
    for axes, (direction, title) in zip(figure.subplots(1, len(_MASKS)), _MASKS.items()):
        allowed = positional_mask(places, places, direction).numpy().astype(np.float64)
        plots.heat_map(axes, allowed, words, words, mask_zeros=True, mark_rows=False)
        for (row, column), free in np.ndenumerate(allowed):
            axes.text(column, row, "0" if free else _CLOSED, ha="center", va="center", fontsize=8)
        axes.set(title=title, xlabel="attended to, i", ylabel="attending, j")
        axes.tick_params(axis="x", rotation=0)
    return figure


def accuracy_against_length(results: dict[str, dict]) -> Drawn:
    """Draws DiSAN Fig. 5: accuracy on SST's test sentences by length, with deviations."""
    rows = accuracy_by_length(results)
    names = list(dict.fromkeys(row["run"] for row in rows))
    if not rows:
        return None, names
    axes = plots.new_figure(6.4, 4.2).add_subplot()
    bins = list(dict.fromkeys(row["tokens"] for row in rows))
    for style, run in zip(cycle(STYLES), names):
        own = [row for row in rows if row["run"] == run and row["accuracy, %"] != ""]
        places = [bins.index(row["tokens"]) for row in own]
        heights = [float(row["accuracy, %"]) for row in own]
        spread = [float(row["standard deviation, %"] or 0.0) for row in own]
        label = f"DiSAN, {run} ({describe_members(results[run])})"
        axes.errorbar(
            places, heights, spread if any(spread) else None, label=label, capsize=3, **style
        )
    counts = {row["tokens"]: float(row["sentences"]) for row in rows}
    axes.set_xticks(range(len(bins)), [f"{name}\n({counts[name]:.0f})" for name in bins])
    return _finish(axes, "tokens in a sentence (test sentences)", "test accuracy, %"), names


def accuracy_against_epochs(results: dict[str, dict]) -> Drawn:
    """Draws ELMo-DiSAN Fig. 6: each result's test accuracy by epoch, mean and range of its seeds.

    A curve ends with the first seed that patience stopped: a mean of the others would jump.
    """
    drawn = {
        name: row.model
        for row in TABLES["elmo_disan_table_1"].rows
        for name, run in row.runs(results).items()
        if all(member.get("test_curve") for member in members_of(run))
    }
    if not drawn:
        return None, []
    axes = plots.new_figure(6.8, 4.4).add_subplot()
    models = list(drawn.values())
    for style, (name, model) in zip(cycle(STYLES), drawn.items()):
        members = members_of(results[name])
        pace = members[0]["epochs"] / members[0]["steps"]
        evaluations = list(zip(*(member["test_curve"] for member in members)))
        epochs = [pace * points[0][0] for points in evaluations]
        values = [[100 * accuracy for _, accuracy in points] for points in evaluations]
        low, mean, high = (list(map(each, values)) for each in (min, np.mean, max))
        label = model if models.count(model) == 1 else f"{model}, {name}"
        axes.plot(epochs, mean, label=label, markersize=4, **style)
        axes.fill_between(epochs, low, high, alpha=0.15, linewidth=0, color=style["color"])
    return _finish(axes, "epochs", "test accuracy, %"), list(drawn)


def losses(records: Sequence[dict]) -> Optional[Figure]:
    """Draws DRCN Fig. 2 and 9: training and dev loss by epoch.

    Args:
      records: lines of `metrics.jsonl`; a point of the training curve is the mean of all training
        lines since the previous evaluation.
    """
    train, dev, since = [], [], []
    for record in records:
        if record["split"] == "train":
            since.append(record["loss"])
        elif record["split"] == "dev":
            dev.append((record["epoch"], record["loss"]))
            if since:
                train.append((record["epoch"], float(np.mean(since))))
            since = []
    if not dev or not train:
        return None
    axes = plots.new_figure(6.0, 4.0).add_subplot()
    axes.plot(*zip(*train), label="training loss", **STYLES[0])
    axes.plot(*zip(*dev), label="dev loss", **STYLES[1])
    return _finish(axes, "epochs", "loss (cross-entropy in nats + weight decay)")


def _finish(axes: Axes, xlabel: str, ylabel: str) -> Figure:
    """Adds labels, a grid and a legend to the curves in a figure's axes; returns the figure."""
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    return axes.figure
