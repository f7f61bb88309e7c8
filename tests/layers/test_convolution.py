"""The convolution against a loop over the tokens in NumPy."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import Convolution
from tests.support.layers.small import MASK, X, convolved, randomised

UNITS = 3


@pytest.mark.parametrize("width", [1, 2, 3, 9])
def test_padding_and_what_lies_outside_count_as_zeros(width):
    layer = randomised(Convolution(UNITS, width, "tanh"))
    expected = np.zeros([*MASK.shape, UNITS])
    for x, mask, maps in zip(X.numpy(), MASK, expected):
        maps[mask] = np.tanh(convolved(x, mask, layer))[mask]
    np.testing.assert_allclose(layer(X, mask=MASK), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-6), ("mixed_bfloat16", 2e-2)])
@pytest.mark.parametrize("width, length", [(2, 1), (5, 4), (12, 2)])
def test_a_sentence_may_be_shorter_than_the_window(dtype, tolerance, width, length):
    layer = randomised(Convolution(6, width, dtype=dtype))
    x, mask = X[:, :length], np.ones([len(X), length], bool)
    expected = np.array([convolved(sentence, mask[0], layer) for sentence in x.numpy()])
    actual = tf.cast(layer(x, mask=mask), tf.float32)
    np.testing.assert_allclose(actual, expected, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("length, computed", [(5, 12), (12, 12), (20, 20)])
def test_in_bfloat16_a_window_is_never_longer_than_what_is_convolved(length, computed, monkeypatch):
    lengths, conv1d = [], tf.nn.conv1d

    def spy(x, *args, **kwargs):
        lengths.append(x.shape[1])
        return conv1d(x, *args, **kwargs)

    monkeypatch.setattr(tf.nn, "conv1d", spy)
    y = Convolution(6, 12, dtype="mixed_bfloat16")(tf.ones([2, length, 8]))
    assert (y.shape, lengths) == ([2, length, 6], [computed])


def test_the_kernel_starts_by_glorots_rule_and_the_bias_at_zero():
    layer = Convolution(40, width=5)
    layer.build([None, None, 30])
    limit = (6 / (5 * 30 + 5 * 40)) ** 0.5
    assert 0.99 * limit < np.abs(layer.kernel).max() <= np.float32(limit)
    assert not np.any(layer.bias)


def test_dropout_acts_on_the_input():
    layer = randomised(Convolution(UNITS, width=3, dropout=0.5))
    layer.input_dropout.keep = lambda entries: tf.zeros([entries], tf.bool)
    actual = layer(X, mask=MASK, training=True)
    np.testing.assert_array_equal(actual, layer(tf.zeros_like(X), mask=MASK))


def test_without_tokens_the_gradient_of_a_float16_kernel_is_0():
    layer = Convolution(6, 3, dtype="mixed_float16")
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(layer(tf.zeros([2, 0, 8])))
    np.testing.assert_array_equal(tape.gradient(total, layer.kernel), np.zeros([3, 8, 6]))
