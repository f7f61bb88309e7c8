"""Attention between the words of two sentences: the five functions of the multiway DRCN."""

from typing import Optional

import tensorflow as tf

from disan_tf.layers.base import BaseLayer
from disan_tf.layers.keras_layer import output_shape
from disan_tf.layers.linear import cast_weight, project
from disan_tf.layers.serialization import PAIR_AXES, serializable
from disan_tf.layers.tokens import token_mask, weighted_sums
from disan_tf.ops import masked_softmax
from disan_tf.ops.co_attention_scores import additive_scores, product_scores
from disan_tf.ops.masked_softmax import at_least_float32
from disan_tf.ops.tracing import on_host

MIN_SQUARED_NORM = 1e-24  # a shorter vector counts as 0: its gradient would explode


_Masks = Optional[tuple[tf.Tensor, tf.Tensor]]


class PairAttention(BaseLayer):
    """Base of the multiway DRCN's attention functions, Eq. 4 and 9 to 12.

    e_ij = a function of first_i and second_j that the subclass defines
    alpha_ij = softmax over the words j of the second sentence of e_ij
    a_i = sum_j alpha_ij second_j

    The softmax and the sum are computed in at least float32. A subclass defines `scores`, and
    creates its weights in `build` before it calls `super().build`; matrices and vectors are
    initialised by Glorot's rule.

    Args:
      l2: see `BaseLayer`; matrices are regularised, vectors are not.
      dropout, seed: see `BaseLayer`; like the paper, these layers have no dropout.

    Call arguments:
      first: <float>[batch, first length, dim], the sentence that attends.
      second: <float>[batch, second length, dim], finite on padding too.
      second_mask: <bool>[batch, second length], True = real token; None = all are real.
      training: has no effect here.

    Returns:
      a, <float>[batch, first length, dim], also on padding of `first`; exactly 0 if the second
      sentence has no tokens. Keras passes no mask on; give later layers the mask.
    """

    keeps_tokens = False

    # s if the scores of (second, first) are s times the transposed scores of (first, second).
    symmetry: Optional[float] = None

    def scores(
        self,
        first: tf.Tensor,
        second: tf.Tensor,
        masks: _Masks = None,
    ) -> tf.Tensor:
        """Computes e, <float32>[batch, first length, second length]; inputs have the compute dtype.

        If the `masks` of both sentences are given, scores of padding may be any finite number.
        """
        raise NotImplementedError

    def mutual_scores(
        self,
        first: tf.Tensor,
        second: tf.Tensor,
        masks: _Masks = None,
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Computes the `scores` of (first, second) and of (second, first)."""
        scores = self.scores(first, second, masks)
        if self.symmetry is None:
            reverse = None if masks is None else masks[::-1]
            return scores, self.scores(second, first, reverse)
        return scores, self.symmetry * tf.transpose(scores, [0, 2, 1])

    def input_axes(self) -> dict[str, tuple[str, ...]]:
        return PAIR_AXES

    def compute_output_shape(self, input_shape: tf.TensorShape) -> tf.TensorShape:
        return output_shape(input_shape)

    def call(
        self,
        first: tf.Tensor,
        second: tf.Tensor,
        second_mask: Optional[tf.Tensor] = None,
        training: Optional[bool] = None,
    ) -> tf.Tensor:
        second = tf.cast(second, first.dtype)  # Keras casts only the first argument
        return weighted_sums(self.attention_weights(first, second, second_mask), second)

    def attention_weights(
        self, first: tf.Tensor, second: tf.Tensor, second_mask: Optional[tf.Tensor] = None
    ) -> tf.Tensor:
        """Returns alpha, <float32>[batch, first length, second length]; each row sums to 1.

        For the arguments see `call`.
        """
        pair = (tf.cast(sentence, self.compute_dtype) for sentence in (first, second))
        mask = token_mask(second, second_mask)
        return masked_softmax(self.scores(*pair), mask[:, None], axis=2)


@serializable
class CosineAttention(PairAttention):
    """Cosine attention, multiway DRCN Eq. 4, the only function of the original DRCN.

    e_ij = cos(first_i, second_j)

    in float32; 0 if one of the two vectors is 0. The function has no parameters.
    """

    symmetry = 1.0

    def scores(
        self,
        first: tf.Tensor,
        second: tf.Tensor,
        masks: _Masks = None,
    ) -> tf.Tensor:
        return tf.matmul(_unit(first), _unit(second), transpose_b=True)


@serializable
class BilinearAttention(PairAttention):
    """Bilinear attention, multiway DRCN Eq. 9.

    e_ij = v tanh(second_j^T W first_i)

    The paper prints v^T, but its tanh is of a number, so v is a number too. It is initialised to 1,
    so that scores lie between -1 and 1, like cosines. Products with W have the layer's
    precision, products between words are float32. 200 dimensions: 40,001 parameters.
    """

    def build(self, input_shape: tf.TensorShape) -> None:
        dim = input_shape[-1]
        self.kernel = self.add_uncast_weight("kernel", [dim, dim], "glorot_uniform", self.l2)  # W_B
        self.factor = self.add_uncast_weight("factor", [], "ones")  # v_B
        super().build(input_shape)

    def scores(
        self,
        first: tf.Tensor,
        second: tf.Tensor,
        masks: _Masks = None,
    ) -> tf.Tensor:
        second = project(second, cast_weight(self.kernel, second.dtype))
        first, second = (at_least_float32(sentence) for sentence in (first, second))
        products = tf.matmul(first, second, transpose_b=True)
        return at_least_float32(self.factor) * tf.tanh(products)


class _ScoredByVector(PairAttention):
    """Base of the functions v^T tanh(W ...)."""

    words = 1  # number of words that a row of W multiplies

    def build(self, input_shape: tf.TensorShape) -> None:
        dim = input_shape[-1]
        shape = [self.words * dim, dim]
        self.kernel = self.add_uncast_weight("kernel", shape, "glorot_uniform", self.l2)  # W
        self.vector = self.add_uncast_weight("vector", [dim], "glorot_uniform")  # v
        super().build(input_shape)


@serializable
class ConcatenationAttention(_ScoredByVector):
    """Concatenation attention, multiway DRCN Eq. 10.

    e_ij = v^T tanh(W [first_i; second_j])
         = v^T tanh(W_1 first_i + W_2 second_j)   with W = [W_1 W_2]

    The second line multiplies words, not pairs of words, by W. It is the paper's Eq. 7, which the
    paper treats as a different function. (Eq. 8 and 10 print h_q with the index i for j.) W is
    initialised as one matrix for both words. 200 dimensions: 80,200 parameters.
    """

    words = 2

    def scores(
        self,
        first: tf.Tensor,
        second: tf.Tensor,
        masks: _Masks = None,
    ) -> tf.Tensor:
        kernel_1, kernel_2 = tf.split(cast_weight(self.kernel, first.dtype), 2)
        first, second = project(first, kernel_1), project(second, kernel_2)
        return additive_scores(first, second, at_least_float32(self.vector))


@serializable
class DotAttention(_ScoredByVector):
    """Dot attention, multiway DRCN Eq. 11.

    e_ij = v^T tanh(W (first_i * second_j))

    W multiplies every pair of words, which makes this the most expensive of the functions. 200
    dimensions: 40,200 parameters.
    """

    symmetry = 1.0

    def scores(
        self,
        first: tf.Tensor,
        second: tf.Tensor,
        masks: _Masks = None,
    ) -> tf.Tensor:
        kernel, vector = cast_weight(self.kernel, first.dtype), at_least_float32(self.vector)
        with on_host():
            pairs = None if masks is None else masks[0][:, :, None] & masks[1][:, None]
        return product_scores(first, second, kernel, vector, pairs)


@serializable
class MinusAttention(_ScoredByVector):
    """Minus attention, multiway DRCN Eq. 12.

    e_ij = v^T tanh(W (first_i - second_j))

    As W distributes over the difference, it multiplies words and not pairs of words. 200
    dimensions: 40,200 parameters.
    """

    symmetry = -1.0  # tanh is odd

    def scores(
        self,
        first: tf.Tensor,
        second: tf.Tensor,
        masks: _Masks = None,
    ) -> tf.Tensor:
        kernel = cast_weight(self.kernel, first.dtype)
        first, second = project(first, kernel), -project(second, kernel)
        return additive_scores(first, second, at_least_float32(self.vector))


def _unit(x: tf.Tensor) -> tf.Tensor:
    """Computes x / ||x||, <float32>[..., dim]; 0, without a gradient, where ||x|| is 0."""
    x = at_least_float32(x)
    square = tf.reduce_sum(tf.square(x), axis=-1, keepdims=True)
    has_norm = square > MIN_SQUARED_NORM
    return x * tf.where(has_norm, tf.math.rsqrt(tf.where(has_norm, square, 1.0)), 0.0)
