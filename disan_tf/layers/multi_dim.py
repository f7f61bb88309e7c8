"""Multi-dimensional attention: one weight for each feature of each token."""

from typing import Optional

from disan_tf.layers.source2token import Source2Token


class MultiDimAttention(Source2Token):
    """Multi-dimensional attention of a query to a sequence, DiSAN Eq. 7 to 9.

    f(x_i, q) = W^T activation(W1 x_i + W2 q + b1) + b,  P = softmax over the tokens i of f,
    s = sum_i P_i * x_i, all feature by feature. Without W2 q it is source2token.

    Args:
      activation: of Eq. 8.
      query_dim: size of the query; None = that of x, as in the paper.
      dropout, l2, seed: see `Mechanism`; every matrix is regularised and its input dropped.

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

    def __init__(self, activation="elu", query_dim: Optional[int] = None, **kwargs):
        super().__init__(activation, **kwargs)
        self.query_dim = query_dim

    def build(self, input_shape):
        dim = input_shape[-1]
        self.query_map = self.add_linear(  # W2
            "query_map", self.query_dim or dim, dim, use_bias=False
        )
        super().build(input_shape)

    def call(self, x, query, mask, training=None):
        return self.combine(x, self.weights_of(x, query, mask, training))

    def weights_of(self, x, query, mask, training=None):
        """P, <float32>[batch, length, dim]: each feature's weights sum to 1 over the tokens."""
        query = self.query_map(query, training=training)[:, None, :]
        return self.score(self.token_map(x, training=training) + query, mask, training)

    def get_config(self):
        return {**super().get_config(), "query_dim": self.query_dim}
