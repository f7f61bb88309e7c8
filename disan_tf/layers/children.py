"""How a layer builds the layers inside of it."""

import tensorflow as tf


def build_child(layer: tf.keras.layers.Layer, input_shape) -> None:
    """Builds a sublayer inside of a layer's `build`, with its name before those of its weights.

    So names of weights are unique in a model, which Keras' `.h5` files need.
    """
    with tf.name_scope(layer.name):
        layer.build(input_shape)
