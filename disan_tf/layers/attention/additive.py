"""Additive attention without a query: one weight for each token."""

from typing import Optional

from disan_tf.common.options import check_at_least
from disan_tf.layers.attention.token_attention import TokenAttention
from disan_tf.layers.pooling import average_tokens
from disan_tf.layers.serialization import serializable


@serializable
class AdditiveSelfAttention(TokenAttention):
    """Additive attention that compresses a sequence, DiSAN Eq. 1 to 5 without their query.

    f(x_i) = w^T activation(W x_i + b)                       (5)
    p = softmax over the tokens i of f(x_i)                  (1 to 3)
    s = sum_i p_i x_i                                        (4)

    The bias b is in the authors' code; w has no bias.

    Args:
      units: size of W x_i; None = the size of x.
      activation: activation of Eq. 5.
      dropout, l2, seed: see `BaseLayer`; dropout acts on the inputs of W and w; only W is
        regularised.

    Call arguments:
      x: <float>[batch, length, dim].
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      s, <float>[batch, dim]; exactly 0 for a sentence without tokens.

    Example:
      >>> AdditiveSelfAttention()(tf.ones([2, 5, 8]), mask=tf.ones([2, 5], tf.bool)).shape
      TensorShape([2, 8])
    """

    pool = staticmethod(average_tokens)

    def __init__(self, units: Optional[int] = None, activation="elu", **kwargs):
        super().__init__(activation, **kwargs)
        self.units = check_at_least("units", units, 1)

    def build(self, input_shape):
        dim = input_shape[-1]
        units = self.units or dim
        self.token_map = self.add_linear("token_map", dim, units, activation=self.activation)
        self.score_map = self.add_linear("score_map", units, 1, use_bias=False, l2=0.0)  # w
        super().build(input_shape)
