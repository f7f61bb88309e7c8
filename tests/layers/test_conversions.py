"""Weights that a tied encoder uses twice are cast once."""

import pytest
import tensorflow as tf

from disan_tf.layers.linear import Linear
from disan_tf.layers.precision import cast_weight, shared_conversions


def _linear():
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
    assert _casts_of_kernels(_linear(), 1) == _casts_of_kernels(_linear(), 2) == 1


def test_both_uses_reach_the_gradient_in_the_precision_of_the_weight():
    weight = tf.Variable([[1.0, 2.0]])
    with tf.GradientTape() as tape, shared_conversions():
        first, second = cast_weight(weight, tf.bfloat16), cast_weight(weight, tf.bfloat16)
        total = tf.reduce_sum(tf.cast(3.0 * first + 4.0 * second, tf.float32))
    gradient = tape.gradient(total, weight)
    assert gradient.dtype == tf.float32
    tf.debugging.assert_equal(gradient, [[7.0, 7.0]])


def test_two_weights_are_not_confused():
    with shared_conversions():
        one, two = (cast_weight(tf.Variable(value), tf.bfloat16) for value in (1.0, 2.0))
    assert (float(one), float(two)) == (1.0, 2.0)


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
