"""Cosine attention between two sentences."""

import tensorflow as tf

from disan_tf.layers.co_attention.base import PairAttention

LEAST_SQUARE = 1e-24  # of a vector that has a direction; gradients grow with 1 / length


class CosineAttention(PairAttention):
    """Cosine attention, multiway DRCN Eq. 4, the only function of the DRCN itself.

    e_ij = cos(first_i, second_j), in float32; 0 where one of them is 0. It has no parameters.

    Args, call arguments, returns: see `PairAttention`.

    Example:
      >>> mask = tf.ones([2, 3], tf.bool)
      >>> CosineAttention()(tf.ones([2, 5, 8]), tf.ones([2, 3, 8]), second_mask=mask).shape
      TensorShape([2, 5, 8])
    """

    symmetry = 1.0

    def scores(self, first, second, masks=None):
        return tf.matmul(_unit(first), _unit(second), transpose_b=True)


def _unit(x):
    """x / ||x||, <float32>[..., dim]; 0 for a vector without length, which gets no gradient."""
    x = tf.cast(x, tf.float32)
    square = tf.reduce_sum(tf.square(x), axis=-1, keepdims=True)
    real = square > LEAST_SQUARE
    return x * tf.where(real, tf.math.rsqrt(tf.where(real, square, 1.0)), 0.0)
