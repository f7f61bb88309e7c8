"""Dynamic self-attention against the loops of DSA's Algorithm 1 in NumPy."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers.attention.dynamic import DynamicSelfAttention
from tests.support.layers.small import MASK, X, randomised

UNITS, SLOPE = 3, 0.1
NOISE = np.random.default_rng(5).normal(size=[len(X), 8 * UNITS])
EVERY = pytest.mark.parametrize("attentions", [1, 8])


def _layer(attentions, iterations):
    return randomised(DynamicSelfAttention(UNITS, attentions, iterations, SLOPE))


def _leaky_relu(x):
    return np.where(x > 0.0, x, SLOPE * x)


def _projected(layer, x, kernel=None, bias=None):
    """xhat of Eq. 6, <float64>[..., attentions, UNITS]."""
    dense = layer.projection.dense
    kernel = dense.kernel.numpy().astype(np.float64) if kernel is None else kernel
    bias = dense.bias.numpy().astype(np.float64) if bias is None else bias
    product = _leaky_relu(np.asarray(x, np.float64) @ kernel + bias)
    return product.reshape([*product.shape[:-1], layer.attentions, UNITS])


def _algorithm_1(projected, mask, iterations):
    """a <float64>[iterations, length, attentions], z [iterations, attentions, UNITS]."""
    length, attentions, _ = projected.shape
    words = [i for i in range(length) if mask[i]]
    a = np.zeros([iterations, length, attentions])
    z = np.zeros([iterations, attentions, UNITS])
    q = np.zeros([length, attentions])
    for iteration in range(iterations):
        for j in range(attentions):
            total = sum(np.exp(q[k, j]) for k in words)
            s = np.zeros(UNITS)
            for i in words:
                a[iteration, i, j] = np.exp(q[i, j]) / total
                s += a[iteration, i, j] * projected[i, j]
            z[iteration, j] = np.tanh(s)
            for i in words:
                q[i, j] += projected[i, j] @ z[iteration, j]
    return a, z


def _expected(layer, x=X, **weights):
    """a <float64>[batch, iterations, length, attentions], z [batch, iterations, attentions, UNITS].

    `weights` may have a kernel and a bias to use in place of the layer's.
    """
    sentences = zip(_projected(layer, x, **weights), MASK)
    found = [_algorithm_1(projected, mask, layer.iterations) for projected, mask in sentences]
    return tuple(np.stack(each) for each in zip(*found))


def _slopes(function, at):
    """The gradient of a function of a <float64> array by central differences."""
    result, step = np.zeros_like(at), 1e-5
    for place in np.ndindex(at.shape):
        move = np.zeros_like(at)
        move[place] = step
        result[place] = (function(at + move) - function(at - move)) / (2.0 * step)
    return result


@pytest.mark.parametrize("attentions, iterations", [(1, 1), (1, 3), (8, 2)])
def test_it_is_algorithm_1(attentions, iterations):
    layer = _layer(attentions, iterations)
    expected = _expected(layer)[1][:, -1].reshape([len(X), -1])  # Eq. 7
    np.testing.assert_allclose(layer(X, mask=MASK), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("attentions, iterations", [(1, 3), (8, 2)])
def test_its_gradients_are_the_slopes_of_algorithm_1(attentions, iterations):
    layer = _layer(attentions, iterations)
    noise = NOISE[:, : attentions * UNITS]
    kernel, bias = layer.projection.trainable_weights
    with tf.GradientTape() as tape:
        tape.watch(X)
        total = tf.reduce_sum(layer(X, mask=MASK) * noise.astype(np.float32))
    gradients = tape.gradient(total, [X, kernel, bias])

    def total_of(x=X, **weights):
        return np.sum(noise * _expected(layer, x, **weights)[1][:, -1].reshape(noise.shape))

    slopes = [
        _slopes(total_of, X.numpy().astype(np.float64)),
        _slopes(lambda kernel: total_of(kernel=kernel), kernel.numpy().astype(np.float64)),
        _slopes(lambda bias: total_of(bias=bias), bias.numpy().astype(np.float64)),
    ]
    for gradient, slope in zip(gradients, slopes):
        np.testing.assert_allclose(gradient, slope, rtol=1e-4, atol=1e-5)


@EVERY
def test_attend_gives_the_weights_of_each_iteration(attentions):
    layer = _layer(attentions, iterations=3)
    weights, _ = _expected(layer)
    found = layer.attend(X, MASK)
    assert list(found) == ["attention_1", "attention_2", "attention"]
    for number, name in enumerate(found):
        np.testing.assert_allclose(found[name], weights[:, number], rtol=1e-5, atol=1e-6)


@EVERY
def test_weight_vectors_are_those_of_each_iteration(attentions):
    layer = _layer(attentions, iterations=3)
    found = layer.weight_vectors(X, MASK)
    np.testing.assert_allclose(found, _expected(layer)[1], rtol=1e-5, atol=1e-6)


def test_weights_start_by_the_rule_of_he():
    layers = [DynamicSelfAttention(300, 8, seed=seed) for seed in (1, 1, 2)]
    for layer in layers:
        layer.build([None, None, 300])
    kernel, again, other = (layer.projection.dense.kernel.numpy() for layer in layers)
    np.testing.assert_allclose(kernel.std(), (2 / 300) ** 0.5, rtol=0.01)
    assert np.abs(kernel).max() > 4 * kernel.std()  # the normal distribution has its tails
    np.testing.assert_array_equal(kernel, again)
    assert np.any(kernel != other)
    assert not layers[0].projection.dense.bias.numpy().any()
