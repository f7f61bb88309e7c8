"""Intra-attention: a sequence asks itself by its mean."""

from typing import Optional

import tensorflow as tf

from disan_tf.layers.attention.vanilla import VanillaAttention
from disan_tf.layers.base import BaseLayer
from disan_tf.layers.dropout import site_seed


class IntraAttention(BaseLayer):
    """Inner attention of Liu et al. (2016), ReSAN Eq. 42 and 43.

    f(x_i) = w^T tanh(W1 x_i + W2 mean(x)), p = softmax over the tokens i of f, s = sum_i p_i x_i;
    the mean is over the real tokens.

    Args:
      units: size of W1 x_i; None = that of x.
      dropout, l2, seed: see `VanillaAttention`.

    Call arguments:
      x: <float>[batch, length, dim], finite on padding too.
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      s, <float>[batch, dim]; exactly 0 for a sentence without tokens.

    Example:
      >>> IntraAttention()(tf.ones([2, 5, 8]), mask=tf.ones([2, 5], tf.bool)).shape
      TensorShape([2, 8])
    """

    def __init__(self, units: Optional[int] = None, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.attention = VanillaAttention(
            "additive", self.units, activation="tanh", dropout=self.dropout, l2=self.l2,
            seed=site_seed(self.seed, "attention"), name="attention", dtype=self.dtype_policy,
        )  # fmt: skip
        self.attention.build(input_shape)
        super().build(input_shape)

    def call(self, x, mask, training=None):
        return self.attention(x, _mean(x, mask), mask=mask, training=training)

    def weights_of(self, x, mask):
        """p without dropout, <float32>[batch, length, 1]; they sum to 1 over the tokens."""
        return self.attention.weights_of(x, _mean(x, mask), mask)

    def get_config(self):
        return {**super().get_config(), "units": self.units}


def _mean(x, mask):
    """<float>[batch, dim]; 0 for a sentence without tokens."""
    real = tf.cast(mask, tf.float32)[:, :, None]
    total = tf.reduce_sum(real * tf.cast(x, tf.float32), axis=1)
    return tf.cast(tf.math.divide_no_nan(total, tf.reduce_sum(real, axis=1)), x.dtype)
