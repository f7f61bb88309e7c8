"""Source2token self-attention: a sequence becomes one vector."""

import tensorflow as tf

from disan_tf.layers.mechanism import Mechanism
from disan_tf.ops import masked_softmax
from disan_tf.ops.fused import copies, softmax_pool


class Source2Token(Mechanism):
    """Multi-dimensional source2token self-attention, DiSAN Eq. 12 and 13.

    f(x_i) = W^T activation(W1 x_i + b1) + b,  P = softmax over the tokens i of f(x_i),
    s = sum_i P_i * x_i, all feature by feature.

    Args:
      activation: of Eq. 12.
      dropout, l2, seed: see `Mechanism`; W1 and W are regularised and their inputs dropped.

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

    def __init__(self, activation="elu", **kwargs):
        super().__init__(**kwargs)
        self.activation = tf.keras.activations.get(activation)

    def build(self, input_shape):
        dim = input_shape[-1]
        self.token_map = self.add_linear(
            "token_map", dim, dim, activation=self.activation
        )  # W1, b1
        self.score_map = self.add_linear("score_map", dim, dim)  # W, b
        super().build(input_shape)

    def call(self, x, mask, training=None):
        x, to_logits = copies(x, 2)
        return softmax_pool(self.logits(to_logits, training), x, mask)

    def weights_of(self, x, mask):
        """P without dropout, <float32>[batch, length, dim]; they sum to 1 over the tokens."""
        return masked_softmax(self.logits(x), mask[:, :, None], axis=1)

    def logits(self, x, training=None):
        """f(x_i) of Eq. 12, <float>[batch, length, dim]."""
        return self.score_map(self.token_map(x, training=training), training=training)

    def get_config(self):
        activation = tf.keras.activations.serialize(self.activation)
        return {**super().get_config(), "activation": activation}
