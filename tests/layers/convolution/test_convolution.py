"""The convolution against a loop over the tokens in NumPy."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import Convolution
from tests.support.small_attention import MASK, X, randomised
from tests.support.small_convolution import convolved

UNITS = 3


@pytest.mark.parametrize("width", [1, 2, 3, 4, 9])
def test_padding_and_what_lies_outside_count_as_zeros(width):
    layer = randomised(Convolution(UNITS, width, "tanh"))
    expected = np.zeros([*MASK.shape, UNITS])
    for x, mask, maps in zip(X.numpy(), MASK, expected):
        maps[mask] = np.tanh(convolved(x, mask, layer))[mask]
    np.testing.assert_allclose(layer(X, mask=MASK), expected, rtol=1e-5, atol=1e-6)


def test_the_kernel_starts_by_glorots_rule_and_the_bias_at_zero():
    layer = Convolution(40, width=5)
    layer.build([None, None, 30])
    limit = (6 / (5 * 30 + 5 * 40)) ** 0.5
    assert 0.99 * limit < np.abs(layer.kernel).max() <= np.float32(limit)
    assert not np.any(layer.bias)


def test_the_kernel_decays_and_the_bias_does_not():
    layer = randomised(Convolution(UNITS, width=3, l2=2.0))
    np.testing.assert_allclose(layer.losses, [np.sum(np.square(layer.kernel))], rtol=1e-6)


def test_dropout_acts_on_the_input():
    layer = randomised(Convolution(UNITS, width=3, dropout=0.5))
    layer.input_dropout.keep = lambda entries: tf.zeros([entries], tf.bool)
    actual = layer(X, mask=MASK, training=True)
    np.testing.assert_array_equal(actual, layer(tf.zeros_like(X), mask=MASK))
