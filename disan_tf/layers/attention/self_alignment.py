"""Self-alignment: every token attends to all others."""

from typing import Optional

import tensorflow as tf

from disan_tf.common.options import check_at_least
from disan_tf.layers.base import BaseLayer
from disan_tf.layers.masks import token_mask
from disan_tf.layers.pooling import weighted_sums
from disan_tf.layers.serialization import serializable
from disan_tf.ops import masked_softmax
from disan_tf.ops.direction_mask import admissible_pairs


@serializable
class SelfAlignment(BaseLayer):
    """Multiplicative token2token attention, "self-alignment" of ReSAN's Table 5.

    f(x_i, x_j) = <W1 x_i, W2 x_j>                           (DiSAN 6, ReSAN 31, with q = x_j)
    p_j = softmax over the tokens i != j of f(x_i, x_j)
    s_j = sum_i p_ji x_i

    As in Hu et al. (2017), no token attends to itself; in their model W1 and W2 are the identity.

    Args:
      units: size of W1 x_i; None = the size of x.
      dropout, l2, seed: see `BaseLayer`; dropout acts on the inputs of W1 and W2, which are
        regularised.

    Call arguments:
      x: <float>[batch, length, dim], finite on padding too.
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      s, <float>[batch, length, dim]; exactly 0 on padding, and in a sentence of one token.

    Example:
      >>> SelfAlignment()(tf.ones([2, 5, 8]), mask=tf.ones([2, 5], tf.bool)).shape
      TensorShape([2, 5, 8])
    """

    def __init__(self, units: Optional[int] = None, **kwargs):
        super().__init__(**kwargs)
        self.units = check_at_least("units", units, 1)

    def build(self, input_shape):
        dim = input_shape[-1]
        units = self.units or dim
        self.dependent_map = self.add_linear("dependent_map", dim, units, use_bias=False)  # W1
        self.head_map = self.add_linear("head_map", dim, units, use_bias=False)  # W2
        super().build(input_shape)

    def output_size(self, dim):
        return dim

    def call(self, x, mask=None, training=None):
        return weighted_sums(self.attention_weights(x, token_mask(x, mask), training), x)

    def attention_weights(self, x, mask=None, training=None):
        """Computes p, <float32>[batch, head, dependent], which sums to 1 over the dependents."""
        mask = token_mask(x, mask)
        dependent, head = (
            tf.cast(linear(x, training=training), tf.float32)
            for linear in (self.dependent_map, self.head_map)
        )
        logits = tf.matmul(head, dependent, transpose_b=True)
        pairs = admissible_pairs(mask, "diagonal", head_mask=mask)
        return masked_softmax(logits, pairs, axis=2)
