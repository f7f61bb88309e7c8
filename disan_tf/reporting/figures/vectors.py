"""Figures of weight vectors: DSA's 2."""

from typing import Optional

import numpy as np
from matplotlib.figure import Figure

from disan_tf.common import plots


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
