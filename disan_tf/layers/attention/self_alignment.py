"""Self-alignment: each token looks at the others."""

from typing import Optional

import tensorflow as tf

from disan_tf.layers.base import BaseLayer
from disan_tf.ops import masked_softmax
from disan_tf.ops.direction_mask import admissible_pairs


class SelfAlignment(BaseLayer):
    """Multiplicative token2token attention, "self-alignment" of ReSAN's Table 5.

    The token x_j takes the query's place in DiSAN Eq. 6 (ReSAN Eq. 31), with weights of its own:

    f(x_i, x_j) = <W1 x_i, W2 x_j>,  p_j = softmax over the tokens i of f(x_i, x_j),
    s_j = sum_i p_ji x_i

    As in Hu et al. (2017) no token looks at itself; that one's W1 and W2 are the identity.

    Args:
      units: size of W1 x_i; None = that of x.
      dropout, l2, seed: see `BaseLayer`; W1 and W2 are regularised and their inputs dropped.

    Call arguments:
      x: <float>[batch, length, dim], finite on padding too.
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      s, <float>[batch, length, dim]; exactly 0 on padding and for a lone token.

    Example:
      >>> SelfAlignment()(tf.ones([2, 5, 8]), mask=tf.ones([2, 5], tf.bool)).shape
      TensorShape([2, 5, 8])
    """

    def __init__(self, units: Optional[int] = None, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        dim = input_shape[-1]
        units = self.units or dim
        self.dependent_map = self.add_linear("dependent_map", dim, units, use_bias=False)  # W1
        self.head_map = self.add_linear("head_map", dim, units, use_bias=False)  # W2
        super().build(input_shape)

    def call(self, x, mask, training=None):
        weights = self.weights_of(x, mask, training)
        return tf.cast(tf.matmul(weights, tf.cast(x, tf.float32)), x.dtype)

    def weights_of(self, x, mask, training=None):
        """p, <float32>[batch, head, dependent]; they sum to 1 over the dependents."""
        dependent, head = (
            tf.cast(linear(x, training=training), tf.float32)
            for linear in (self.dependent_map, self.head_map)
        )
        logits = tf.matmul(head, dependent, transpose_b=True)
        pairs = admissible_pairs(mask, "diagonal", head_mask=mask)
        return masked_softmax(logits, pairs, axis=2)

    def get_config(self):
        return {**super().get_config(), "units": self.units}
