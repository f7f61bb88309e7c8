"""Native bias, activation, gate, pool and sums: whose buffers they spare, wrong arguments."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.ops.elementwise import bias_activation
from disan_tf.ops.native import runtime
from tests.support.ops.backends import needs_native

pytestmark = needs_native
INVALID = tf.errors.InvalidArgumentError


def _relu(x, bias):
    return bias_activation(x, bias, tf.keras.activations.relu)


def _random(*shape):
    return tf.constant(np.random.default_rng(3).normal(size=shape), tf.float32)


def test_an_input_that_is_used_again_is_not_overwritten():
    """The kernel writes its result into x where nobody else needs x."""

    @tf.function
    def compiled(start, bias):
        x = 2.0 * start
        first = _relu(x, bias)
        second = bias_activation(x, -bias, tf.keras.activations.elu)
        alone = _relu(3.0 * start, bias)
        return x, first, second, x - bias, alone

    start, bias = _random(50, 33), _random(33)
    x, first, second, later, alone = compiled(start, bias)
    np.testing.assert_array_equal(x, 2.0 * start)
    np.testing.assert_array_equal(first, tf.nn.relu(2.0 * start + bias))
    np.testing.assert_allclose(second, tf.nn.elu(2.0 * start - bias), atol=1e-6)
    np.testing.assert_array_equal(later, 2.0 * start - bias)
    np.testing.assert_array_equal(alone, tf.nn.relu(3.0 * start + bias))


@pytest.mark.parametrize("kind", ["argument", "constant", "variable"])
def test_the_callers_own_tensors_are_not_overwritten(kind):
    values, bias = _random(50, 33), _random(33)
    variable, expected = tf.Variable(values), values.numpy()
    functions = {
        "argument": tf.function(lambda x: _relu(x, bias)),
        "constant": tf.function(lambda _: _relu(tf.constant(expected), bias)),
        "variable": tf.function(lambda _: _relu(variable, bias)),
    }
    for _ in range(2):
        result = functions[kind](values)
        np.testing.assert_array_equal(result, tf.nn.relu(expected + bias))
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(variable, expected)


def test_the_upstream_gradient_is_not_overwritten():
    @tf.function
    def compiled(x, bias):
        with tf.GradientTape() as tape:
            tape.watch([x, bias])
            inner = bias_activation(x, bias, tf.keras.activations.linear)
            total = tf.reduce_sum(_relu(inner, bias) * x + inner)
        return tape.gradient(total, [x, bias])

    x, bias = _random(50, 33), _random(33)
    slope = tf.where(x + 2.0 * bias > 0.0, x, 0.0)
    x_gradient, bias_gradient = compiled(x, bias)
    expected = slope + 1.0 + tf.nn.relu(x + 2.0 * bias)
    np.testing.assert_allclose(x_gradient, expected, atol=1e-6)
    expected = tf.reduce_sum(2.0 * slope + 1.0, axis=0)
    np.testing.assert_allclose(bias_gradient, expected, atol=1e-4)


def test_gradients_of_different_shapes_are_not_added():
    with pytest.raises(INVALID, match=r"x has shape \[3\], expected \[4\]"):
        runtime.operations().disan_sum([tf.ones([4]), tf.ones([3])])


def _arguments():
    """Arguments of the raw operations that fit."""
    x, bias, mask = tf.ones([2, 3, 5]), tf.ones([5]), tf.ones([2, 3], tf.bool)
    pair = {"upstream": x, "h": x, "s": x, "mask": mask}
    return {
        "bias_activation": {"x": x, "bias": bias, "activation": "elu"},
        "bias_activation_gradient": {"upstream": x, "y": x, "activation": "elu"},
        "fusion_gate": {"token": x, "context": x, "bias": bias, "h": x, "s": x, "mask": mask},
        "fusion_gate_gradient": {**pair, "gate": x},
        "softmax_pool": {"logits": x, "x": x, "mask": mask},
        "softmax_pool_gradient": {"logits": x, "x": x, "mask": mask, "upstream": x[:, 0]},
    }


# The first argument gives the shape that is expected of the others.
CHECKED = [
    (operation, name)
    for operation, arguments in _arguments().items()
    for number, (name, value) in enumerate(arguments.items())
    if number and isinstance(value, tf.Tensor)
]


def _operation(name):
    return getattr(runtime.operations(), f"disan_{name}")


@pytest.mark.parametrize("operation,name", CHECKED)
def test_a_wrong_shape_is_refused_by_name(operation, name):
    arguments = _arguments()[operation]
    call, right = _operation(operation), arguments[name]
    call(**arguments)
    for shape in ([], [4], [2, 3, 4], [2, 3, 5, 1]):
        with pytest.raises(INVALID, match=rf"\b{name} has shape \[.*, expected \["):
            call(**{**arguments, name: tf.ones(shape, right.dtype)})


@pytest.mark.parametrize("operation", _arguments())
def test_a_wrong_rank_is_refused_when_a_graph_runs(operation):
    shape = []
    arguments = _arguments()[operation]
    first = next(iter(arguments))
    arguments[first] = tf.ones(shape)
    compiled = tf.function(lambda: _operation(operation)(**arguments))
    with pytest.raises(INVALID, match=rf"\b{first} is a scalar, expected|has shape \[.*, expected"):
        compiled()


def test_a_leak_that_is_not_positive_is_refused():
    arguments = {"x": tf.ones([2, 5]), "bias": tf.ones([5]), "activation": "leaky_relu"}
    for slope in (0.0, -0.1):
        with pytest.raises(INVALID, match="slope=.*; it must lie above 0"):
            runtime.operations().disan_bias_activation(**arguments, slope=slope)
