"""Concatenation attention between two sentences."""

import tensorflow as tf

from disan_tf.layers.co_attention.base import PairAttention
from disan_tf.layers.linear import project
from disan_tf.layers.precision import converted
from disan_tf.ops.co_attention_scores import additive_scores


class ConcatenationAttention(PairAttention):
    """Concatenation attention, multiway DRCN Eq. 10.

    e_ij = v^T tanh(W [first_i; second_j])
         = v^T tanh(W_1 first_i + W_2 second_j)  with W = [W_1 W_2],

    so that W meets each word once, not each pair of words. (Eq. 8 and 10 print h_q with the index i
    instead of j; the second line is Eq. 7, which the paper takes for another function.) W, of one
    matrix for both words, and v start by Glorot's rule.

    200 dimensions: 80,200 parameters; 100 dimensions: 20,100.

    Args, call arguments, returns: see `PairAttention`; W is regularised.

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
        kernels = tf.split(converted(self.kernel, first.dtype), 2)
        products = (project(*each) for each in zip((first, second), kernels))
        return additive_scores(*products, tf.convert_to_tensor(self.vector))
