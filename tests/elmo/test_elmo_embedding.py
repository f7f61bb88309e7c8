"""What an ELMo-fed model reads of a word."""

import numpy as np
import tensorflow as tf

from disan_tf.elmo.embedding import ElmoEmbedding
from tests.support.layers.contract import MaskContract
from tests.support.models.bilm import SIZES, batch, small_bilm, weights_of

OPTIONS = {**SIZES, "word_length": 50, "cell_clip": 0.6, "projection_clip": 0.4}
WORDS = {"trainable_words": 4, "fixed_words": 3, "dim": 2}
VECTORS = np.arange(14, dtype=np.float32).reshape(7, 2)


class TestElmoWords(MaskContract):
    """Fed with layers; the biLM has its own contract."""

    units = 8
    test_weight_decay_is_on_the_matrices = None  # it is on the logits of the mix

    def make(self, **options):
        mine = {"bilm": OPTIONS, "cached": True, "words": WORDS}
        return ElmoEmbedding(**{**mine, **options})

    def call(self, layer, x, mask, training=None):
        layers = tf.stack([x[:, :, :6], tf.sin(x[:, :, :6]), x[:, :, 2:8]], axis=2)
        return layer(tf.where(mask, 3, 0), layers, training=training)


def _words(**options):
    words = ElmoEmbedding(OPTIONS, **options)
    words.build(None)
    words.set_pretrained(VECTORS, weights_of(small_bilm()))
    return words


def _ids():
    characters, mask = batch()
    return tf.where(mask, 3, 0), characters, mask


def test_characters_give_the_mix_of_the_layers_and_so_do_the_layers():
    words, (ids, characters, mask) = _words(), _ids()
    layers = small_bilm()(characters, mask=mask)
    expected = words.mix(layers, mask=mask)
    np.testing.assert_allclose(words(ids, characters), expected, atol=1e-6)
    np.testing.assert_allclose(_words(cached=True)(ids, layers), expected, atol=1e-6)


def test_word_vectors_stand_after_the_mix():
    words, (ids, characters, _) = _words(words=WORDS), _ids()
    found = words(ids, characters).numpy()
    assert found.shape[-1] == 8
    np.testing.assert_array_equal(found[0, 0, 6:], [2.0, 3.0])  # id 3 is the second word
    np.testing.assert_allclose(found[..., :6], _words()(ids, characters), atol=1e-6)


def _gradients(words):
    ids, characters, _ = _ids()
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(tf.square(words(ids, characters, training=True)))
    return tape.gradient(total, words.trainable_weights)


def test_a_trainable_bilm_gets_gradients():
    words = _words(trainable_bilm=True)
    assert len(words.trainable_weights) == 2 + len(small_bilm().trainable_weights)
    assert all(np.any(tf.convert_to_tensor(gradient)) for gradient in _gradients(words))


def test_dropout_acts_only_where_the_bilm_is_trained():
    for trainable in (False, True):
        words, (ids, characters, _) = _words(trainable_bilm=trainable, dropout=0.5), _ids()
        same = np.array_equal(words(ids, characters, training=True), words(ids, characters))
        assert same != trainable
