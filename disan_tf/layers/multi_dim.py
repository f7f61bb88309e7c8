"""Multi-dimensional attention: one weight for each feature of each token."""

from typing import Optional

from disan_tf.layers.source2token import Source2Token
from disan_tf.ops import masked_softmax
from disan_tf.ops.fused import copies, softmax_pool


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
        x, to_logits = copies(x, 2)
        return softmax_pool(self.logits(to_logits, query, training), x, mask)

    def weights_of(self, x, query, mask):
        """P without dropout, <float32>[batch, length, dim]; they sum to 1 over the tokens."""
        return masked_softmax(self.logits(x, query), mask[:, :, None], axis=1)

    def logits(self, x, query, training=None):
        """f(x_i, q) of Eq. 8, <float>[batch, length, dim]."""
        query = self.query_map(query, training=training)[:, None, :]
        hidden = self.token_map.finish(self.token_map.product(x, training) + query)
        return self.score_map(hidden, training=training)

    def get_config(self):
        return {**super().get_config(), "query_dim": self.query_dim}
