"""Random weights for layers, how many there are, and what a linear map makes of them."""

import numpy as np
import tensorflow as tf


def draw_weights(weights, seed: int, size: float = 1.0) -> None:
    """Assigns normally distributed numbers to all weights that are no counters."""
    generator = np.random.default_rng(seed)
    for weight in weights:
        if tf.as_dtype(weight.dtype).is_floating:
            weight.assign(generator.normal(0.0, size, weight.shape))


def built(layer, shape, seed: int, size: float = 1.0):
    """Builds the layer for inputs of this shape, with random weights; returns it."""
    layer.build(shape)
    draw_weights(layer.trainable_weights, seed, size)
    return layer


def count(layer, dim: int = 300) -> int:
    """Builds the layer for vectors of this size; returns the number of its trainable parameters."""
    layer.build(tf.TensorShape([None, None, dim]))
    return sum(int(np.prod(weight.shape)) for weight in layer.trainable_weights)


def mapped(linear, x) -> np.ndarray:
    """Computes x W + b of a `Linear` in float64."""
    bias = linear.dense.bias.numpy() if linear.dense.use_bias else 0.0
    return np.asarray(x, np.float64) @ linear.dense.kernel.numpy().astype(np.float64) + bias
