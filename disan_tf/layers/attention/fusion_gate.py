"""The gate that mixes a token with its context."""

import tensorflow as tf

from disan_tf.layers.base import BaseLayer
from disan_tf.layers.serialization import serializable
from disan_tf.ops.elementwise import copies, fusion_gate


@serializable
class FusionGate(BaseLayer):
    """Dimension-wise fusion gate, DiSAN Eq. 19 and 20.

    F = sigmoid(W1 s + W2 h + b)                             (19)
    u = F * h + (1 - F) * s                                  (20)

    This differs from the paper because b is the sum of three biases, as in the authors' code.
    Three biases give the paper's parameter counts, and Adadelta updates them separately.
    Dropout acts on the inputs of W1 and W2, not on the mixed h and s.

    Args:
      dropout, l2, seed: see `BaseLayer`; W1 and W2 are regularised.

    Call arguments:
      h: <float>[batch, length, dim], the input of the attention.
      s: <float>[batch, length, dim], the output of the attention.
      mask: <bool>[batch, length] or None; where it is False u is exactly 0.
      training: whether dropout acts.

    Returns:
      u, <float>[batch, length, dim].

    Example:
      >>> FusionGate()(tf.ones([2, 5, 8]), tf.zeros([2, 5, 8])).shape
      TensorShape([2, 5, 8])
    """

    def build(self, h_shape, s_shape=None):
        dim = h_shape[-1]
        self.token_map = self.add_linear("token_map", dim, dim)  # W2
        self.context_map = self.add_linear("context_map", dim, dim)  # W1
        self.bias = self.add_weight(name="bias", shape=[dim], initializer="zeros")
        super().build(h_shape)

    def compute_output_shape(self, h_shape, s_shape=None):
        return super().compute_output_shape(h_shape)

    def gate(self, h, s, training=None):
        """Computes F of Eq. 19, <float>[batch, length, dim]."""
        token, context, bias = self._summands(h, s, training)
        return tf.sigmoid(token + context + bias)

    def output_size(self, dim):
        return dim

    def call(self, h, s, mask=None, training=None):
        mask = tf.ones(tf.shape(h)[:-1], tf.bool) if mask is None else mask
        h, to_token = copies(h, 2)
        s, to_context = copies(tf.cast(s, h.dtype), 2)  # Keras 2 casts the first input alone
        return fusion_gate(*self._summands(to_token, to_context, training), h, s, mask)

    def _summands(self, h, s, training):
        """Computes W2 h, W1 s and b."""
        token = self.token_map.product(h, training)
        context = self.context_map.product(s, training)
        bias = self.token_map.dense.bias + self.context_map.dense.bias + self.bias
        return token, context, tf.cast(bias, h.dtype)
