"""Recurrent layers against TensorFlow 1's cells in NumPy."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import BasicGRU, BasicLSTM, Source2Token
from disan_tf.layers.recurrent import BasicRNN
from disan_tf.layers.tokens import real_tokens
from tests.support.layers.contract import BAD_DROPOUT, MaskContract
from tests.support.layers.small import MASK, UNITS, X, randomised, sigmoid, states_of


@pytest.fixture(params=[BasicLSTM, BasicGRU, BasicRNN])
def kind(request):
    return request.param


@pytest.mark.parametrize(
    "kind, units, fans", [(BasicLSTM, 300, 600 + 1200), (BasicRNN, 100, 400 + 100)]
)
def test_the_joined_matrix_starts_by_glorots_rule_and_the_bias_at_zero(kind, units, fans):
    layer = kind(units)
    layer.build([None, None, 300])
    limit = (6 / fans) ** 0.5
    assert 0.99 * limit < np.abs(layer.kernel).max() <= np.float32(limit)
    assert not np.any(layer.bias)


def test_dropout_acts_on_the_input_alone(kind):
    layer = randomised(kind(UNITS, dropout=0.5))
    layer.input_dropout.keep = lambda entries: tf.zeros([entries], tf.bool)
    actual = layer(X, mask=MASK, training=True)
    np.testing.assert_array_equal(actual, layer(tf.zeros_like(X), mask=MASK))


def test_it_reads_the_tokens_without_their_padding(kind):
    layer, x = kind(4, backward=True), tf.random.normal([3, 6, 5])
    mask = tf.constant([[0, 1, 1, 0, 1, 0], [1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0]]) > 0
    expected = layer(x, mask=mask)
    found = layer(real_tokens(x, mask), mask=mask)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("backward", [False, True])
def test_it_is_the_basic_cell_of_tensorflow_1_over_the_real_tokens(backward):
    layer = randomised(BasicLSTM(UNITS, backward))
    kernel, bias = layer.kernel.numpy().astype(np.float64), layer.bias.numpy()

    def cell(x, c, h):
        i, j, f, o = np.split(np.concatenate([x, h]) @ kernel + bias, 4)
        c = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(j)
        return c, sigmoid(o) * np.tanh(c)

    expected = states_of(cell, 2, backward)
    np.testing.assert_allclose(layer(X, mask=MASK), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("backward", [False, True])
def test_it_is_the_gru_cell_of_tensorflow_1_over_the_real_tokens(backward):
    layer = randomised(BasicGRU(UNITS, backward))
    gates, gate_bias, candidate, candidate_bias = (it.numpy() for it in layer.trainable_weights)

    def cell(x, h):
        r, u = np.split(sigmoid(np.concatenate([x, h]) @ gates + gate_bias), 2)
        c = np.tanh(np.concatenate([x, r * h]) @ candidate + candidate_bias)
        return (u * h + (1 - u) * c,)

    expected = states_of(cell, 1, backward)
    np.testing.assert_allclose(layer(X, mask=MASK), expected, rtol=1e-5, atol=1e-6)


def test_matrices_start_by_glorots_rule_and_a_new_layer_keeps_its_state():
    layer = BasicGRU(300)
    layer.build([None, None, 300])
    for kernel, gates in ((layer.gate_kernel, 2), (layer.candidate_kernel, 1)):
        limit = np.float32((6 / (600 + 300 * gates)) ** 0.5)
        assert 0.99 * limit < np.abs(kernel).max() <= np.float32(limit)
    np.testing.assert_array_equal(layer.gate_bias, np.ones(600))
    np.testing.assert_array_equal(layer.candidate_bias, np.zeros(300))


class TestForwardRNN(MaskContract):
    kind = BasicRNN
    arguments = {"units": 6}
    units = 6
    bad_arguments = BAD_DROPOUT


class TestBackwardRNN(TestForwardRNN, variant=True):
    arguments = {"units": 6, "backward": True}


@pytest.mark.parametrize("backward", [False, True])
def test_it_is_its_equation_over_the_real_tokens(backward):
    layer = randomised(BasicRNN(UNITS, backward))
    kernel, bias = layer.kernel.numpy().astype(np.float64), layer.bias.numpy()

    def cell(x, h):
        return (np.tanh(np.concatenate([x, h]) @ kernel + bias),)

    expected = states_of(cell, 1, backward)
    np.testing.assert_allclose(layer(X, mask=MASK), expected, rtol=1e-5, atol=1e-6)


def test_a_reversed_sentence_has_a_reversed_mask():
    x, mask = tf.ones([1, 4, 3]), tf.constant([[True, True, False, False]])
    ids = tf.keras.Input([None], dtype="int32")
    embedded = tf.keras.layers.Embedding(9, 3, mask_zero=True)(ids)
    layer = BasicLSTM(2, go_backwards=True)
    model = tf.keras.Model(ids, Source2Token()(layer(embedded)))
    assert np.abs(model(tf.constant([[1, 2, 0, 0]]))).max() > 1e-6
    states = layer(x, mask=mask)
    np.testing.assert_array_equal(states._keras_mask, mask[:, ::-1])
    assert np.all(states[:, :2] == 0) and np.all(states[:, 2:] != 0)
