"""Source2token self-attention, which compresses a sequence into one vector."""

from disan_tf.layers.attention.token_attention import TokenAttention
from disan_tf.layers.serialization import serializable


@serializable
class Source2Token(TokenAttention):
    """Multi-dimensional source2token self-attention, DiSAN Eq. 12 and 13.

    f(x_i) = W^T activation(W1 x_i + b1) + b                 (12)
    P = softmax over the tokens i of f(x_i), for every feature
    s = sum_i P_i * x_i                                      (13)

    Args:
      activation: activation of Eq. 12.
      dropout, l2, seed: see `BaseLayer`; dropout acts on the inputs of W1 and W, which are
        regularised.

    Call arguments:
      x: <float>[batch, length, dim].
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      s, <float>[batch, dim]; exactly 0 for a sentence without tokens.

    Example:
      >>> Source2Token()(tf.ones([2, 5, 8]), mask=tf.ones([2, 5], tf.bool)).shape
      TensorShape([2, 8])
    """

    def build(self, input_shape):
        dim = input_shape[-1]
        self.token_map = self.add_linear(
            "token_map", dim, dim, activation=self.activation
        )  # W1, b1
        self.score_map = self.add_linear("score_map", dim, dim)  # W, b
        super().build(input_shape)
