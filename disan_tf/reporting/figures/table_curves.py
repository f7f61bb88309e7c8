"""Pictures for the papers' tables: our runs' learning curves, and their scores by length.

A picture has dev scores by epoch, test accuracy by sentence length and, for hard attention, the
selected fractions by epoch. Runs with other word vectors have panels of their own.
"""

from collections.abc import Mapping
from pathlib import Path

from matplotlib.figure import Figure

from disan_tf.common import plots
from disan_tf.metrics.classification import LENGTH_BINS
from disan_tf.reporting.figures.curves import STYLES
from disan_tf.reporting.paper_tables.all_tables import TABLES
from disan_tf.reporting.paper_tables.table import Table

FEWEST = 20  # examples that a length must have to be drawn
Lines = Mapping[str, tuple[dict, dict]]  # label -> a result; its colour, marker and dashes


def draw_table_curves(results: Mapping[str, dict], folder: Path) -> None:
    """Writes a picture for each table that has runs.

    Args:
      results: see `disan_tf.reporting.result_files.read_results`.
      folder: gets `<table>.svg` and `.png`.
    """
    for name, table in TABLES.items():
        lines = table_lines(table, results)
        if lines:
            plots.save_picture(picture(table, lines), folder / name)


def picture(table: Table, lines: Lines) -> Figure:
    """Draws the panels that have data, in a row for each kind of word vectors.

    Args:
      table: a paper's table.
      lines: see `table_lines`.
    """
    panels = [_draw_dev_scores]
    runs = {label: run for label, (run, _) in lines.items()}
    panels += [_draw_lengths] if any(map(_by_length, runs.values())) else []
    panels += [_draw_selections] if any(map(_selections, runs.values())) else []
    kinds = table.by_vectors(runs)
    figure = plots.new_figure(4.8 * len(panels), 3.6 * len(kinds) + 0.2 * len(lines))
    grid = figure.subplots(len(kinds), len(panels), squeeze=False, sharey="col")
    for (kind, labels), row in zip(kinds.items(), grid):
        row[0].set_title(kind, loc="left", fontsize=9)
        for axes, draw in zip(row, panels):
            draw(axes, table, {label: lines[label] for label in labels})
            axes.grid(alpha=0.3)
    drawn = [axes.get_legend_handles_labels() for axes in grid[:, 0]]
    handles, labels = (sum(parts, []) for parts in zip(*drawn))
    figure.legend(handles, labels, loc="outside lower left", fontsize=8)
    return figure


def table_lines(table: Table, results: Mapping[str, dict]) -> Lines:
    """Returns the table's lines by "<model>: <run>", in its order; no two look alike."""
    names = [name for names in table.by_vectors(results).values() for name in names]
    models = {name: row.model for row in table.rows for name in row.runs(results)}
    labels = [f"{models[name]}: {name}" for name in names]
    return {
        label: (results[name], _style(number))
        for number, (label, name) in enumerate(zip(labels, names))
    }


def _style(number: int) -> dict:
    rounds, place = divmod(number, len(STYLES))
    return {**STYLES[place], "marker": STYLES[(place + rounds) % len(STYLES)]["marker"]}


def _draw_dev_scores(axes, table: Table, lines) -> None:
    """Draws each member's dev score by epoch."""
    score = table.headline
    for label, (run, style) in lines.items():
        for number, member in enumerate(_members(run)):
            epochs = [step * member["epochs"] / member["steps"] for step, _ in member["dev_curve"]]
            heights = [score.scale * value for _, value in member["dev_curve"]]
            name = f"_{label}" if number else label
            axes.plot(epochs, heights, label=name, **_marked_at_the_end(style, heights))
    name = "accuracy, %" if score.key == "accuracy" else score.name
    axes.set(xlabel="epochs", ylabel=f"dev {name}")


def _draw_lengths(axes, table: Table, lines) -> None:
    """Draws test accuracy by sentence length, in pairs the longer sentence's."""
    found = {name for run, _ in lines.values() for name in _by_length(run)}
    bins = [name for name in LENGTH_BINS if name in found]
    for run, style in lines.values():
        shares = _by_length(run)
        places = [place for place, name in enumerate(bins) if name in shares]
        axes.plot(places, [100 * shares[bins[place]] for place in places], **style)
    axes.set_xticks(range(len(bins)), bins)
    axes.set(xlabel="tokens (of the longer sentence)", ylabel="test accuracy, %")


def _draw_selections(axes, table: Table, lines) -> None:
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
    return [(member, curve) for member in _members(run) if (curve := member.get("selection_curve"))]


def _members(run: dict) -> list[dict]:
    """Returns a series' runs; a single run is its own member."""
    return run.get("members", [run])
