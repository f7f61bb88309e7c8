"""Figure 3 of the DiSAN paper: the positional masks, drawn from the code."""

import numpy as np
import tensorflow as tf
from matplotlib.figure import Figure

from disan_tf.common import plots
from disan_tf.ops.direction_mask import positional_mask

_TOKENS = 5
_CLOSED = "\N{MINUS SIGN}\N{INFINITY}"
_MASKS = {"diagonal": "diag-disabled", "forward": "forward", "backward": "backward"}


def positional_masks(_=None) -> Figure:
    """Draws a panel per mask; a cell is filled where the row's token attends to the column's."""
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
