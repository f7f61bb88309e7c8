"""A layer that passes on part of its input."""

import tensorflow as tf

from disan_tf.layers.base import BaseLayer


class Highway(BaseLayer):
    """A highway layer (Srivastava et al. 2015).

    y = g * activation(x Wt + bt) + (1 - g) * x,  g = sigmoid(x Wg + bg)

    As in the ReSAN authors' code dropout acts on the inputs of Wt and of Wg, not on the x that is
    passed on, and both decay. 300 units: 180,600 parameters.

    Args:
      activation: of the new part.
      dropout, l2, seed: see `BaseLayer`.

    Call arguments:
      x: <float>[..., dim].
      training: whether dropout acts.

    Returns:
      y, <float>[..., dim].
    """

    def __init__(self, activation="elu", **kwargs):
        super().__init__(**kwargs)
        self.activation = tf.keras.activations.get(activation)

    def build(self, input_shape):
        dim = input_shape[-1]
        self.transform = self.add_linear("transform", dim, dim, activation=self.activation)
        self.gate = self.add_linear("gate", dim, dim, activation="sigmoid")
        super().build(input_shape)

    def call(self, x, training=None):
        gate = self.gate(x, training=training)
        return gate * self.transform(x, training=training) + (1.0 - gate) * x

    def get_config(self):
        config = {"activation": tf.keras.activations.serialize(self.activation)}
        return {**super().get_config(), **config}
