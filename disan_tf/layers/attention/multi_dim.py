"""Multi-dimensional attention: one weight for each feature of each token."""

import tensorflow as tf

from disan_tf.layers.attention.query_attention import QueryAttention
from disan_tf.layers.serialization import serializable


@serializable
class MultiDimAttention(QueryAttention):
    """Multi-dimensional attention of a query to a sequence, DiSAN Eq. 7 to 9.

    f(x_i, q) = W^T activation(W1 x_i + W2 q + b1) + b       (8; 7 without biases)
    P = softmax over the tokens i of f(x_i, q), for every feature
    s = sum_i P_i * x_i                                      (9)

    Without W2 q this is `Source2Token`.

    Args:
      activation: activation of Eq. 8.
      query_dim: size of the query; None = the size of x, as in the paper.
      dropout, l2, seed: see `BaseLayer`; dropout acts on the inputs of W1, W2 and W, which are
        regularised.

    Call arguments:
      x: <float>[batch, length, dim].
      query: <float>[batch, query_dim].
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      s, <float>[batch, dim]; exactly 0 for a sentence without tokens.

    Example:
      >>> attention = MultiDimAttention(query_dim=4)
      >>> attention(tf.ones([2, 5, 8]), tf.ones([2, 4]), mask=tf.ones([2, 5], tf.bool)).shape
      TensorShape([2, 8])
    """

    def build(self, x_shape, query_shape=None):
        dim = x_shape[-1]
        self.query_map = self.add_linear(  # W2
            "query_map", self.query_dim or dim, dim, use_bias=False
        )
        self.token_map = self.add_linear(
            "token_map", dim, dim, activation=self.activation
        )  # W1, b1
        self.score_map = self.add_linear("score_map", dim, dim)  # W, b
        super().build(x_shape)

    def logits(self, x, query, training=None):
        """Computes f(x_i, q) of Eq. 8, <float>[batch, length, dim]."""
        query = tf.expand_dims(self.query_map(query, training=training), 1)
        hidden = self.token_map.activate(self.token_map.product(x, training) + query)
        return self.score_map(hidden, training=training)
