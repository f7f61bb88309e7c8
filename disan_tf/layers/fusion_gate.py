"""The gate that mixes a token with its context."""

import tensorflow as tf

from disan_tf.layers.mechanism import Mechanism


class FusionGate(Mechanism):
    """Dimension-wise fusion gate, DiSAN Eq. 19 and 20.

    F = sigmoid(W1 s + W2 h + b),  u = F * h + (1 - F) * s

    This differs from the paper because b is the sum of three biases, as in the authors' code:
    only they give the paper's parameter counts, and Adadelta updates each. Dropout acts on the
    inputs of W1 and W2, not on the mixed h and s.

    Args:
      dropout, l2, seed: see `Mechanism`; W1 and W2 are regularised.

    Call arguments:
      h: <float>[batch, length, dim], the input of the attention.
      s: <float>[batch, length, dim], its output.
      training: whether dropout acts.

    Returns:
      u, <float>[batch, length, dim].
    """

    def build(self, input_shape):
        dim = input_shape[-1]
        self.token_map = self.add_linear("token_map", dim, dim)  # W2
        self.context_map = self.add_linear("context_map", dim, dim)  # W1
        self.bias = self.add_weight(name="bias", shape=[dim], initializer="zeros")
        super().build(input_shape)

    def gate(self, h, s, training=None):
        """F of Eq. 19, <float>[batch, length, dim]."""
        token = self.token_map(h, training=training)
        context = self.context_map(s, training=training)
        return tf.sigmoid(context + token + tf.cast(self.bias, h.dtype))

    def call(self, h, s, training=None):
        return self.mix(h, s, self.gate(h, s, training))

    def mix(self, h, s, gate):
        """u of Eq. 20, <float>[batch, length, dim]."""
        return gate * h + (1.0 - gate) * tf.cast(s, h.dtype)
