"""The plain recurrent layer against its equation in NumPy."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers.recurrent import BasicRNN
from tests.support.layers.contract import BAD_DROPOUT, MaskContract
from tests.support.layers.small import MASK, UNITS, X, randomised, states_of


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


@pytest.mark.parametrize("backward", [False, True])
def test_it_is_keras_simple_rnn_in_values_and_gradients(backward):
    layer = randomised(BasicRNN(UNITS, backward))
    peer = tf.keras.layers.SimpleRNN(UNITS, return_sequences=True, go_backwards=backward)
    peer.build(X.shape)
    dim = X.shape[-1]
    peer.set_weights([layer.kernel[:dim], layer.kernel[dim:], layer.bias])
    with tf.GradientTape(persistent=True) as tape:
        h, expected = layer(X, mask=tf.ones(MASK.shape, tf.bool)), peer(X)
        expected = tf.reverse(expected, [1]) if backward else expected
        totals = [tf.reduce_sum(tf.square(it)) for it in (h, expected)]
    np.testing.assert_allclose(h, expected, rtol=1e-5, atol=1e-6)
    kernel, bias = tape.gradient(totals[0], layer.trainable_weights)
    of_x, of_h, of_bias = tape.gradient(totals[1], peer.trainable_weights)
    np.testing.assert_allclose(kernel, tf.concat([of_x, of_h], axis=0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(bias, of_bias, rtol=1e-4, atol=1e-5)
