"""Weights of linear maps: He's rule, and casts that both uses of a tied encoder share."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import Convolution
from disan_tf.layers.linear import (
    Linear,
    cast_weight,
    he_normal,
    shared_conversions,
    variance_factor,
)


def _linear(initializer):
    layer = Linear(400, kernel_initializer=initializer)
    layer.build([None, None, 300])
    return layer, layer.dense.kernel, 300


def _convolution(initializer):
    layer = Convolution(100, width=5, kernel_initializer=initializer)
    layer.build([None, None, 300])
    return layer, layer.kernel, 5 * 300


each_map = pytest.mark.parametrize("make", [_linear, _convolution])


@each_map
@pytest.mark.parametrize("keep", [1.0, 0.8, 0.2])
def test_weights_are_normal_with_the_deviation_of_he_times_the_root_of_the_factor(make, keep):
    _, kernel, inputs = make(he_normal(3, keep))
    deviation = (2.0 * keep / inputs) ** 0.5
    assert np.std(kernel) == pytest.approx(deviation, rel=0.01)
    assert np.mean(kernel) == pytest.approx(0.0, abs=0.01 * deviation)
    assert np.mean(np.abs(kernel) > 2 * deviation) == pytest.approx(0.0455, rel=0.05)  # not cut off


@each_map
def test_a_seed_gives_the_same_weights_and_another_gives_others(make):
    first, again, other = (make(he_normal(seed))[1].numpy() for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert np.mean(first == other) < 0.01


@pytest.mark.parametrize(
    "init_scale, rate, factor",
    [("keep", 0.2, 0.8), ("keep", 0.0, 1.0), ("rate", 0.2, 0.2), ("rate", 0.0, 1.0)],
)
def test_dropout_scales_the_variance(init_scale, rate, factor):
    assert variance_factor(init_scale, rate) == factor


def _mixed_linear():
    linear = Linear(4, dtype=tf.keras.mixed_precision.Policy("mixed_bfloat16"))
    linear.build([None, 3])
    return linear


def _casts_of_kernels(linear, calls):
    """Conversions of a [3, 4] matrix in the graph of so many calls."""

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.bfloat16)])
    def traced(x):
        with shared_conversions():
            return tf.add_n([linear(x) for _ in range(calls)])

    operations = traced.get_concrete_function().graph.get_operations()
    return sum(each.type == "Cast" and each.outputs[0].shape == [3, 4] for each in operations)


def test_two_calls_convert_the_matrix_once():
    assert _casts_of_kernels(_mixed_linear(), 1) == _casts_of_kernels(_mixed_linear(), 2) == 1


def test_both_uses_reach_the_gradient_in_the_precision_of_the_weight():
    weight = tf.Variable([[1.0, 2.0]])
    with tf.GradientTape() as tape, shared_conversions():
        first, second = cast_weight(weight, tf.bfloat16), cast_weight(weight, tf.bfloat16)
        total = tf.reduce_sum(tf.cast(3.0 * first + 4.0 * second, tf.float32))
    gradient = tape.gradient(total, weight)
    assert gradient.dtype == tf.float32
    tf.debugging.assert_equal(gradient, [[7.0, 7.0]])


def test_the_body_of_a_loop_has_a_conversion_of_its_own():
    weight = tf.Variable([[1.0, 2.0]])

    @tf.function
    def twice(x):
        with shared_conversions():
            rows = tf.map_fn(lambda row: row * cast_weight(weight, tf.bfloat16)[0], x)
            return rows * cast_weight(weight, tf.bfloat16)

    np.testing.assert_array_equal(twice(tf.ones([3, 2], tf.bfloat16)), [[1.0, 4.0]] * 3)


@pytest.mark.parametrize("fails", [False, True])
def test_a_new_value_is_seen_after_the_block(fails):
    weight = tf.Variable(1.0)
    try:
        with shared_conversions(), shared_conversions():
            cast_weight(weight, tf.bfloat16)
            if fails:
                raise RuntimeError
    except RuntimeError:
        pass
    weight.assign(2.0)
    assert float(cast_weight(weight, tf.bfloat16)) == 2.0
