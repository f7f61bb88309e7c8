"""Cosine attention between two sentences."""

import tensorflow as tf

from disan_tf.layers.co_attention.base import PairAttention
from disan_tf.layers.serialization import serializable

LEAST_SQUARED_NORM = 1e-24  # a shorter vector counts as 0: its gradient would explode


@serializable
class CosineAttention(PairAttention):
    """Cosine attention, multiway DRCN Eq. 4, the only function of the original DRCN.

    e_ij = cos(first_i, second_j)

    in float32; 0 if one of the two vectors is 0. The function has no parameters.

    Arguments, call arguments and result: see `PairAttention`.

    Example:
      >>> mask = tf.ones([2, 3], tf.bool)
      >>> CosineAttention()(tf.ones([2, 5, 8]), tf.ones([2, 3, 8]), second_mask=mask).shape
      TensorShape([2, 5, 8])
    """

    symmetry = 1.0

    def scores(self, first, second, masks=None):
        return tf.matmul(_unit(first), _unit(second), transpose_b=True)


def _unit(x):
    """Computes x / ||x||, <float32>[..., dim]; 0, without a gradient, where ||x|| is 0."""
    x = tf.cast(x, tf.float32)
    square = tf.reduce_sum(tf.square(x), axis=-1, keepdims=True)
    has_norm = square > LEAST_SQUARED_NORM
    return x * tf.where(has_norm, tf.math.rsqrt(tf.where(has_norm, square, 1.0)), 0.0)
