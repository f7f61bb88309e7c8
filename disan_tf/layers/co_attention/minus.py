"""Minus attention between two sentences."""

import tensorflow as tf

from disan_tf.layers.co_attention.base import PairAttention
from disan_tf.layers.linear import project
from disan_tf.layers.precision import cast_weight
from disan_tf.layers.serialization import serializable
from disan_tf.ops.co_attention_scores import additive_scores


@serializable
class MinusAttention(PairAttention):
    """Minus attention, multiway DRCN Eq. 12.

    e_ij = v^T tanh(W (first_i - second_j))

    As W distributes over the difference, it multiplies words and not pairs of words. W and v are
    initialised by Glorot's rule.

    Parameters: 40,200 for 200 dimensions, 10,100 for 100.

    Arguments, call arguments and result: see `PairAttention`; W is regularised.

    Example:
      >>> mask = tf.ones([2, 3], tf.bool)
      >>> MinusAttention()(tf.ones([2, 5, 8]), tf.ones([2, 3, 8]), second_mask=mask).shape
      TensorShape([2, 5, 8])
    """

    symmetry = -1.0  # tanh is odd

    def build(self, input_shape):
        dim = input_shape[-1]
        self.kernel = self.add_matrix("kernel", dim, dim)  # W_M
        self.vector = self.add_vector("vector", dim)  # v_M
        super().build(input_shape)

    def scores(self, first, second, masks=None):
        kernel = cast_weight(self.kernel, first.dtype)
        first, second = project(first, kernel), -project(second, kernel)
        return additive_scores(first, second, tf.cast(self.vector, tf.float32))
