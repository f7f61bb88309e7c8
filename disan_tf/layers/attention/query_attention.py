"""The base class of attentions that compress a sequence, given a query."""

from typing import Optional

import tensorflow as tf

from disan_tf.common.options import check_at_least
from disan_tf.layers.attention.token_attention import TokenAttention
from disan_tf.layers.masks import token_mask
from disan_tf.ops import masked_softmax
from disan_tf.ops.elementwise import copies


class QueryAttention(TokenAttention):
    """Base of attentions whose weights depend on a query, DiSAN Eq. 1 to 4.

    a = [f(x_1, q), ..., f(x_n, q)],  P = softmax(a) over the tokens    (1 to 3)
    s = sum_i P_i * x_i                                                 (4)

    A subclass also builds `query_map` and overrides `logits`.

    Args:
      activation: see `TokenAttention`.
      query_dim: size of the query; None = the size of x.
      dropout, l2, seed: see `BaseLayer`.

    Call arguments:
      x: <float>[batch, length, dim].
      query: <float>[batch, query_dim].
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      s, <float>[batch, dim]; exactly 0 for a sentence without tokens.
    """

    def __init__(self, activation="elu", query_dim: Optional[int] = None, **kwargs):
        super().__init__(activation, **kwargs)
        self.query_dim = check_at_least("query_dim", query_dim, 1)

    def compute_output_shape(self, x_shape, query_shape=None):
        return super().compute_output_shape(x_shape)

    def call(self, x, query, mask=None, training=None):
        x, to_logits = copies(x, 2)
        return self.pool(self.logits(to_logits, query, training), x, token_mask(x, mask))

    def attention_weights(self, x, query, mask=None):
        """Computes P without dropout, <float32>, shaped like `logits`; sums to 1 over tokens."""
        mask = token_mask(x, mask)
        return masked_softmax(self.logits(x, query), tf.expand_dims(mask, -1), axis=1)

    def logits(self, x, query, training=None):
        """Computes f(x_i, q), <float>[batch, length, units], with one unit for each weight."""
        raise NotImplementedError
