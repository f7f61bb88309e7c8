"""Heat maps and bars of a text's attention, in a figure that fits on a page."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

import numpy as np

from disan_tf.common import plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDEST, _MARGIN = 10.0, 1.5  # inches of a figure, and of its labels and colour bar
_CELLS = (0.11, 0.4)  # inches of a token
_SIDES = (4.0, 8.0)  # inches: the widest map, and the widest map of a long text
_NUMBERED = 12  # most tokens of a map with numbers in its cells
_SMALLEST, _LARGEST = 5.0, 9.0  # points of a label
_LETTER = 0.6 / 72  # inches of a letter for each point
_LONGEST = 20  # letters of a label
_BARS, _BAR = 1.2, 2.5  # inches: the height of bars, and of the colour bar
_TITLES = 0.6  # inches of a panel's title and axis label


class Panel(NamedTuple):
    """Weights to draw: <float64>[head, dependent] as a map, or <float64>[token] as bars."""

    title: str
    weights: np.ndarray
    heads: Sequence[str]  # empty for bars
    tokens: Sequence[str]  # the dependents, or the tokens of the bars


class Labels(NamedTuple):
    """How tokens are labelled: the size in points, and the step from one label to the next."""

    size: float
    step: int

    def of(self, tokens: Sequence[str]) -> list[str]:
        """Returns the labels of tokens; long ones are shortened, and skipped ones empty."""
        return [_shortened(token) * (k % self.step == 0) for k, token in enumerate(tokens)]


def draw(panels: Sequence[Panel], make_figure: Callable[[float, float], "Figure"]) -> "list[Axes]":
    """Draws maps side by side and bars below each other; returns the axes in the panels' order.

    The colours of each row of a map span 0 to its largest weight, so that all maps have one scale.

    Args:
      panels: what to draw.
      make_figure: makes a figure of a width and height in inches.
    """
    longest = max(len(tokens) for panel in panels for tokens in (panel.heads, panel.tokens))
    smallest, largest = (size * max(longest, 1) for size in _CELLS)
    side = min(max(smallest, min(largest, _SIDES[0])), _SIDES[1])
    points = 72 * side / max(longest, 1)
    labels = Labels(min(max(0.75 * points, _SMALLEST), _LARGEST), math.ceil(_SMALLEST / points))
    letters = _LETTER * labels.size * max(map(_label_length, panels))
    lines = list(_lines(panels, int((_WIDEST - _MARGIN) // (side + 0.25)) or 1))
    heights = [_height(line, side / max(longest, 1)) + letters + _TITLES for line in lines]
    columns = max(map(len, lines))
    width = min(columns * (side + 0.25) + letters + _MARGIN, _WIDEST)
    figure = make_figure(max(width, 5.0), sum(heights) + 0.3)
    grid: Any = figure.add_gridspec(len(lines), columns, height_ratios=heights)
    drawn = []
    for place, line in enumerate(lines):
        for column, panel in enumerate(line):
            if panel.heads:
                axes = figure.add_subplot(grid[place, column])
                _draw_map(axes, panel, labels, longest <= _NUMBERED, column == 0)
            else:
                axes = figure.add_subplot(grid[place, :])
                _draw_bars(axes, panel, labels)
            drawn.append(axes)
    maps = [axes for axes in drawn if axes.images]
    if maps:
        high = sum(height for line, height in zip(lines, heights) if line[0].heads)
        _explain(figure, maps, min(1.0, _BAR / high), longest <= _NUMBERED)
    return drawn


def _lines(panels: Sequence[Panel], columns: int) -> Iterator[list[Panel]]:
    """Yields the lines of the figure: up to `columns` maps of the same heads, or bars."""
    line: list[Panel] = []
    for panel in panels:
        is_other = line and (not panel.heads or list(panel.heads) != list(line[-1].heads))
        if is_other or len(line) == columns:
            yield line
            line = []
        line.append(panel)
    yield line


def _height(line: Sequence[Panel], cell: float) -> float:
    return max(cell * len(line[0].heads), _BARS)


def _label_length(panel: Panel) -> int:
    return max((len(_shortened(token)) for token in (*panel.heads, *panel.tokens)), default=1)


def _shortened(token: str) -> str:
    return token if len(token) <= _LONGEST else f"{token[: _LONGEST - 1]}…"


def _draw_map(
    axes: "Axes", panel: Panel, labels: Labels, is_numbered: bool, has_row_labels: bool
) -> None:
    words, digits = (labels.of(panel.heads), labels.of(panel.tokens)), 2 if is_numbered else None
    plots.heat_map(axes, panel.weights, *words, by_row=True, digits=digits, mask_zeros=True)
    axes.set_title(panel.title, fontsize=10, parse_math=False)
    axes.set_xlabel("attended to (dependent)", fontsize=9)
    axes.tick_params(labelsize=labels.size, labelleft=has_row_labels)
    if has_row_labels:
        axes.set_ylabel("attending (head)", fontsize=9)
    if not is_numbered:
        for row, high in list(enumerate(panel.weights.max(axis=1, initial=0.0)))[:: labels.step]:
            text = plots.number(high, 2) if high else ""
            place = len(panel.tokens) - 0.3, row
            axes.text(*place, text, fontsize=0.8 * labels.size, va="center", color="0.35")


def _draw_bars(axes: "Axes", panel: Panel, labels: Labels) -> None:
    places = range(len(panel.tokens))
    axes.bar(places, panel.weights, color=plots.STYLES[0]["color"])
    words = labels.of(panel.tokens)
    axes.set_xticks(places, words, rotation=90, fontsize=labels.size, parse_math=False)
    axes.set_xlim(-0.6, len(panel.tokens) - 0.4)
    axes.tick_params(axis="x", length=0)
    axes.tick_params(axis="y", labelsize=8)
    axes.set_title(panel.title, fontsize=10, parse_math=False)
    axes.set_ylabel("weight", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)


def _explain(figure: "Figure", maps: "Sequence[Axes]", shrink: float, is_numbered: bool) -> None:
    """Draws the colour bar of all maps, and says what colours and numbers mean."""
    bar = figure.colorbar(
        maps[0].images[0], ax=list(maps), shrink=shrink, aspect=25, anchor=(0.0, 1.0), pad=0.03
    )
    bar.set_ticks([0.0, 0.5, 1.0])
    bar.ax.tick_params(labelsize=8)
    bar.set_label("weight / largest\nweight of the row", fontsize=8)
    numbers = "the weights" if is_numbered else "each row's largest weight"
    text = f"Numbers: {numbers}. Grey: no weight."
    figure.supxlabel(text, fontsize=8, color="0.35")
