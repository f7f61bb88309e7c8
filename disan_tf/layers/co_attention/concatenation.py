"""Concatenation attention between two sentences."""

import tensorflow as tf

from disan_tf.layers.co_attention.base import PairAttention
from disan_tf.layers.linear import project
from disan_tf.layers.precision import cast_weight
from disan_tf.layers.serialization import serializable
from disan_tf.ops.co_attention_scores import additive_scores


@serializable
class ConcatenationAttention(PairAttention):
    """Concatenation attention, multiway DRCN Eq. 10.

    e_ij = v^T tanh(W [first_i; second_j])
         = v^T tanh(W_1 first_i + W_2 second_j)   with W = [W_1 W_2]

    The second line multiplies words, not pairs of words, by W. It is the paper's Eq. 7, which the
    paper treats as a different function. (Eq. 8 and 10 print h_q with the index i for j.) W, as
    one matrix for both words, and v are initialised by Glorot's rule.

    Parameters: 80,200 for 200 dimensions, 20,100 for 100.

    Arguments, call arguments and result: see `PairAttention`; W is regularised.

    Example:
      >>> mask = tf.ones([2, 3], tf.bool)
      >>> ConcatenationAttention()(tf.ones([2, 5, 8]), tf.ones([2, 3, 8]), second_mask=mask).shape
      TensorShape([2, 5, 8])
    """

    def build(self, input_shape):
        dim = input_shape[-1]
        self.kernel = self.add_matrix("kernel", 2 * dim, dim)  # W_Ca
        self.vector = self.add_vector("vector", dim)  # v_Ca
        super().build(input_shape)

    def scores(self, first, second, masks=None):
        kernel_1, kernel_2 = tf.split(cast_weight(self.kernel, first.dtype), 2)
        first, second = project(first, kernel_1), project(second, kernel_2)
        return additive_scores(first, second, tf.cast(self.vector, tf.float32))
