"""Source2token self-attention: a sequence becomes one vector."""

import tensorflow as tf

from disan_tf.layers.mechanism import Mechanism
from disan_tf.ops import masked_softmax


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
        self.token_map = self.add_linear("token_map", dim, dim)  # W1, b1
        self.score_map = self.add_linear("score_map", dim, dim)  # W, b
        super().build(input_shape)

    def call(self, x, mask, training=None):
        return self.combine(x, self.weights_of(x, mask, training))

    def weights_of(self, x, mask, training=None):
        """P, <float32>[batch, length, dim]: each feature's weights sum to 1 over the tokens."""
        return self.score(self.token_map(x, training=training), mask, training)

    def score(self, hidden, mask, training=None):
        """Softmax over the tokens of W^T activation(hidden) + b."""
        logits = self.score_map(self.activation(hidden), training=training)
        return masked_softmax(logits, mask[:, :, None], axis=1)

    def combine(self, x, weights):
        """Eq. 13: sum_i P_i * x_i, added up in float32; <float>[batch, dim]."""
        return tf.cast(tf.reduce_sum(weights * tf.cast(x, tf.float32), axis=1), x.dtype)

    def get_config(self):
        activation = tf.keras.activations.serialize(self.activation)
        return {**super().get_config(), "activation": activation}
