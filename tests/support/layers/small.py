"""Small inputs, and layers token by token in NumPy, to compare layers with."""

import numpy as np
import tensorflow as tf

from tests.support.layers.weights import built

DIM, QUERY_DIM, UNITS = 5, 3, 3
MASK = np.array([[1, 1, 1, 1], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]], bool)
GENERATOR = np.random.default_rng(7)
X = tf.constant(GENERATOR.normal(size=[4, 4, DIM]), tf.float32)
QUERY = tf.constant(GENERATOR.normal(size=[4, QUERY_DIM]), tf.float32)


def randomised(layer):
    """The layer, built for vectors of DIM, with random weights."""
    return built(layer, [None, None, DIM], seed=8)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def states_of(cell, count: int, backward: bool) -> np.ndarray:
    """h of every real token, <float64>[4, 4, UNITS]; 0 on padding.

    Args:
      cell: (x <float64>[DIM], `count` states <float64>[UNITS]) -> the new states, h the last.
      count: how many states.
      backward: whether the last token is read first.
    """
    result = np.zeros([*MASK.shape, UNITS])
    for sentence, mask in enumerate(MASK):
        states = (np.zeros(UNITS),) * count
        for token in np.flatnonzero(mask)[:: -1 if backward else 1]:
            states = cell(X[sentence, token].numpy().astype(np.float64), *states)
            result[sentence, token] = states[-1]
    return result


def convolved(x: np.ndarray, mask: np.ndarray, layer) -> np.ndarray:
    """W [window around each token] + b of one sentence, without the layer's activation.

    Args:
      x: <float>[length, dim].
      mask: <bool>[length]; a token where it is False counts as 0.
      layer: a built `Convolution`.

    Returns:
      <float64>[length, units].
    """
    kernel, bias = layer.kernel.numpy().astype(np.float64), layer.bias.numpy()
    length, before = len(x), (len(kernel) - 1) // 2
    result = np.tile(bias.astype(np.float64), [length, 1])
    for token in range(length):
        for place, weights in enumerate(kernel, token - before):
            if 0 <= place < length and mask[place]:
                result[token] += x[place] @ weights
    return result
