"""A highway layer: a gate between a layer and its input."""

import tensorflow as tf

from disan_tf.layers.base import BaseLayer
from disan_tf.layers.serialization import serializable


@serializable
class Highway(BaseLayer):
    """A highway layer (Srivastava et al. 2015).

    g = sigmoid(x W_g + b_g),  y = g * activation(x W_t + b_t) + (1 - g) * x

    As in the ReSAN authors' code, dropout acts on the inputs of W_t and of W_g but not on the x
    that is carried over, and b_g is initialised to 0 (the paper proposes a negative value). 300
    units: 180,600 parameters.

    Args:
      activation: activation of the transformed part.
      dropout, l2, seed: see `BaseLayer`; W_t and W_g are regularised.

    Call arguments:
      x: <float>[..., dim].
      training: whether dropout acts.

    Returns:
      y, <float>[..., dim].

    Example:
      >>> Highway()(tf.ones([2, 8])).shape
      TensorShape([2, 8])
    """

    def __init__(self, activation="elu", **kwargs):
        super().__init__(**kwargs)
        self.activation = tf.keras.activations.get(activation)

    def build(self, input_shape):
        dim = input_shape[-1]
        self.transform = self.add_linear("transform", dim, dim, activation=self.activation)
        self.gate = self.add_linear("gate", dim, dim, activation="sigmoid")
        super().build(input_shape)

    def output_size(self, dim):
        return dim

    def call(self, x, training=None):
        gate = self.gate(x, training=training)
        return gate * self.transform(x, training=training) + (1.0 - gate) * x
