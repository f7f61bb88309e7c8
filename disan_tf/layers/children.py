"""Construction of a layer's sublayers."""

import tensorflow as tf


def build_child(layer: tf.keras.layers.Layer, input_shape) -> tf.keras.layers.Layer:
    """Builds a layer's sublayer, with its name before its weights' names, and returns it.

    Weight names are thus unique in a model, as Keras' `.h5` files require.
    """
    with tf.name_scope(layer.name):
        layer.build(input_shape)
    return layer
