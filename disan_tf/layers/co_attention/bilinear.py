"""Bilinear attention between two sentences."""

import tensorflow as tf

from disan_tf.layers.co_attention.base import PairAttention
from disan_tf.layers.linear import project
from disan_tf.layers.precision import converted


class BilinearAttention(PairAttention):
    """Bilinear attention, multiway DRCN Eq. 9.

    e_ij = v tanh(second_j^T W first_i)

    The paper prints v^T, but tanh is taken of a number, so v is one. It starts at 1, so that the
    scores lie between -1 and 1, like the cosine's; W starts by Glorot's rule. The products of W
    have the layer's precision, those of the pairs are float32.

    200 dimensions: 40,001 parameters; 100 dimensions: 10,001.

    Args, call arguments, returns: see `PairAttention`; W is regularised.

    Example:
      >>> mask = tf.ones([2, 3], tf.bool)
      >>> BilinearAttention()(tf.ones([2, 5, 8]), tf.ones([2, 3, 8]), second_mask=mask).shape
      TensorShape([2, 5, 8])
    """

    def build(self, input_shape):
        dim = input_shape[-1]
        self.kernel = self.add_matrix("kernel", dim, dim)  # W_B
        self.factor = self.add_weight("factor", [], None, "ones", experimental_autocast=False)
        super().build(input_shape)

    def scores(self, first, second, masks=None):
        second = project(second, converted(self.kernel, second.dtype))
        first, second = (tf.cast(sentence, tf.float32) for sentence in (first, second))
        return self.factor * tf.tanh(tf.matmul(first, second, transpose_b=True))
