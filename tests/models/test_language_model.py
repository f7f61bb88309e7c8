"""A biLM that predicts words: which word each layer predicts, and what is made of the losses."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers.embedding.characters import WordBytes
from disan_tf.layers.heads.word_softmax import WordSoftmax
from disan_tf.models import LanguageModel
from tests.support.layers.weights import draw_weights
from tests.support.models.bilm import batch, layers_of, small_bilm

SENTENCES = [["one", "two", "three"], ["two"], ["three", "one"]]
IDS = tf.constant([[2, 3, 4], [3, 0, 0], [1, 2, 0]])  # the second "three" is unknown
CLASSES = 6  # begin, end, unknown, three words


@pytest.fixture(scope="module")
def model():
    model = LanguageModel(WordBytes(50), small_bilm(), WordSoftmax(CLASSES, 5, name="head"))
    model(*model.zeros())
    draw_weights(model.head.trainable_weights, seed=6)
    return model


def _loss(model, h, word):
    logits = model.head.kernel.numpy() @ h + model.head.bias.numpy()
    return np.log(np.exp(logits).sum()) - logits[word]


def _expected(model, sentence, ids):
    """Sums of both directions, with the outputs at the markers from a longer sentence's inside."""
    layers = _with_markers(model.encoder, sentence)
    forward, backward = np.split(layers[:, -1], 2, axis=1)
    words = [0, *(np.array(ids) + 1), 1]
    losses = [
        sum(_loss(model, forward[k], words[k + 1]) for k in range(len(words) - 1)),
        sum(_loss(model, backward[k], words[k - 1]) for k in range(1, len(words))),
    ]
    return [*losses, len(words) - 1]


def _with_markers(bilm, sentence):
    characters, mask = batch([sentence])
    x, real = bilm.encode_tokens(characters, mask)
    inner, _ = layers_of(bilm, sentence)
    layers = bilm.read(x, real)[0][0].numpy()
    np.testing.assert_allclose(layers[1:-1], inner, rtol=1e-4, atol=1e-5)
    return layers


def test_each_direction_predicts_the_next_word_on_its_way(model):
    outputs = model(IDS, batch(SENTENCES)[0]).numpy()
    for row, sentence, ids in zip(outputs, SENTENCES, IDS.numpy()):
        expected = _expected(model, sentence, ids[ids > 0])
        np.testing.assert_allclose(row, expected, rtol=1e-4)


def test_what_is_predicted_is_never_read(model):
    """Other characters of a word change no loss of that word, or of those on the way to it.

    The boundary at the end of the way is left out: all words are read before it.
    """
    ids, losses = tf.constant([[2, 3]]), []
    for sentence in (["one", "two"], ["one", "four"], ["five", "two"]):
        losses.append(model(ids, batch([sentence])[0]).numpy()[0, :2])
        losses[-1] -= [_loss_at(model, sentence, direction) for direction in (0, 1)]
    np.testing.assert_allclose(losses[0][0], losses[1][0], rtol=2e-5)
    np.testing.assert_allclose(losses[0][1], losses[2][1], rtol=2e-5)
    assert abs(losses[0][0] - losses[2][0]) > 1e-3 < abs(losses[0][1] - losses[1][1])


def _loss_at(model, sentence, direction):
    """The loss of the last word on the way of a direction, the boundary."""
    h = np.split(_with_markers(model.encoder, sentence)[:, -1], 2, axis=1)[direction]
    return _loss(model, h[1 if direction else -2], 0 if direction else 1)


def test_more_padding_changes_nothing(model):
    characters, _ = batch(SENTENCES)
    padded = tf.pad(IDS, [[0, 0], [0, 3]]), tf.pad(characters, [[0, 0], [0, 3], [0, 0]])
    np.testing.assert_allclose(model(*padded), model(IDS, characters), rtol=1e-5)


def test_the_loss_is_the_mean_over_words_and_directions(model):
    outputs = tf.constant([[6.0, 8.0, 4.0], [2.0, 4.0, 1.0]])
    assert float(model.batch_loss(outputs, None)) == pytest.approx(20 / 10)
    scores = model.scores(outputs.numpy(), None)
    assert scores["perplexity"] == pytest.approx(np.exp(2.0))
    assert scores["forward_perplexity"] == pytest.approx(np.exp(8 / 5))
    assert scores["backward_perplexity"] == pytest.approx(np.exp(12 / 5))
    assert scores["log_likelihood"] == pytest.approx(-2.0)


def test_in_training_the_sum_over_all_words_is_estimated(model):
    characters, _ = batch(SENTENCES)
    trained = [model(IDS, characters, training=True).numpy() for _ in range(2)]
    assert np.any(trained[0] != trained[1])
    np.testing.assert_array_equal(trained[0][:, 2], [4, 2, 3])
