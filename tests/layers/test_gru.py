"""The GRU against TensorFlow 1's cell in NumPy, and against Keras."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import BasicGRU
from tests.support.layers.small import DIM, MASK, UNITS, X, randomised, sigmoid, states_of


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


def test_keras_gru_that_resets_before_the_product_gives_the_same():
    layer = randomised(BasicGRU(UNITS))
    keras = tf.keras.layers.GRU(UNITS, reset_after=False, return_sequences=True)
    keras(X)
    (r, u), c = np.split(layer.gate_kernel.numpy(), 2, axis=1), layer.candidate_kernel.numpy()
    (r_bias, u_bias), c_bias = np.split(layer.gate_bias.numpy(), 2), layer.candidate_bias.numpy()
    of_x, of_h = np.split(np.concatenate([u, r, c], axis=1), [DIM])
    keras.set_weights([of_x, of_h, np.concatenate([u_bias, r_bias, c_bias])])
    expected = keras(X, mask=MASK).numpy()[MASK]
    np.testing.assert_allclose(layer(X, mask=MASK).numpy()[MASK], expected, rtol=1e-5, atol=1e-6)


def test_matrices_start_by_glorots_rule_and_a_new_layer_keeps_its_state():
    layer = BasicGRU(300)
    layer.build([None, None, 300])
    for kernel, gates in ((layer.gate_kernel, 2), (layer.candidate_kernel, 1)):
        limit = np.float32((6 / (600 + 300 * gates)) ** 0.5)
        assert 0.99 * limit < np.abs(kernel).max() <= np.float32(limit)
    np.testing.assert_array_equal(layer.gate_bias, np.ones(600))
    np.testing.assert_array_equal(layer.candidate_bias, np.zeros(300))
