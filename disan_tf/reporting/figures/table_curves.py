"""Pictures for the papers' tables: our runs' learning curves, and their scores by length.

A picture has dev scores by epoch, test accuracy by sentence length and, for hard attention, the
selected fractions by epoch. A row of panels holds at most five runs, which have the same inputs;
names stand at the ends of the first panel's curves.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Optional

import numpy as np
from matplotlib.figure import Figure

from disan_tf.common import plots
from disan_tf.common.plots import STYLES, End, label_ends
from disan_tf.metrics.classification import LENGTH_BINS
from disan_tf.reporting.papers import TABLES, Score, Table
from disan_tf.reporting.results import members_of

FEWEST = 20  # examples that a length must have to be drawn


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
    for group, row in zip(groups, grid):  # once all panels have the same limits
        label_ends(row[0], _ends(table.headline, group.lines))
    return figure


def table_groups(table: Table, results: Mapping[str, dict]) -> list[Group]:
    """Returns the groups of a table's runs, in its order; each has at most as many as styles."""
    models = {name: row.model for row in table.rows for name in row.runs(results)}
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


def _dev_curve(score: Score, member: dict) -> list[tuple[float, float]]:
    """Returns the epochs and the heights of a training's dev scores."""
    pace = member["epochs"] / member["steps"]
    return [(step * pace, score.scale * value) for step, value in member["dev_curve"]]


def _ends(score: Score, lines) -> list[End]:
    """Returns the last point of each run's first dev curve, with the run's label."""
    firsts = [(label, members_of(run)[0], style) for label, (run, style) in lines.items()]
    return [
        End(*_dev_curve(score, member)[-1], label, style["color"])
        for label, member, style in firsts
    ]


def _draw_dev_scores(axes, score: Score, lines) -> None:
    """Draws each member's dev score by epoch."""
    for run, style in lines.values():
        for member in members_of(run):
            epochs, heights = zip(*_dev_curve(score, member))
            axes.plot(epochs, heights, **_marked_at_the_end(style, heights))
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
