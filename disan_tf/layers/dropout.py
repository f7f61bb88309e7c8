"""Dropout whose masks are a pure function of (seed, call count)."""

import zlib

import tensorflow as tf

from disan_tf.ops.dropout import apply_mask, keep_mask


def site_seed(seed: int, site: str) -> int:
    """A 31-bit seed of its own for each named place in a network."""
    return zlib.crc32(f"{seed}/{site}".encode()) & 0x7FFFFFFF


class Dropout(tf.keras.layers.Layer):
    """Inverted dropout over stateless random numbers.

    The mask of the n-th training call is a function of (seed, n) alone, and n is a variable that
    is saved with the weights: a training that is killed and resumed draws the masks of an
    unbroken one, bit for bit. A layer that is called twice in a step (a tied encoder) draws two
    masks.

    Args:
      rate: fraction of entries set to 0, in [0, 1); 1 - the paper's keep probability.
      seed: integer, see `site_seed`.

    Call arguments:
      x: <float>[...].
      training: only then are entries dropped, and the others divided by 1 - rate.

    Raises:
      ValueError: a rate outside [0, 1).
    """

    def __init__(self, rate: float, seed: int = 0, **kwargs):
        super().__init__(**kwargs)
        if not 0.0 <= rate < 1.0:
            raise ValueError(f"rate={rate}; a dropout rate lies in [0, 1).")
        self.rate = rate
        self.seed = seed

    def build(self, input_shape):
        self.calls = self.add_weight(
            name="calls", shape=[], dtype=tf.int64, initializer="zeros", trainable=False
        )
        super().build(input_shape)

    def call(self, x, training=None):
        if not training or not self.rate:
            return x
        return apply_mask(x, self.keep(tf.size(x)), self.rate)

    def keep(self, entries: tf.Tensor) -> tf.Tensor:
        """The next mask for so many entries, see `disan_tf.ops.dropout.keep_mask`."""
        seed = tf.stack([tf.constant(self.seed, tf.int64), self.calls.assign_add(1)])
        return keep_mask(entries, seed, self.rate)

    def get_config(self):
        return {**super().get_config(), "rate": self.rate, "seed": self.seed}
