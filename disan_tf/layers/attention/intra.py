"""Intra-attention: attention queried by the sequence's mean."""

from typing import Optional

from disan_tf.common.options import check_at_least
from disan_tf.layers.attention.vanilla import VanillaAttention
from disan_tf.layers.base import BaseLayer
from disan_tf.layers.children import build_child
from disan_tf.layers.masks import token_mask
from disan_tf.layers.pooling import masked_mean
from disan_tf.layers.serialization import serializable


@serializable
class IntraAttention(BaseLayer):
    """Inner attention of Liu et al. (2016), ReSAN Eq. 42 and 43.

    f(x_i, x) = w^T tanh(W1 x_i + W2 mean(x))                (42)
    p = softmax over the tokens i of f(x_i, x)
    s = sum_i p_i x_i                                        (43)

    The mean is over the real tokens.

    Args:
      units: size of W1 x_i; None = the size of x.
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

    keeps_tokens = False

    def __init__(self, units: Optional[int] = None, **kwargs):
        super().__init__(**kwargs)
        self.units = check_at_least("units", units, 1)

    def build(self, input_shape):
        self.attention = VanillaAttention(
            "additive", self.units, activation="tanh", **self.child_options("attention")
        )
        build_child(self.attention, input_shape)
        super().build(input_shape)

    def output_size(self, dim):
        return dim

    def call(self, x, mask=None, training=None):
        mask = token_mask(x, mask)
        return self.attention(x, masked_mean(x, mask), mask=mask, training=training)

    def attention_weights(self, x, mask=None):
        """Computes p without dropout, <float32>[batch, length, 1]; sums to 1 over the tokens."""
        mask = token_mask(x, mask)
        return self.attention.attention_weights(x, masked_mean(x, mask), mask)
