"""The losses of predicted words."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers.heads import word_softmax
from disan_tf.layers.heads.word_softmax import WordSoftmax
from tests.support.layers.weights import built

CLASSES, DIM, TOKENS = 12, 5, 7
GENERATOR = np.random.default_rng(4)
H = tf.constant(GENERATOR.normal(size=[TOKENS, DIM]), tf.float32)
WORDS = tf.constant(GENERATOR.integers(0, CLASSES, TOKENS), tf.int32)


def _layer(**options):
    return built(WordSoftmax(CLASSES, **options), [None, DIM], seed=5)


def _expected(layer):
    logits = H.numpy().astype(np.float64) @ layer.kernel.numpy().T + layer.bias.numpy()
    return np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(TOKENS), WORDS]


def test_without_training_it_is_the_whole_softmax():
    layer = _layer()
    np.testing.assert_allclose(layer(H, WORDS), _expected(layer), rtol=1e-5)


@pytest.mark.parametrize("slice_, tokens", [(1, TOKENS), (3, TOKENS), (100, 1), (3, 0)])
def test_all_words_are_summed_for_slices_of_the_tokens(monkeypatch, slice_, tokens):
    layer = _layer()
    monkeypatch.setattr(word_softmax, "SLICE", slice_)
    for call in (layer, tf.function(layer)):
        losses = call(H[:tokens], WORDS[:tokens])
        np.testing.assert_allclose(losses, _expected(layer)[:tokens], rtol=1e-5)


def test_the_estimate_comes_near_with_many_draws():
    layer = _layer(negatives=200_000)
    layer.set_counts(np.arange(CLASSES) + 1)
    np.testing.assert_allclose(layer(H, WORDS, training=True), _expected(layer), atol=0.05)


def test_rare_words_keep_their_frequency_among_millions():
    layer = WordSoftmax(40_000)
    layer.build([None, 1])
    counts = np.concatenate([[3_000_000], np.ones(39_999)])
    layer.set_counts(counts)
    rare = layer.frequencies(tf.range(1, 40_000)).numpy()
    np.testing.assert_allclose(rare, 1 / counts.sum(), rtol=1e-4)


def test_draws_are_a_function_of_the_seed_and_the_call():
    first, second, other = (_layer(negatives=3, seed=seed) for seed in (1, 1, 2))
    losses = [first(H, WORDS, training=True).numpy() for _ in range(2)]
    again = [second(H, WORDS, training=True).numpy() for _ in range(2)]
    np.testing.assert_array_equal(losses, again)
    assert np.any(losses[0] != losses[1])
    assert np.any(losses[0] != other(H, WORDS, training=True))


@pytest.mark.parametrize("policy", ["float32", "mixed_float16"])
def test_losses_are_float32_and_move_every_weight(policy):
    layer = _layer(negatives=50, dropout=0.2, dtype=tf.keras.mixed_precision.Policy(policy))
    with tf.GradientTape() as tape:
        losses = layer(H, WORDS, training=True)
    assert losses.dtype == tf.float32 and losses.shape == [TOKENS]
    for gradient in tape.gradient(losses, layer.trainable_weights):
        assert np.any(tf.convert_to_tensor(gradient))


@pytest.mark.parametrize("bad", [{"classes": 0}, {"negatives": 0}])
def test_bad_arguments_are_refused_by_name(bad):
    with pytest.raises(ValueError, match=f"{next(iter(bad))}=0 must be at least 1"):
        WordSoftmax(**{"classes": 3, **bad})
