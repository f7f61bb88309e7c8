"""Bilinear attention between two sentences."""

import tensorflow as tf

from disan_tf.layers.co_attention.base import PairAttention
from disan_tf.layers.linear import project
from disan_tf.layers.precision import cast_weight
from disan_tf.layers.serialization import serializable


@serializable
class BilinearAttention(PairAttention):
    """Bilinear attention, multiway DRCN Eq. 9.

    e_ij = v tanh(second_j^T W first_i)

    The paper prints v^T, but its tanh is of a number, so v is a number too. It is initialised to 1,
    so that scores lie between -1 and 1 like the cosine's, and W by Glorot's rule. Products with W
    have the layer's precision, products between words are float32.

    Parameters: 40,001 for 200 dimensions, 10,001 for 100.

    Arguments, call arguments and result: see `PairAttention`; W is regularised.

    Example:
      >>> mask = tf.ones([2, 3], tf.bool)
      >>> BilinearAttention()(tf.ones([2, 5, 8]), tf.ones([2, 3, 8]), second_mask=mask).shape
      TensorShape([2, 5, 8])
    """

    def build(self, input_shape):
        dim = input_shape[-1]
        self.kernel = self.add_matrix("kernel", dim, dim)  # W_B
        self.factor = self.add_uncast_weight("factor", [], "ones")  # v_B
        super().build(input_shape)

    def scores(self, first, second, masks=None):
        second = project(second, cast_weight(self.kernel, second.dtype))
        first, second = (tf.cast(sentence, tf.float32) for sentence in (first, second))
        return tf.cast(self.factor, tf.float32) * tf.tanh(
            tf.matmul(first, second, transpose_b=True)
        )
