"""DRCN's words: which part stands where, and which is trained."""

from functools import partial

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers.embedding.characters import WordBytes, WordCharacterEmbedding

DIM, UNITS = 3, 4
IDS = tf.constant([[2, 5, 0], [3, 1, 2]])
CHARACTERS = tf.constant([[[7, 8], [9, 0], [0, 0]], [[7, 8], [5, 0], [7, 8]]])
MATCH = tf.constant([[1, 0, 0], [0, 0, 1]])
VECTORS = np.arange(12, dtype=np.float32).reshape(4, DIM)


@pytest.fixture
def layer():
    tf.keras.utils.set_random_seed(1)  # by chance a word has no character that a map answers to
    layer = WordCharacterEmbedding(3, 1, DIM, character_units=UNITS)
    layer(IDS, CHARACTERS, MATCH)
    layer.set_pretrained(VECTORS)
    return layer


def test_the_words_have_the_mask_of_their_ids(layer):
    np.testing.assert_array_equal(layer(IDS, CHARACTERS, MATCH)._keras_mask, IDS != 0)


@pytest.mark.parametrize("kind", [WordBytes, partial(WordCharacterEmbedding, 3, 1, DIM)])
def test_words_have_at_most_1000_characters(kind):
    with pytest.raises(ValueError, match="word_length=1001 must be at most 1,000"):
        kind(word_length=1001)


def test_two_copies_characters_and_the_flag_stand_side_by_side(layer):
    words = layer(IDS, CHARACTERS, MATCH).numpy()
    assert words.shape == (2, 3, 2 * DIM + UNITS + 1)
    np.testing.assert_array_equal(words[0, 0, :DIM], VECTORS[0])
    np.testing.assert_array_equal(words[0, 1, DIM : 2 * DIM], VECTORS[3])
    np.testing.assert_array_equal(words[:, :, 2 * DIM : -1], layer.spelling(CHARACTERS))
    np.testing.assert_array_equal(words[:, :, -1], MATCH)


def test_padding_is_0_and_the_unknown_word_has_its_characters(layer):
    words = layer(IDS, CHARACTERS, MATCH).numpy()
    assert not words[0, 2].any()
    assert not words[1, 1, : 2 * DIM].any() and words[1, 1, 2 * DIM : -1].any()


def test_one_copy_is_trained(layer):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(IDS, CHARACTERS, MATCH))
    assert any(weight is layer.learned.trained for weight in layer.trainable_weights)
    assert not layer.constant.trainable_weights
    gradients = tape.gradient(loss, layer.trainable_weights)
    assert all(gradient is not None for gradient in gradients)


def test_the_fixed_copy_stays_fixed_if_the_layer_is_unfrozen(layer):
    for trainable in (False, True):
        layer.trainable = trainable
    assert layer.learned.trainable_weights and not layer.constant.trainable_weights


def test_its_config_makes_it_again(layer):
    again = WordCharacterEmbedding.from_config(layer.get_config())
    again(IDS, CHARACTERS, MATCH)
    again.set_weights(layer.get_weights())
    np.testing.assert_array_equal(again(IDS, CHARACTERS, MATCH), layer(IDS, CHARACTERS, MATCH))
