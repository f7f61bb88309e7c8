"""The LSTM against TensorFlow 1's cell in NumPy."""

import numpy as np
import pytest

from disan_tf.layers import BasicLSTM
from tests.support.layers.small import MASK, UNITS, X, randomised, sigmoid, states_of


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
