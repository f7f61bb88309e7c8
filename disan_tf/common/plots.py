"""What pictures of attention share: heat maps labelled with words, and how a picture is saved.

Only modes that draw import this module: it brings in matplotlib.

The colours are cividis, whose lightness grows evenly, so that a picture reads the same in grey and
to the colour-blind. Words are never taken for mathematics, whatever signs they have.
"""

import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

import numpy as np
from matplotlib import colormaps, rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from disan_tf.common.files import write_atomically

MAP = "cividis"
ABSENT = "0.85"  # grey of what no weight may stand in
_BRIGHT = 0.6  # of the scale; above it black is read best
_SVG = {"svg.hashsalt": "disan_tf", "svg.fonttype": "none"}  # the same bytes each time


def new_figure(width: float, height: float, constrained: bool = True) -> Figure:
    """An empty picture of so many inches."""
    return Figure(figsize=(width, height), layout="constrained" if constrained else None)


def heat_map(
    axes: Axes,
    weights: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    high: Optional[float] = None,
    digits: Optional[int] = None,
    mark_rows: bool = False,
    mask_zeros: bool = False,
):
    """Draws weights <float>[rows, columns] from 0 to `high` with a label at each row and column.

    Args:
      axes: to draw into.
      weights: the cells.
      rows, columns: their labels; none = no labels.
      high: weight of the brightest colour; None = the largest.
      digits: of the number in each cell; None = no numbers.
      mark_rows: whether a dot marks the largest weight of each row.
      mask_zeros: whether cells of exactly 0, which no weight may stand in, are grey.

    Returns:
      The drawn image, for a colour bar.
    """
    high = high or max(float(weights.max(initial=0.0)), 1e-9)
    shown = np.ma.masked_equal(weights, 0.0) if mask_zeros else weights
    axes.set_facecolor(ABSENT)
    image = axes.imshow(shown, cmap=MAP, vmin=0.0, vmax=high, aspect="auto", interpolation="none")
    label_ticks(axes, rows, columns)
    if digits is not None:
        _write_numbers(axes, weights, high, digits, mask_zeros)
    if mark_rows:
        _mark_largest(axes, weights, high)
    return image


def label_ticks(axes: Axes, rows: Sequence[str], columns: Sequence[str]) -> None:
    """Words at the rows and, turned upwards, at the columns."""
    axes.set_yticks(range(len(rows)), rows)
    axes.set_xticks(range(len(columns)), columns, rotation=90)
    axes.tick_params(length=0)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_parse_math(False)


def _write_numbers(axes, weights, high, digits, mask_zeros):
    for (row, column), weight in np.ndenumerate(weights):
        if weight or not mask_zeros:
            text = f"{weight:.{digits}f}".replace("0.", ".", 1)
            colour = "black" if weight > _BRIGHT * high else "white"
            axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=6)


def _mark_largest(axes, weights, high):
    for row, column in enumerate(weights.argmax(axis=1)):
        weight = weights[row, column]
        if weight:
            colour = "black" if weight > _BRIGHT * high else "white"
            axes.plot(column, row, marker="o", markersize=3, color=colour)


def contested(weights: np.ndarray) -> float:
    """The largest weight of the rows that have a choice, by which a heat map is scaled.

    A head with one dependent gives it all its weight, beside which nothing else would be seen. 0
    where no row has a choice.
    """
    free = weights[np.count_nonzero(weights, axis=1) > 1]
    return float(free.max(initial=0.0))


def colours(weights: np.ndarray, high: float, mask_zeros: bool = False) -> np.ndarray:
    """The colours of a heat map's cells, see `heat_map`, <uint8>[rows, columns, 3]."""
    cells = colormaps[MAP](np.clip(weights / high, 0.0, 1.0), bytes=True)[..., :3]
    if mask_zeros:
        cells[weights == 0.0] = round(255 * float(ABSENT))
    return cells


def paint(picture: np.ndarray, axes: Axes, cells: np.ndarray) -> None:
    """Fills the inside of axes that were drawn with cells <uint8>[rows, columns, 3].

    Args:
      picture: the drawn figure, <uint8>[height, width, 3]; it is changed.
      axes: of the figure.
      cells: their colours.
    """
    left, bottom, right, top = (round(edge) for edge in axes.bbox.extents)
    height, width = top - bottom, right - left
    rows = np.arange(height) * len(cells) // height
    columns = np.arange(width) * cells.shape[1] // width
    first = len(picture) - top
    picture[first : first + height, left:right] = cells[rows][:, columns]


def save_picture(figure: Figure, stem: Path) -> None:
    """Writes `<stem>.svg` and `<stem>.png`."""
    for kind in ("svg", "png"):
        write_atomically(f"{stem}.{kind}", _bytes(figure, kind))


def pixels(figure: Figure) -> np.ndarray:
    """The picture as <uint8>[height, width, 3]."""
    canvas = FigureCanvasAgg(figure)
    with _missing_glyphs_are_boxes():
        canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3]


def _bytes(figure, kind):
    content = io.BytesIO()
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    with rc_context(_SVG), _missing_glyphs_are_boxes():
        figure.savefig(content, format=kind, dpi=150, metadata=metadata)
    return content.getvalue()


class _missing_glyphs_are_boxes(warnings.catch_warnings):
    """Words may be of scripts that matplotlib's font lacks; an SVG shows them all the same."""

    def __enter__(self):
        super().__enter__()
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
