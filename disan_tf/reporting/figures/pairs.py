"""Figures of sentence pairs: DRCN's 3 to 8, and of weight vectors: DSA's 2."""

from collections.abc import Sequence
from typing import Optional

import numpy as np
from matplotlib.figure import Figure

from disan_tf.common import plots
from disan_tf.reporting.attended import AttendedLine

_CELL = 0.24  # inches


def co_attention(lines: Sequence[AttendedLine], number: int, field: int) -> Optional[Figure]:
    """Draws a pair's attention matrices: a row for each function, a column for each layer.

    Args:
      lines: lines of `attend`.
      number: the index of the line, from 0.
      field: 0 = the first sentence reads the second, 1 = the second reads the first.
    """
    if number >= len(lines) or len(lines[number].fields) == 1:
        return None
    line = lines[number]
    sentence, other = line.sentences()[field], line.tokens[1 - field]
    functions, layers = functions_and_layers(sentence.tensors)
    drawn_layers = sorted({layers[0], layers[len(layers) // 2], layers[-1]})
    width = 1.1 + _CELL * len(other)
    figure = plots.new_figure(
        width * len(drawn_layers), (1.2 + _CELL * len(sentence.tokens)) * len(functions)
    )
    panels = figure.subplots(len(functions), len(drawn_layers), squeeze=False)
    for row, function in zip(panels, functions):
        for axes, layer in zip(row, drawn_layers):
            image = plots.heat_map(
                axes, sentence.mean(f"{function}_{layer}"), sentence.tokens, other, mark_rows=True
            )
            axes.set_title(f"{function}, layer {layer}", fontsize=9)
            axes.tick_params(labelsize=7)
            figure.colorbar(image, ax=axes)
    return figure


def functions_and_layers(names: Sequence[str]) -> tuple[list[str], list[int]]:
    """Returns the attention functions and the layers, from 1, of names "<function>_<layer>"."""
    split = [name.rpartition("_") for name in names]
    functions = list(dict.fromkeys(function for function, _, _ in split))
    return functions, sorted({int(layer) for _, _, layer in split})


def weight_vectors(vectors: dict) -> Optional[Figure]:
    """Draws DSA Fig. 2: the dynamic weight vectors of many sentences in two dimensions.

    Args:
      vectors: the contents of `weight_vectors.json`, {} where there is none.
    """
    if len(vectors.get("sentences", ())) < 50:
        return None
    points = np.array([item["coordinates"] for item in vectors["sentences"]])  # [n, attentions, 2]
    shares = vectors["explained"][0]
    figure = plots.new_figure(5.2, 5.0)
    axes = figure.add_subplot()
    axes.scatter(*points[:, 0].T, s=9, alpha=0.55, color="#1a5fb4", marker="o", linewidths=0)
    axes.set(
        xlabel=f"first principal component ({shares[0]:.0%} of the variance)",
        ylabel=f"second principal component ({shares[1]:.0%} of the variance)",
    )
    axes.axhline(0, color="0.7", linewidth=0.6, zorder=0)
    axes.axvline(0, color="0.7", linewidth=0.6, zorder=0)
    return figure
