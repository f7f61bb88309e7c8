"""The attention functions between two sentences against multiway DRCN Eq. 4 and 9 to 12."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers.attention.pair import (
    BilinearAttention,
    ConcatenationAttention,
    CosineAttention,
    DotAttention,
    MinusAttention,
)
from tests.support.layers.contract import SequenceContract
from tests.support.layers.pair_attention import (
    CLASSES,
    DIM,
    FIRST,
    SECOND,
    SECOND_MASK,
    in_float64,
    randomised,
    reference,
)


@pytest.fixture(params=CLASSES)
def kind(request):
    return request.param


def _expected(layer, first=FIRST, second=SECOND, mask=SECOND_MASK):
    first, second, *weights = in_float64([first, second, *layer.trainable_weights])
    return reference(type(layer), first, second, mask, weights)


def test_it_is_its_equation(kind):
    layer = randomised(kind())
    contexts, weights = _expected(layer)
    actual = layer(FIRST, SECOND, SECOND_MASK)
    np.testing.assert_allclose(actual, contexts, rtol=1e-5, atol=1e-5)
    actual = layer.attention_weights(FIRST, SECOND, SECOND_MASK)
    assert actual.dtype == tf.float32
    np.testing.assert_allclose(actual, weights, rtol=1e-5, atol=1e-6)


def test_scores_of_both_ways_are_those_of_each_way(kind):
    layer = randomised(kind())
    forth, back = layer.mutual_scores(FIRST, SECOND)
    np.testing.assert_allclose(forth, layer.scores(FIRST, SECOND), rtol=1e-6)
    np.testing.assert_allclose(back, layer.scores(SECOND, FIRST), rtol=1e-5, atol=1e-6)


def test_without_a_mask_all_tokens_are_real(kind):
    layer, mask = randomised(kind()), tf.ones(SECOND.shape[:2], tf.bool)
    np.testing.assert_array_equal(layer(FIRST, SECOND), layer(FIRST, SECOND, mask))
    weights = layer.attention_weights(FIRST, SECOND)
    np.testing.assert_array_equal(weights, layer.attention_weights(FIRST, SECOND, mask))


def test_weights_are_those_of_sentences_in_the_layers_precision(kind):
    layer = randomised(kind(dtype=tf.keras.mixed_precision.Policy("mixed_bfloat16")))
    rounded = (tf.cast(sentence, tf.bfloat16) for sentence in (FIRST, SECOND))
    expected = layer.attention_weights(*rounded, SECOND_MASK)
    np.testing.assert_array_equal(layer.attention_weights(FIRST, SECOND, SECOND_MASK), expected)


@pytest.mark.parametrize("kind", [ConcatenationAttention, DotAttention, MinusAttention])
def test_weights_start_by_glorots_rule(kind):
    tf.keras.utils.set_random_seed(1)  # of 200 numbers, all can be far from the limit
    layer = kind()
    layer.build([None, None, 200])
    for weight in (layer.kernel, layer.vector):
        ends = weight.shape.as_list()
        limit = (6 / (ends[0] + ends[-1])) ** 0.5
        assert 0.95 * limit < np.abs(weight).max() <= np.float32(limit)


def test_the_bilinear_factor_starts_at_one():
    layer = BilinearAttention()
    layer.build([None, None, DIM])
    assert layer.factor.numpy() == 1.0


def test_a_word_that_is_zero_has_no_direction_and_gets_no_gradient():
    layer, words = CosineAttention(), tf.constant([[[0.0, 0.0], [3.0, 4.0], [0.0, 2.0]]])
    with tf.GradientTape() as tape:
        tape.watch(words)
        scores = layer.scores(words, words)
    np.testing.assert_allclose(scores[0], [[0, 0, 0], [0, 1, 0.8], [0, 0.8, 1]], atol=1e-6)
    gradient = tape.gradient(scores, words, tf.constant([[[1.0, 2.0, 3.0]] * 3])).numpy()
    assert np.isfinite(gradient).all() and gradient[0, 1:].any()
    np.testing.assert_array_equal(gradient[0, 0], [0.0, 0.0])


class PairAttentionContract(SequenceContract):
    """A sentence that attends to itself."""

    roundings = 12  # nothing scales the sums of products down

    def make(self, **options):
        return self.kind(**{"l2": 1e-4, "seed": 5, **options})

    def call(self, layer, x, mask, training=None):
        return layer(x, x, mask, training=training)


class TestBilinearAttention(PairAttentionContract):
    kind = BilinearAttention


class TestConcatenationAttention(PairAttentionContract):
    kind = ConcatenationAttention


class TestCosineAttention(PairAttentionContract):
    kind = CosineAttention


class TestDotAttention(PairAttentionContract):
    kind = DotAttention


class TestMinusAttention(PairAttentionContract):
    kind = MinusAttention
