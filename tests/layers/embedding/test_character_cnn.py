"""Vectors of words from their characters, against a loop over the windows in NumPy."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers.embedding.characters import CharacterCNN
from tests.support.layers.contract import BAD_DROPOUT, ROUNDING, LayerContract
from tests.support.layers.weights import built

IDS, UNITS, DIM = 7, 3, 4
WORDS = np.array(  # two sentences; id 0 is padding
    [
        [[1, 2, 3, 4, 5, 6], [2, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]],
        [[3, 3, 3, 0, 0, 0], [1, 2, 3, 4, 5, 6], [6, 5, 0, 0, 0, 0]],
    ],
    np.int32,
)


class TestCharacterCNN(LayerContract):
    kind = CharacterCNN
    arguments = {"characters": IDS, "units": 6, "dim": DIM, "width": 3}
    reduces = True  # a batch of words is [batch, word length]
    units = 6
    bad_arguments = (*BAD_DROPOUT, {"characters": 1}, {"width": 0})

    def inputs(self):
        _, mask = super().inputs()
        ids = np.random.default_rng(1).integers(1, IDS, size=mask.shape)
        return tf.constant(np.where(mask, ids, 0), tf.int32), mask


def _layer(width=5, **options):
    """A layer with random weights."""
    return built(CharacterCNN(IDS, UNITS, DIM, width, **options), None, seed=8)


def _expected(layer, words=WORDS):
    """w of every word in float64."""
    vectors, kernel = (it.numpy().astype(np.float64) for it in layer.trainable_weights[:2])
    table = np.concatenate([np.zeros([1, DIM]), vectors])
    before = (layer.width - 1) // 2
    result = np.zeros([*words.shape[:-1], UNITS])
    for place in np.ndindex(words.shape[:-1]):
        padded = np.pad(table[words[place]], [[before, layer.width // 2], [0, 0]])
        for t in np.flatnonzero(words[place]):
            product = np.einsum("kd,kdu->u", padded[t : t + layer.width], kernel)
            product += layer.convolution.bias.numpy()
            result[place] = np.maximum(result[place], product)
    return result


@pytest.mark.parametrize("width", [1, 2, 5, 9])
def test_it_is_the_greatest_positive_product_of_a_window_around_a_character(width):
    layer = _layer(width)
    expected = _expected(layer)
    assert np.any(expected)
    np.testing.assert_allclose(layer(tf.constant(WORDS)), expected, rtol=1e-5, atol=1e-5)


def test_a_word_without_characters_is_exactly_zero_whatever_the_bias():
    layer = _layer()
    layer.convolution.bias.assign([5.0, 6.0, 7.0])
    np.testing.assert_array_equal(layer(tf.constant(WORDS))[0, 2], np.zeros(UNITS))
    np.testing.assert_array_equal(layer(tf.zeros([2, 3, 4], tf.int32)), np.zeros([2, 3, UNITS]))


@pytest.mark.parametrize("policy", ["float32", "mixed_bfloat16"])
def test_more_padding_of_words_and_sentences_changes_nothing(policy):
    layer = _layer(dtype=tf.keras.mixed_precision.Policy(policy))
    expected = layer(tf.constant(WORDS)).numpy().astype(np.float32)
    actual = layer(tf.pad(WORDS, [[0, 0], [0, 2], [0, 9]])).numpy().astype(np.float32)
    np.testing.assert_allclose(actual[:, :3], expected, rtol=ROUNDING[policy], atol=1e-6)
    np.testing.assert_array_equal(actual[:, 3:], np.zeros([2, 2, UNITS]))


def test_dropout_acts_on_the_result_of_every_word_by_itself():
    layer = _layer(dropout=0.5)
    word = tf.constant(np.tile(WORDS[0, 0], [4, 50, 1]))
    ratios = layer(word, training=True) / layer(word)
    np.testing.assert_allclose(np.unique(np.round(ratios[~np.isnan(ratios)], 5)), [0.0, 2.0])
    assert 0.4 < np.nanmean(ratios) / 2 < 0.6
    assert len(np.unique(np.nan_to_num(ratios), axis=1)[0]) > 1


def test_vectors_start_standard_normal_the_matrix_by_glorots_rule_and_the_bias_at_zero():
    layer = CharacterCNN(400, units=40, dim=30)
    layer.build(None)
    np.testing.assert_allclose([np.mean(layer.vectors), np.std(layer.vectors)], [0, 1], atol=0.03)
    limit = (6 / (5 * 30 + 5 * 40)) ** 0.5
    assert 0.99 * limit < np.abs(layer.convolution.kernel).max() <= np.float32(limit)
    assert not np.any(layer.convolution.bias)
