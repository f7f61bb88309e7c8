"""Vectors of positions."""

import numpy as np
import tensorflow as tf


def positional_encoding(length: tf.Tensor, dim: int) -> tf.Tensor:
    """Computes the sinusoids of Vaswani et al. (2017), Sec. 3.5.

    PE[position, 2i]     = sin(position / 10000^(2i / dim))
    PE[position, 2i + 1] = cos(position / 10000^(2i / dim))

    Args:
      length: <int>[], number of positions.
      dim: size of a vector; an odd one ends with a sine.

    Returns:
      <float32>[length, dim].
    """
    features = np.arange(dim)
    frequencies = 10000.0 ** (-2.0 * (features // 2) / dim)
    positions = tf.cast(tf.range(length), tf.float32)
    angles = tf.expand_dims(positions, 1) * frequencies.astype(np.float32)
    return tf.where(features % 2 == 0, tf.sin(angles), tf.cos(angles))
