"""Random numbers that are a pure function of a seed and the number of calls."""

import tensorflow as tf

from disan_tf.layers.dropout import add_count, next_seed
from disan_tf.layers.serialization import ConfiguredLayer, serializable
from disan_tf.ops import batch_share

_MANTISSA, _ONE = 0x7FFFFF, 0x3F800000  # bits of a float32: its mantissa, and 1.0


@serializable
class Uniforms(ConfiguredLayer):
    """Random numbers in [0, 1), a function of (seed, number of calls) alone, also under XLA.

    As in `Dropout`, the number of calls is a variable that is saved with the weights, so that a
    resumed training draws the same numbers as one that was never interrupted.

    Args:
      seed: integer, see `disan_tf.layers.dropout.site_seed`.

    Call arguments:
      shape: <int32>[rank]; the first number counts the rows of the batch.

    Returns:
      <float32> of that shape.

    Example:
      >>> Uniforms(seed=1)(tf.constant([2, 5])).shape
      TensorShape([2, 5])
    """

    def __init__(self, seed: int, **kwargs):
        super().__init__(**kwargs)
        self.seed = seed

    def build(self, input_shape):
        self.calls = add_count(self)
        super().build(input_shape)

    def call(self, shape):
        seed, share = next_seed(self.seed, self.calls), batch_share.current()
        if share is None:
            return _uniform(shape, seed)
        numbers = _uniform(tf.concat([[share.batch], shape[1:]], axis=0), seed)
        return numbers[share.first : share.first + share.rows]


def _uniform(shape, seed):
    """Computes the numbers of `tf.random.stateless_uniform` from its random bits.

    XLA draws the same bits as TensorFlow, but turns them into other numbers.
    """
    bits = tf.random.stateless_uniform(
        shape, seed, minval=None, maxval=None, dtype=tf.uint32, alg="philox"
    )
    mantissas = tf.bitwise.bitwise_and(bits, tf.constant(_MANTISSA, tf.uint32))
    from_1_to_2 = tf.bitwise.bitwise_or(mantissas, tf.constant(_ONE, tf.uint32))
    return tf.bitcast(from_1_to_2, tf.float32) - 1.0
