"""Two small sentences, and the multiway paper's attention functions pair by pair in NumPy."""

import numpy as np
import tensorflow as tf

from disan_tf.layers.attention.pair import (
    BilinearAttention,
    ConcatenationAttention,
    CosineAttention,
    DotAttention,
    MinusAttention,
)
from tests.support.layers.weights import built

DIM = 6
FIRST_MASK = np.array([[1, 1, 1, 1, 1], [0, 1, 0, 1, 0], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0]], bool)
SECOND_MASK = np.array([[1, 1, 1], [1, 0, 1], [0, 0, 0], [0, 1, 0]], bool)
_GENERATOR = np.random.default_rng(17)
FIRST, SECOND = (
    tf.constant(_GENERATOR.normal(size=[*mask.shape, DIM]), tf.float32)
    for mask in (FIRST_MASK, SECOND_MASK)
)
CLASSES = [BilinearAttention, ConcatenationAttention, CosineAttention, DotAttention, MinusAttention]


def cosine(p, q):
    return p @ q / (np.linalg.norm(p) * np.linalg.norm(q))


# Eq. 9, 10, 4, 11 and 12 with the paper's W, of the layers' weights in their order.
FORMULAS = {
    BilinearAttention: lambda p, q, kernel, v: v * np.tanh(q @ kernel @ p),
    ConcatenationAttention: lambda p, q, kernel, v: v @ np.tanh(kernel.T @ np.concatenate([p, q])),
    CosineAttention: cosine,
    DotAttention: lambda p, q, kernel, v: v @ np.tanh(kernel.T @ (p * q)),
    MinusAttention: lambda p, q, kernel, v: v @ np.tanh(kernel.T @ (p - q)),
}


def reference(kind, first, second, second_mask, weights):
    """Contexts a and weights alpha in float64, pair by pair."""
    alpha = np.zeros([*first.shape[:2], second.shape[1]])
    for b, i in np.ndindex(*first.shape[:2]):
        real = np.flatnonzero(second_mask[b])
        scores = np.exp([FORMULAS[kind](first[b, i], second[b, j], *weights) for j in real])
        alpha[b, i, real] = scores / scores.sum()
    return alpha @ second, alpha


def in_float64(tensors):
    return [np.asarray(tensor, np.float64) for tensor in tensors]


def randomised(layer, dim=DIM):
    """The layer, built, with random weights."""
    return built(layer, [None, None, dim], seed=18)
