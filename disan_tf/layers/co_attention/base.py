"""What the attention functions between two sentences share: one softmax for each word."""

import tensorflow as tf

from disan_tf.layers.base import BaseLayer
from disan_tf.layers.linear import decay
from disan_tf.ops import masked_softmax


class PairAttention(BaseLayer):
    """Base of the attention functions of the multiway DRCN, Eq. 4 and 9 to 12.

    alpha_ij = softmax over the tokens j of the second sentence of e_ij,
    a_i = sum_j alpha_ij second_j.

    The softmax and its sum are float32. A subclass defines `scores`, and creates its weights in
    `build`, before it calls the base's.

    Args:
      l2: see `BaseLayer`; matrices are regularised, vectors are not.
      dropout, seed: see `BaseLayer`; as in the paper nothing is dropped here.

    Call arguments:
      first: <float>[batch, first length, dim], the sentence that attends.
      second: <float>[batch, second length, dim], finite on padding too.
      second_mask: <bool>[batch, second length], True = real token.
      training: whether the model trains; it does not matter here.

    Returns:
      a, <float>[batch, first length, dim], on padding of `first` too; exactly 0 where the second
      sentence has no token.
    """

    # What e_ij must be multiplied by when the sentences change places, if that is all that happens.
    symmetry = None

    def add_matrix(self, name: str, rows: int, columns: int) -> tf.Variable:
        """A matrix that decays, <float32>[rows, columns], started by Glorot's rule."""
        return self.add_weight(
            name, [rows, columns], None, "glorot_uniform", decay(self.l2),
            experimental_autocast=False,
        )  # fmt: skip

    def add_vector(self, name: str, dim: int) -> tf.Variable:
        """A vector <float32>[dim], started by Glorot's rule with `dim` inputs and outputs."""
        return self.add_weight(name, [dim], None, "glorot_uniform", experimental_autocast=False)

    def scores(self, first, second, masks=None) -> tf.Tensor:
        """e, <float32>[batch, first length, second length], of sentences in the compute dtype.

        `masks` of both, if they are given, allow any finite score of padding.
        """
        raise NotImplementedError

    def mutual_scores(self, first, second, masks=None) -> tuple:
        """e of the first sentence that attends to the second, and of the second to the first.

        Where one is the other's transpose, but for its sign, it is computed once.
        """
        scores = self.scores(first, second, masks)
        if self.symmetry is None:
            reverse = None if masks is None else masks[::-1]
            return scores, self.scores(second, first, reverse)
        return scores, self.symmetry * tf.transpose(scores, [0, 2, 1])

    def call(self, first, second, second_mask, training=None):
        second = tf.cast(second, first.dtype)  # Keras casts the first argument alone
        return average(self.weights_of(first, second, second_mask), second)

    def weights_of(self, first, second, second_mask):
        """alpha, <float32>[batch, first length, second length]; sums to 1 over the second."""
        pair = (tf.cast(sentence, self.compute_dtype) for sentence in (first, second))
        return masked_softmax(self.scores(*pair), second_mask[:, None], axis=2)


def average(weights: tf.Tensor, second: tf.Tensor) -> tf.Tensor:
    """sum_j weights_ij second_j, computed in float32.

    Args:
      weights: <float32>[batch, first length, second length].
      second: <float>[batch, second length, dim].

    Returns:
      <float>[batch, first length, dim], the dtype of `second`.
    """
    return tf.cast(tf.matmul(weights, tf.cast(second, tf.float32)), second.dtype)
