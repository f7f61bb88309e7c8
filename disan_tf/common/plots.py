"""Heat maps labelled with words, styles and legends of lines, and functions that save pictures.

Only modes that draw import this module, since it imports matplotlib. The colours are cividis, whose
lightness grows evenly, so that a picture reads the same in grey and to the colour-blind. Words are
never parsed as mathematics.
"""

import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Optional

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from disan_tf.common.atomic import write_atomically
from disan_tf.common.checks import join_choices
from disan_tf.common.paths import PathLike

MAP = "cividis"
ABSENT = "0.85"  # grey of cells that can have no weight
_BRIGHT = 0.6  # share of the scale; above it, black text is easier to read
# Okabe and Ito's colours, which the colour-blind can distinguish, with different markers.
STYLES = (
    {"color": "#0072b2", "marker": "o", "linestyle": "-"},
    {"color": "#d55e00", "marker": "s", "linestyle": "--"},
    {"color": "#009e73", "marker": "^", "linestyle": "-."},
    {"color": "#cc79a7", "marker": "D", "linestyle": ":"},
    {"color": "#000000", "marker": "v", "linestyle": (0, (5, 1))},
)
_METADATA = {"svg": {"Date": None}, "png": {"Software": None}}
_SVG = {"svg.hashsalt": "disan_tf", "svg.fonttype": "none"}  # identical bytes in each run


def new_figure(width: float, height: float) -> Figure:
    """Returns an empty figure, its width and height in inches."""
    return Figure(figsize=(width, height), layout="constrained")


def heat_map(
    axes: Axes,
    weights: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    low: float = 0.0,
    high: Optional[float] = None,
    digits: Optional[int] = None,
    mask_zeros: bool = False,
    by_row: bool = False,
):
    """Draws weights <float32>[rows, columns]; labels rows, and columns upwards. Returns the image.

    Args:
      axes: the axes to draw into.
      weights: the cells.
      rows, columns: their labels; empty = no labels.
      low, high: the weights of the darkest and the brightest colour; None = the largest weight.
      digits: the decimal places of the numbers in the cells; None = no numbers.
      mask_zeros: whether cells of exactly 0, which can have no weight, are grey.
      by_row: whether the colours of each row span 0 to its largest weight.
    """
    levels = weights
    if by_row:
        levels = weights / np.maximum(weights.max(axis=1, keepdims=True, initial=0.0), 1e-9)
        low, high = 0.0, 1.0
    high = high or max(float(levels.max(initial=0.0)), 1e-9)
    bright = low + _BRIGHT * (high - low)
    visible = np.ma.masked_equal(levels, 0.0) if mask_zeros else levels
    axes.set_facecolor(ABSENT)
    image = axes.imshow(visible, cmap=MAP, vmin=low, vmax=high, aspect="auto", interpolation="none")
    axes.set_yticks(range(len(rows)), rows)
    axes.set_xticks(range(len(columns)), columns, rotation=90)
    axes.tick_params(length=0)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set_parse_math(False)
    if digits is not None:
        for (row, column), weight in np.ndenumerate(weights):
            if weight or not mask_zeros:
                text = number(weight, digits)
                colour = _contrast(levels[row, column], bright)
                axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=6)
    return image


def number(weight: float, digits: int) -> str:
    """Formats a weight without the zero before the point, such as ".25"."""
    return f"{weight:.{digits}f}".lstrip("0")


def _contrast(level, bright) -> str:
    return "black" if level > bright else "white"


def contested(weights: np.ndarray) -> float:
    """Returns the largest weight in rows with two or more weights, to scale a heat map; else 0.

    A head with one dependent gives it the weight 1, and other weights would be dark on its scale.
    """
    free = weights[np.count_nonzero(weights, axis=1) > 1]
    return float(free.max(initial=0.0))


def line_style(number: int) -> dict:
    """Returns the style of a picture's line; the first 25 numbers have different styles."""
    count = len(STYLES)
    marks = STYLES[(number + number // count) % count]
    return {**marks, "color": STYLES[number % count]["color"]}


def legend_beside(axes: Axes) -> None:
    """Writes the labels of the lines to the right of the axes."""
    beside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "frameon": False}
    for text in axes.legend(fontsize=7.5, handlelength=4.0, **beside).get_texts():
        text.set_parse_math(False)


def save_picture(figure: Figure, stem: Path) -> None:
    """Writes `<stem>.svg` and `<stem>.png`."""
    for kind in ("svg", "png"):
        write_figure(figure, f"{stem}.{kind}")


def write_figure(figure: Figure, path: PathLike) -> None:
    """Writes a figure; the end of the path names the format, such as .png, .svg or .pdf.

    Raises:
      ValueError: matplotlib has no such format.
    """
    kind, known = Path(path).suffix[1:].lower(), figure.canvas.get_supported_filetypes()
    if kind not in known:
        endings = join_choices(f".{name}" for name in known)
        raise ValueError(f"path={path} must end with {endings}.")
    content = io.BytesIO()
    with rc_context(_SVG), _ignore_missing_glyphs():
        figure.savefig(content, format=kind, dpi=150, metadata=_METADATA.get(kind))
    write_atomically(path, content.getvalue())


def drawn(figure: Figure) -> FigureCanvasAgg:
    """Draws a figure and returns its canvas."""
    canvas = FigureCanvasAgg(figure)
    with _ignore_missing_glyphs():
        canvas.draw()
    return canvas


def pixels(canvas: FigureCanvasAgg) -> np.ndarray:
    """Returns a copy of a canvas' pixels, <uint8>[height, width, 3]."""
    return np.array(canvas.buffer_rgba())[..., :3]


class _ignore_missing_glyphs(warnings.catch_warnings):
    """Ignores warnings on letters that matplotlib's font lacks; an SVG displays them anyway."""

    def __enter__(self):
        super().__enter__()
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
