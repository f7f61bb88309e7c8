"""The base class of attention functions between two sentences."""

import tensorflow as tf

from disan_tf.layers.base import BaseLayer
from disan_tf.layers.keras_layer import output_shape
from disan_tf.layers.pooling import weighted_sums
from disan_tf.ops import masked_softmax


class PairAttention(BaseLayer):
    """Base of the multiway DRCN's attention functions, Eq. 4 and 9 to 12.

    e_ij = a function of first_i and second_j that the subclass defines
    alpha_ij = softmax over the words j of the second sentence of e_ij
    a_i = sum_j alpha_ij second_j

    The softmax and the sum are computed in float32. A subclass defines `scores`, and creates its
    weights in `build` before it calls `super().build`.

    Args:
      l2: see `BaseLayer`; matrices are regularised, vectors are not.
      dropout, seed: see `BaseLayer`; like the paper, these layers have no dropout.

    Call arguments:
      first: <float>[batch, first length, dim], the sentence that attends.
      second: <float>[batch, second length, dim], finite on padding too.
      second_mask: <bool>[batch, second length], True = real token.
      training: has no effect here.

    Returns:
      a, <float>[batch, first length, dim], also on padding of `first`; exactly 0 if the second
      sentence has no tokens.
    """

    keeps_tokens = False

    # s if the scores of (second, first) are s times the transposed scores of (first, second).
    symmetry = None

    def add_matrix(self, name: str, rows: int, columns: int) -> tf.Variable:
        """Adds a regularised matrix <float32>[rows, columns], initialised by Glorot's rule."""
        return self.add_uncast_weight(name, [rows, columns], "glorot_uniform", self.l2)

    def add_vector(self, name: str, dim: int) -> tf.Variable:
        """Adds a vector <float32>[dim], initialised by Glorot's rule, fan-in and fan-out `dim`."""
        return self.add_uncast_weight(name, [dim], "glorot_uniform")

    def scores(self, first, second, masks=None) -> tf.Tensor:
        """Computes e, <float32>[batch, first length, second length]; inputs have the compute dtype.

        If the `masks` of both sentences are given, scores of padding may be any finite number.
        """
        raise NotImplementedError

    def mutual_scores(self, first, second, masks=None) -> tuple:
        """Computes the `scores` of (first, second) and of (second, first)."""
        scores = self.scores(first, second, masks)
        if self.symmetry is None:
            reverse = None if masks is None else masks[::-1]
            return scores, self.scores(second, first, reverse)
        return scores, self.symmetry * tf.transpose(scores, [0, 2, 1])

    def compute_output_shape(self, input_shape):
        return output_shape(input_shape)

    def call(self, first, second, second_mask, training=None):
        second = tf.cast(second, first.dtype)  # Keras casts only the first argument
        return weighted_sums(self.attention_weights(first, second, second_mask), second)

    def attention_weights(self, first, second, second_mask):
        """Returns alpha, <float32>[batch, first length, second length]; sums to 1 over `second`."""
        pair = (tf.cast(sentence, self.compute_dtype) for sentence in (first, second))
        return masked_softmax(self.scores(*pair), second_mask[:, None], axis=2)
