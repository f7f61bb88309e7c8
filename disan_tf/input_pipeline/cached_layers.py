"""Batches with the cached layers of a biLM."""

import concurrent.futures
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from disan_tf.common.files import read_json
from disan_tf.input_pipeline.corpus_format import (
    CACHE,
    LAYERS,
    RECORDS,
    Keys,
    array_file,
    open_array,
)


class CachedLayers(NamedTuple):
    """The cached layers of one split.

    Attributes:
      vectors: <float16>[tokens, layers, dim], memory-mapped.
      starts: by field, <int64>[examples], the place of each example's first token.
    """

    vectors: np.ndarray
    starts: dict[str, np.ndarray]


class LayerFiles:
    """A folder that `disan_tf.elmo.cache` wrote; UserError if a file is missing or damaged."""

    def __init__(self, folder: Path):
        self.folder = Path(folder)
        self._remedy = f"delete {self.folder}, and the next training computes it again"
        cache = read_json(self.folder / CACHE, self._remedy, RECORDS)
        self._records = cache[Keys.FILES]
        self._vectors = self._array(LAYERS)

    def split(self, name: str, fields: Iterable[str]) -> CachedLayers:
        """Returns the layers of the split `name`."""
        starts = {field: self._array(f"{name}.{field}.starts") for field in fields}
        return CachedLayers(self._vectors, starts)

    def _array(self, name):
        return open_array(array_file(self.folder, name), self._records, self._remedy)


class LayeredBatches:
    """A dataset's batches with "<field>_layers" <float16>[batch, longest, layers, dim] added.

    A thread copies the layers from the memory-mapped file, one batch ahead; padding is 0.
    (A tf.data pipeline would need a Python function, which is no faster.) `lengths` are the split's
    `field_lengths`.
    """

    def __init__(self, dataset: tf.data.Dataset, layers: CachedLayers, lengths: np.ndarray):
        self._dataset = dataset
        self._layers = layers
        self._lengths = lengths

    def __iter__(self) -> Iterator[dict]:
        batches = iter(self._dataset)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            following = pool.submit(self._next, batches)
            while (batch := following.result()) is not None:
                following = pool.submit(self._next, batches)
                yield batch

    def _next(self, batches):
        batch = next(batches, None)
        if batch is None:
            return None
        index = batch["index"].numpy()
        layers = {
            f"{field}_layers": self._gather(index, field, number)
            for number, field in enumerate(self._layers.starts)
        }
        return {**batch, **layers}

    def _gather(self, index, field, number):
        starts, lengths = self._layers.starts[field][index], self._lengths[index, number]
        vectors = self._layers.vectors
        padded = np.zeros([len(index), lengths.max(), *vectors.shape[1:]], np.float16)
        for row, start, length in zip(padded, starts, lengths):
            row[:length] = vectors[start : start + length]
        return tf.constant(padded)
