"""RMSProp against its formula, dense and sparse."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.training.optimizers import rmsprop
from tests.support.ops.backends import BACKENDS

RHO, EPSILON, RATE = 0.99, 1e-8, 0.1


def _formula(weights, gradients):
    """The weights after the steps, in float64."""
    weights, squares = weights.astype(np.float64), np.zeros(weights.shape)
    for gradient in gradients:
        squares = RHO * squares + (1 - RHO) * np.square(gradient)
        weights = weights - RATE * gradient / (np.sqrt(squares) + EPSILON)
    return weights


@pytest.mark.parametrize("world", BACKENDS)
def test_dense_steps_are_the_formula_of_pytorch(world):
    generator = np.random.default_rng(1)
    start = generator.normal(size=[5, 7]).astype(np.float32)
    gradients = generator.normal(size=[3, 5, 7]).astype(np.float32)
    gradients[:, 0, 0] = 0.0
    with world():
        variable, optimizer = tf.Variable(start), rmsprop(RATE)
        for gradient in gradients:
            optimizer.apply_gradients([(tf.constant(gradient), variable)])
    np.testing.assert_allclose(variable, _formula(start, gradients), rtol=1e-5, atol=1e-6)
    assert variable.numpy()[0, 0] == start[0, 0]


def test_rows_outside_the_batch_keep_their_values_and_mean_squares():
    variable, optimizer = tf.Variable(np.ones([3, 2], np.float32)), rmsprop(RATE)
    rows = tf.IndexedSlices(tf.constant([[1.0, -2.0]]), tf.constant([1]), tf.constant([3, 2]))
    for _ in range(2):
        optimizer.apply_gradients([(rows, variable)])
    expected = _formula(np.ones([1, 2], np.float32), [np.array([[1.0, -2.0]])] * 2)
    np.testing.assert_allclose(variable[1], expected[0], rtol=1e-5)
    assert (variable.numpy()[[0, 2]] == 1.0).all()
    assert (optimizer.get_slot(variable, "rms").numpy()[[0, 2]] == 0.0).all()
