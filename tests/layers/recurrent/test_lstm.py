"""The LSTM against TensorFlow 1's cell in NumPy."""

import numpy as np
import pytest

from disan_tf.layers import BasicLSTM
from tests.support.layers.small import MASK, UNITS, X, randomised, sigmoid, states_of
from tests.support.layers.weights import count


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


def test_300_units_on_300_dimensions_have_721200_parameters():
    assert count(BasicLSTM(300)) == 721_200


def test_the_joined_matrix_starts_by_glorots_rule_and_the_bias_at_zero():
    layer = BasicLSTM(300)
    layer.build([None, None, 300])
    limit = (6 / (600 + 1200)) ** 0.5
    assert 0.99 * limit < np.abs(layer.kernel).max() <= np.float32(limit)
    assert not np.any(layer.bias)
