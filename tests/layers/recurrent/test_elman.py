"""The plain recurrent layer against its equation in NumPy."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers.recurrent.rnn import BasicRNN
from disan_tf.ops import portable
from tests.support.layers.contract import MaskContract
from tests.support.layers.small import MASK, UNITS, X, randomised, states_of
from tests.support.layers.weights import count


class TestForwardRNN(MaskContract):
    units = 6
    backward = False
    bad_arguments = ({"dropout": 1.0}, {"dropout": -0.1})

    def make(self, **options):
        mine = {"units": 6, "backward": self.backward, "dropout": 0.25, "l2": 1e-4, "seed": 5}
        return BasicRNN(**{**mine, **options})

    def call(self, layer, x, mask, training=None):
        return layer(x, mask=mask, training=training)


class TestBackwardRNN(TestForwardRNN, variant=True):
    backward = True


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


def test_the_matrix_decays_and_the_bias_does_not():
    layer = randomised(BasicRNN(UNITS, l2=2.0))
    np.testing.assert_allclose(layer.losses, [np.sum(np.square(layer.kernel))], rtol=1e-6)


def test_dropout_acts_on_the_input_alone():
    layer = randomised(BasicRNN(UNITS, dropout=0.5))
    layer.input_dropout.keep = lambda entries: tf.zeros([entries], tf.bool)
    actual = layer(X, mask=MASK, training=True)
    np.testing.assert_array_equal(actual, layer(tf.zeros_like(X), mask=MASK))


def test_100_units_on_300_dimensions_have_40100_parameters():
    assert count(BasicRNN(100)) == 40_100


def test_the_joined_matrix_starts_by_glorots_rule_and_the_bias_at_zero():
    layer = BasicRNN(100)
    layer.build([None, None, 300])
    limit = (6 / (400 + 100)) ** 0.5
    assert 0.99 * limit < np.abs(layer.kernel).max() <= np.float32(limit)
    assert not np.any(layer.bias)


def test_an_export_has_operations_of_tensorflow_alone():
    layer = randomised(BasicRNN(UNITS))
    with portable():
        function = tf.function(lambda x: layer(x, mask=MASK)).get_concrete_function(X)
    graph = function.graph.as_graph_def()
    nodes = [*graph.node, *(node for body in graph.library.function for node in body.node_def)]
    assert nodes and not [node.op for node in nodes if node.op.startswith("Disan")]
