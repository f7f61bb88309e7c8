"""What attentions share that compress a sequence: one softmax over its tokens."""

from typing import Optional

import tensorflow as tf

from disan_tf.layers.base import BaseLayer
from disan_tf.ops import masked_softmax
from disan_tf.ops.elementwise import copies, softmax_pool


class TokenAttention(BaseLayer):
    """Base of attentions that make one vector of a sequence, DiSAN Eq. 1 to 4.

    s = sum_i P_i * x_i, P = softmax over the tokens i of `logits`. A subclass builds `token_map`
    and `score_map`.

    Args:
      activation: between the two maps.
      dropout, l2, seed: see `BaseLayer`.
    """

    # (logits, x, mask) -> s. This one takes a logit for each feature of a token.
    pool = staticmethod(softmax_pool)

    def __init__(self, activation="elu", **kwargs):
        super().__init__(**kwargs)
        self.activation = tf.keras.activations.get(activation)

    def call(self, x, mask, training=None):
        x, to_logits = copies(x, 2)
        return self.pool(self.logits(to_logits, training), x, mask)

    def weights_of(self, x, mask):
        """P without dropout, <float32>, shaped like `logits`; sums to 1 over the tokens."""
        return masked_softmax(self.logits(x), mask[:, :, None], axis=1)

    def logits(self, x, training=None):
        """f(x_i), <float>[batch, length, units of `score_map`], one unit for each weight."""
        return self.score_map(self.token_map(x, training=training), training=training)

    def get_config(self):
        activation = tf.keras.activations.serialize(self.activation)
        return {**super().get_config(), "activation": activation}


class QueryAttention(TokenAttention):
    """Base of attentions whose weights depend on a query too.

    A subclass builds `query_map` besides, and has `logits(x, query, training)`.

    Args:
      query_dim: size of the query; None = that of x.
      activation, dropout, l2, seed: see `TokenAttention`.
    """

    def __init__(self, activation="elu", query_dim: Optional[int] = None, **kwargs):
        super().__init__(activation, **kwargs)
        self.query_dim = query_dim

    def call(self, x, query, mask, training=None):
        x, to_logits = copies(x, 2)
        return self.pool(self.logits(to_logits, query, training), x, mask)

    def weights_of(self, x, query, mask):
        """P without dropout, <float32>, shaped like `logits`; sums to 1 over the tokens."""
        return masked_softmax(self.logits(x, query), mask[:, :, None], axis=1)

    def get_config(self):
        return {**super().get_config(), "query_dim": self.query_dim}


def average_tokens(logits: tf.Tensor, x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """sum_i softmax_i(logits) x_i over the tokens that `mask` admits, DiSAN Eq. 2 to 4.

    The arithmetic is float32 for every dtype.

    Args:
      logits: <float>[batch, length, 1].
      x: <float>[batch, length, dim], finite on padding too.
      mask: <bool>[batch, length].

    Returns:
      <float>[batch, dim], the dtype of x; exactly 0 for a sentence without tokens.
    """
    weights = masked_softmax(logits, mask[:, :, None], axis=1)
    average = tf.matmul(weights, tf.cast(x, tf.float32), transpose_a=True)  # [batch, 1, dim]
    return tf.cast(average[:, 0], x.dtype)
