"""Small inputs, and weights, for tests of attention layers against NumPy."""

import numpy as np
import tensorflow as tf

DIM, QUERY_DIM = 5, 3
MASK = np.array([[1, 1, 1, 1], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]], bool)
GENERATOR = np.random.default_rng(7)
X = tf.constant(GENERATOR.normal(size=[4, 4, DIM]), tf.float32)
QUERY = tf.constant(GENERATOR.normal(size=[4, QUERY_DIM]), tf.float32)


def randomised(layer):
    """The layer, built for vectors of DIM, with random weights."""
    layer.build([None, None, DIM])
    generator = np.random.default_rng(8)
    for weight in layer.trainable_weights:
        weight.assign(generator.normal(size=weight.shape))
    return layer
