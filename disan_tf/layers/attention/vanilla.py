"""Vanilla attention of a query to a sequence: one weight for each token."""

from typing import Optional

import tensorflow as tf

from disan_tf.common.options import check_at_least, check_choice
from disan_tf.layers.attention.query_attention import QueryAttention
from disan_tf.layers.pooling import average_tokens
from disan_tf.layers.serialization import serializable

COMPATIBILITIES = ("additive", "multiplicative")


@serializable
class VanillaAttention(QueryAttention):
    """Attention of a query to a sequence, DiSAN Eq. 1 to 6, ReSAN Eq. 26 to 31.

    p = softmax over the tokens i of f(x_i, q)               (DiSAN 1 to 3, ReSAN 26 to 28)
    s = sum_i p_i x_i                                        (DiSAN 4, ReSAN 29)
    f(x_i, q) = w^T activation(W1 x_i + W2 q)   additive     (DiSAN 5, ReSAN 30)
    f(x_i, q) = <W1 x_i, W2 q>            multiplicative     (DiSAN 6, ReSAN 31)

    Args:
      compatibility: f, "additive" or "multiplicative".
      units: size of W1 x_i and W2 q; None = the size of x.
      query_dim: size of the query; None = the size of x.
      activation: activation of the additive f.
      dropout, l2, seed: see `BaseLayer`; dropout acts on the inputs of W1, W2 and w; W1 and W2
        are regularised.

    Call arguments:
      x: <float>[batch, length, dim].
      query: <float>[batch, query_dim].
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      s, <float>[batch, dim]; exactly 0 for a sentence without tokens.

    Raises:
      ValueError: an unknown compatibility, or a size under 1.

    Example:
      >>> attention = VanillaAttention("multiplicative", query_dim=4)
      >>> attention(tf.ones([2, 5, 8]), tf.ones([2, 4]), mask=tf.ones([2, 5], tf.bool)).shape
      TensorShape([2, 8])
    """

    pool = staticmethod(average_tokens)

    def __init__(
        self,
        compatibility: str = "additive",
        units: Optional[int] = None,
        query_dim: Optional[int] = None,
        activation="elu",
        **kwargs,
    ):
        super().__init__(activation, query_dim, **kwargs)
        self.compatibility = check_choice("compatibility", compatibility, COMPATIBILITIES)
        self.units = check_at_least("units", units, 1)

    def build(self, x_shape, query_shape=None):
        dim = x_shape[-1]
        units = self.units or dim
        self.token_map = self.add_linear("token_map", dim, units, use_bias=False)  # W1
        self.query_map = self.add_linear(  # W2
            "query_map", self.query_dim or dim, units, use_bias=False
        )
        if self.compatibility == "additive":
            self.score_map = self.add_linear("score_map", units, 1, use_bias=False, l2=0.0)  # w
        super().build(x_shape)

    def logits(self, x, query, training=None):
        """Computes f(x_i, q), <float>[batch, length, 1]."""
        token = self.token_map(x, training=training)  # [batch, length, units]
        query = self.query_map(query, training=training)
        if self.compatibility == "multiplicative":
            return tf.matmul(
                tf.cast(token, tf.float32), tf.expand_dims(tf.cast(query, tf.float32), 2)
            )
        return self.score_map(self.activation(token + tf.expand_dims(query, 1)), training=training)
