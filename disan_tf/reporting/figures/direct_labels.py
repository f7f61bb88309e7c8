"""Labels at the ends of lines, in place of a legend."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

FONT_SIZE = 7.5  # points
_LINE_HEIGHT = 1.25  # in font sizes
_GAP = 0.03  # between the axes and the labels, as a share of the axes' width


class End(NamedTuple):
    """The last point of a line, with its label.

    Attributes:
      x, y: the point.
      label: the text; all labels have the same number of lines.
      color: the color of the line.
    """

    x: float
    y: float
    label: str
    color: str


def label_ends(axes: Axes, ends: Sequence[End]) -> None:
    """Writes labels on the right of the axes, each at the height of its line or close to it.

    Labels that would cover each other are moved apart; a thin line leads from the end of a curve
    to its label. The limits of the axes must not change afterwards.

    Args:
      axes: the axes, with all lines drawn.
      ends: the ends of the lines.
    """
    low, high = axes.get_ylim()
    left, right = axes.get_xlim()
    ends = sorted(ends, key=lambda end: end.y)
    height = axes.figure.get_figheight() * axes.get_position().height * 72.0
    heights = [(end.y - low) / (high - low) for end in ends]
    lines = max((end.label.count("\n") + 1 for end in ends), default=1)
    places = spread(heights, lines * FONT_SIZE * _LINE_HEIGHT / height)
    for end, start, place in zip(ends, heights, places):
        axes.annotate(
            end.label,
            xy=((end.x - left) / (right - left), start),
            xytext=(1.0 + _GAP, place),
            xycoords="axes fraction",
            textcoords="axes fraction",
            fontsize=FONT_SIZE,
            color=end.color,
            va="center",
            parse_math=False,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "relpos": (0.0, 0.5),  # to the middle of the label's left side
                "color": end.color,
                "linewidth": 0.5,
                "alpha": 0.6,
            },
        )


def spread(heights: Sequence[float], least: float) -> np.ndarray:
    """Moves ascending heights apart, to at least `least` between neighbours, within 0 and 1.

    Heights that are too close become a block with the distance `least` around their mean (pool
    adjacent violators), which moves them least. Blocks that reach beyond 0 or 1 move inwards.
    """
    offsets = np.arange(len(heights)) * least
    blocks: list[list[float]] = []  # targets without the offsets
    for target in np.asarray(heights, np.float64) - offsets:
        blocks.append([target])
        while len(blocks) > 1 and np.mean(blocks[-2]) > np.mean(blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    levels = [np.mean(block) for block in blocks for _ in block]
    places = np.minimum(np.array(levels) + offsets, 1.0 - offsets[::-1])
    return np.maximum(places, offsets)
