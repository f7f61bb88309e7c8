"""The dynamic weight vectors of many sentences in two dimensions (DSA's Figure 2)."""

import json
from pathlib import Path

import numpy as np

from disan_tf.common.files import write_arrays, write_atomically

NAME = "weight_vectors"  # of the tensor [iteration, attention, feature] of an encoder's `attend`


class WeightVectors:
    """Collects the dynamic weight vectors of sentences.

    A sentence's vector is z_j before the last iteration, which weighs the words with it (DSA
    Sec. 3.3); with a single iteration it is z_j of that one.
    """

    def __init__(self):
        self._rows, self._vectors = [], []

    def add(self, line: int, tensors: dict[str, np.ndarray]) -> None:
        """Adds a line's tensors from `attend`, <float32>[iteration, attention, feature]."""
        for name, tensor in tensors.items():
            if name.endswith(NAME):
                field = name[: -len(NAME)].rstrip("_") or "sentence"
                self._rows.append({"line": line, "field": field})
                self._vectors.append(tensor[max(0, len(tensor) - 2)])

    def write(self, folder: Path) -> None:
        """Writes `weight_vectors.npz` and `.json`, if there were any.

        The .npz holds "vectors" <float32>[sentence, attention, feature], "coordinates" <float64>
        [sentence, attention, 2] and "explained" <float64>[attention, 2]. The JSON holds the same
        without the vectors, and each sentence's line in the input and its field.
        """
        if not self._vectors:
            return
        vectors = np.stack(self._vectors)
        parts = [principal_components(of_one) for of_one in vectors.swapaxes(0, 1)]
        coordinates = np.stack([points for points, _ in parts], axis=1)
        explained = np.stack([shares for _, shares in parts])
        write_arrays(
            folder / f"{NAME}.npz", vectors=vectors, coordinates=coordinates, explained=explained
        )
        rows = [
            {**row, "coordinates": points.round(6).tolist()}
            for row, points in zip(self._rows, coordinates)
        ]
        record = {"explained": explained.round(6).tolist(), "sentences": rows}
        write_atomically(folder / f"{NAME}.json", json.dumps(record) + "\n")


def principal_components(vectors: np.ndarray, components: int = 2):
    """Computes principal components: coordinates, and the axes' shares of all variance.

    An axis' entry of largest magnitude is positive. Axes that do not exist, since there are too few
    vectors or features, have coordinates and shares of 0.

    Args:
      vectors: <float>[vectors, features].
      components: number of axes.

    Returns:
      <float64>[vectors, components] and <float64>[components].
    """
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
    sizes, axes = sizes[:components], axes[:components]
    largest = np.abs(axes).argmax(axis=1)
    axes = axes * np.sign(axes[np.arange(len(axes)), largest])[:, None]
    total = np.square(centred).sum()
    shares = np.square(sizes) / total if total else np.zeros(len(sizes))
    missing = components - len(sizes)
    return np.pad(centred @ axes.T, [(0, 0), (0, missing)]), np.pad(shares, (0, missing))
