"""What an ELMo-fed model reads of a word."""

import numpy as np
import tensorflow as tf

from disan_tf.elmo.embedding import ElmoEmbedding
from tests.support.layer_contract import MaskContract
from tests.support.small_bilm import SIZES, batch, small_bilm

OPTIONS = {**SIZES, "word_length": 50, "cell_clip": 0.6, "projection_clip": 0.4}
WORDS = {"trainable_words": 4, "fixed_words": 3, "dim": 2}


class TestElmoWords(MaskContract):
    """Fed with layers; the biLM has its own contract."""

    units = 8

    def make(self, **options):
        return ElmoEmbedding(**{"bilm": OPTIONS, "words": WORDS, "mix_l2": 0.1, **options})

    def call(self, layer, x, mask, training=None):
        layers = tf.stack([x[:, :, :6], tf.sin(x[:, :, :6]), x[:, :, 2:8]], axis=2)
        return layer(tf.where(mask, 3, 0), layers=layers, training=training)


def _words(**options):
    words = ElmoEmbedding(OPTIONS, **options)
    words.build(None)
    words.bilm.trainable = True  # or its weights had another order
    words.bilm.set_weights(small_bilm().get_weights())
    words.bilm.trainable = words.learns
    return words


def _ids():
    characters, mask = batch()
    return tf.where(mask, 3, 0), characters, mask


def test_characters_give_the_mix_of_the_layers_and_so_do_the_layers():
    words, (ids, characters, mask) = _words(), _ids()
    layers = small_bilm()(characters, mask=mask)
    expected = words.mix(layers, mask=mask)
    np.testing.assert_allclose(words(ids, characters), expected, atol=1e-6)
    np.testing.assert_allclose(words(ids, layers=layers), expected, atol=1e-6)


def test_word_vectors_stand_after_the_mix():
    words, (ids, characters, _) = _words(words=WORDS), _ids()
    words.set_vectors(np.arange(14, dtype=np.float32).reshape(7, 2))
    found = words(ids, characters).numpy()
    assert found.shape[-1] == 8
    np.testing.assert_array_equal(found[0, 0, 6:], [2.0, 3.0])  # id 3 is the second word
    np.testing.assert_allclose(found[..., :6], _words()(ids, characters), atol=1e-6)


def _gradients(words):
    ids, characters, _ = _ids()
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(tf.square(words(ids, characters, training=True)))
    return tape.gradient(total, words.trainable_weights)


def test_a_bilm_that_does_not_learn_has_no_trainable_weights():
    words = _words()
    assert {weight.name.split("/")[-1] for weight in words.trainable_weights} == {
        "logits:0",
        "gamma:0",
    }
    assert all(gradient is not None for gradient in _gradients(words))


def test_a_bilm_that_learns_gets_gradients():
    words = _words(learns=True)
    assert len(words.trainable_weights) == 2 + len(small_bilm().trainable_weights)
    assert all(np.any(tf.convert_to_tensor(gradient)) for gradient in _gradients(words))


def test_dropout_acts_only_where_the_bilm_learns():
    for learns in (False, True):
        words, (ids, characters, _) = _words(learns=learns, dropout=0.5), _ids()
        same = np.array_equal(words(ids, characters, training=True), words(ids, characters))
        assert same != learns
