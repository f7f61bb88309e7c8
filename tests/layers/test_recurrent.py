"""What the recurrent layers do alike."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import BasicGRU, BasicLSTM
from disan_tf.layers.packing import real_tokens
from disan_tf.layers.recurrent import BasicRNN
from disan_tf.ops import portable
from tests.support.layers.small import MASK, UNITS, X, randomised
from tests.support.layers.weights import count


@pytest.fixture(params=[BasicLSTM, BasicGRU, BasicRNN])
def kind(request):
    return request.param


@pytest.mark.parametrize(
    "kind, units, expected",
    [(BasicLSTM, 300, 721_200), (BasicGRU, 300, 540_900), (BasicRNN, 100, 40_100)],
)
def test_units_on_300_dimensions_have_the_parameters_of_the_papers(kind, units, expected):
    assert count(kind(units)) == expected


@pytest.mark.parametrize(
    "kind, units, fans", [(BasicLSTM, 300, 600 + 1200), (BasicRNN, 100, 400 + 100)]
)
def test_the_joined_matrix_starts_by_glorots_rule_and_the_bias_at_zero(kind, units, fans):
    layer = kind(units)
    layer.build([None, None, 300])
    limit = (6 / fans) ** 0.5
    assert 0.99 * limit < np.abs(layer.kernel).max() <= np.float32(limit)
    assert not np.any(layer.bias)


def test_the_kernels_decay_and_the_biases_do_not(kind):
    layer = randomised(kind(UNITS, l2=2.0))
    kernels = [weight for weight in layer.trainable_weights if weight.shape.rank == 2]
    expected = [np.sum(np.square(kernel)) for kernel in kernels]
    np.testing.assert_allclose(layer.losses, expected, rtol=1e-6)


def test_dropout_acts_on_the_input_alone(kind):
    layer = randomised(kind(UNITS, dropout=0.5))
    layer.input_dropout.keep = lambda entries: tf.zeros([entries], tf.bool)
    actual = layer(X, mask=MASK, training=True)
    np.testing.assert_array_equal(actual, layer(tf.zeros_like(X), mask=MASK))


def test_two_steps_agree_in_every_bit(kind):
    layer = kind(64)
    x = tf.random.stateless_normal([16, 20, 64], [1, 2])
    mask = tf.sequence_mask(tf.range(5, 21), 20)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(tf.square(layer(x, mask=mask)))
        return tape.gradient(total, layer.trainable_weights)

    for once, again in zip(step(), step()):
        np.testing.assert_array_equal(once, again)


def test_an_export_has_operations_of_tensorflow_alone(kind):
    layer = randomised(kind(UNITS))
    with portable():
        function = tf.function(lambda x: layer(x, mask=MASK)).get_concrete_function(X)
    graph = function.graph.as_graph_def()
    nodes = [*graph.node, *(node for body in graph.library.function for node in body.node_def)]
    assert nodes and not [node.op for node in nodes if node.op.startswith("Disan")]


def test_it_reads_the_tokens_without_their_padding(kind):
    layer, x = kind(4, backward=True), tf.random.normal([3, 6, 5])
    mask = tf.constant([[0, 1, 1, 0, 1, 0], [1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 0]]) > 0
    expected = layer(x, mask=mask)
    found = layer(real_tokens(x, mask), mask=mask)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
