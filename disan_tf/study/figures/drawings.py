"""Figures of runs and of the code, and a picture of each paper's table.

DiSAN's figures 3 and 5, DRCN's 2 and 9, and ELMo-DiSAN's 6 come first. A table's picture has dev
scores by epoch, test accuracy by sentence length and, for hard attention, the selected fractions by
epoch. A row of panels holds at most five runs, which have the same inputs.
"""

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import NamedTuple, Optional

import numpy as np
import tensorflow as tf
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from disan_tf.common import plots
from disan_tf.common.plots import STYLES, legend_beside
from disan_tf.metrics.scores import LENGTH_BINS
from disan_tf.ops.masked_softmax import positional_mask
from disan_tf.study.figures.data import accuracy_by_length
from disan_tf.study.papers import TABLES, Score, Table
from disan_tf.study.results import describe_members, members_of

FEWEST = 20  # examples that a length must have to be drawn
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
        plots.heat_map(axes, allowed, words, words, mask_zeros=True)
        for (row, column), free in np.ndenumerate(allowed):
            axes.text(column, row, "0" if free else _CLOSED, ha="center", va="center", fontsize=8)
        axes.set(title=title, xlabel="attended to, i", ylabel="attending, j")
        axes.tick_params(axis="x", rotation=0)
    return figure


def accuracy_against_length(results: dict[str, dict]) -> Drawn:
    """Draws DiSAN Fig. 5: accuracy on SST's test sentences by length, with its spread."""
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
    """Draws DRCN Fig. 2 and 9: training and dev loss by epoch, of lines of `metrics.jsonl`.

    A point of the training curve is the mean of all training lines since the last evaluation.
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


class Group(NamedTuple):
    """The runs in a row of panels."""

    inputs: str  # see `Table.by_inputs`
    lines: Mapping[str, tuple[dict, dict]]  # label -> a result; its colour, marker and dashes


def draw_table_curves(results: Mapping[str, dict], folder: Path) -> None:
    """Writes `<table>.svg` and `.png` for each table that has runs; see `read_results`."""
    for name, table in TABLES.items():
        if drawn := picture(table, results):
            plots.save_picture(drawn, folder / name)


def picture(table: Table, results: Mapping[str, dict]) -> Optional[Figure]:
    """Draws the panels that have data, in a row for each group; None for a table without runs."""
    groups = table_groups(table, results)
    if not groups:
        return None
    runs = [run for group in groups for run, _ in group.lines.values()]
    panels = [_draw_dev_scores]
    panels += [_draw_lengths] if any(map(_by_length, runs)) else []
    panels += [_draw_selections] if any(map(_selections, runs)) else []
    figure = plots.new_figure(4.4 * len(panels) + 2.6, 3.4 * len(groups))
    grid = figure.subplots(len(groups), len(panels), squeeze=False, sharey="col")
    for group, row in zip(groups, grid):
        row[0].set_title(group.inputs, loc="left", fontsize=9)
        for axes, draw in zip(row, panels):
            draw(axes, table.headline, group.lines)
            axes.grid(alpha=0.3)
            axes.set_visible(bool(axes.get_lines()))
        legend_beside(row[0])
    return figure


def table_groups(table: Table, results: Mapping[str, dict]) -> list[Group]:
    """Returns the groups of a table's runs, in its order; each has at most as many as styles."""
    models = {name: row.model for row in table.rows for name in row.runs_and_trials(results)}
    groups = []
    for inputs, names in table.by_inputs(results).items():
        count = -(-len(names) // len(STYLES))
        for part in np.array_split(names, count) if names else ():
            lines = {
                f"{models[name]}\n{name}": (results[name], style)
                for name, style in zip(part.tolist(), STYLES)
            }
            groups.append(Group(inputs, lines))
    return groups


def _draw_dev_scores(axes, score: Score, lines) -> None:
    """Draws each member's dev score by epoch."""
    for label, (run, style) in lines.items():
        for place, member in enumerate(members_of(run)):
            name = None if place else label
            pace = member["epochs"] / member["steps"]
            steps, values = zip(*member["dev_curve"])
            epochs = [step * pace for step in steps]
            heights = [score.scale * value for value in values]
            axes.plot(epochs, heights, label=name, **_marked_at_the_end(style, heights))
    name = "accuracy, %" if score.key == "accuracy" else score.name
    axes.set(xlabel="epochs", ylabel=f"dev {name}")


def _draw_lengths(axes, _, lines) -> None:
    """Draws test accuracy by sentence length, in pairs the longer sentence's."""
    found = {name for run, _ in lines.values() for name in _by_length(run)}
    bins = [name for name in LENGTH_BINS if name in found]
    for run, style in lines.values():
        shares = _by_length(run)
        places = [place for place, name in enumerate(bins) if name in shares]
        axes.plot(places, [100 * shares[bins[place]] for place in places], **style)
    axes.set_xticks(range(len(bins)), bins)
    axes.set(xlabel="tokens (of the longer sentence)", ylabel="test accuracy, %")


def _draw_selections(axes, _, lines) -> None:
    """Draws the fractions of heads and, fainter, dependents that members selected, by epoch."""
    for run, style in lines.values():
        for member, curve in _selections(run):
            epochs = [step * member["epochs"] / member["steps"] for step, *_ in curve]
            for field, alpha in ((1, 1.0), (2, 0.4)):
                heights = [point[field] for point in curve]
                axes.plot(epochs, heights, alpha=alpha, **_marked_at_the_end(style, heights))
    axes.set(xlabel="epochs", ylabel="selected heads (dependents: faint)", ylim=(-0.02, 1.02))


def _marked_at_the_end(style, heights) -> dict:
    return {**style, "markevery": [len(heights) - 1], "linewidth": 1.2}


def _by_length(run: dict) -> dict[str, float]:
    """Returns tokens -> test accuracy, a series' mean, where there are `FEWEST` examples."""
    found = run.get("by_length") or run.get("test", {}).get("by_length", {})
    return {
        name: scores["accuracy"]
        for name, scores in found.items()
        if scores.get("accuracy") is not None
        and scores.get("count", scores.get("sentences", 0)) >= FEWEST
    }


def _selections(run: dict) -> list[tuple[dict, list]]:
    """Returns the members with hard attention, with their [step, heads, dependents]."""
    members = members_of(run)
    return [(member, curve) for member in members if (curve := member.get("selection_curve"))]
