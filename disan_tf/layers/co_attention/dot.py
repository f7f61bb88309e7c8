"""Dot attention between two sentences: the product of their words, feature by feature."""

import tensorflow as tf

from disan_tf.layers.co_attention.base import PairAttention
from disan_tf.layers.precision import cast_weight
from disan_tf.layers.serialization import serializable
from disan_tf.ops.co_attention_scores import product_scores
from disan_tf.ops.devices import on_host


@serializable
class DotAttention(PairAttention):
    """Dot attention, multiway DRCN Eq. 11.

    e_ij = v^T tanh(W (first_i * second_j))

    W multiplies every pair of words, which makes this the most expensive of the functions. W and v
    are initialised by Glorot's rule.

    Parameters: 40,200 for 200 dimensions, 10,100 for 100.

    Arguments, call arguments and result: see `PairAttention`; W is regularised.

    Example:
      >>> mask = tf.ones([2, 3], tf.bool)
      >>> DotAttention()(tf.ones([2, 5, 8]), tf.ones([2, 3, 8]), second_mask=mask).shape
      TensorShape([2, 5, 8])
    """

    symmetry = 1.0

    def build(self, input_shape):
        dim = input_shape[-1]
        self.kernel = self.add_matrix("kernel", dim, dim)  # W_D
        self.vector = self.add_vector("vector", dim)  # v_D
        super().build(input_shape)

    def scores(self, first, second, masks=None):
        kernel, vector = cast_weight(self.kernel, first.dtype), tf.cast(self.vector, tf.float32)
        with on_host():
            pairs = None if masks is None else masks[0][:, :, None] & masks[1][:, None]
        return product_scores(first, second, kernel, vector, pairs)
