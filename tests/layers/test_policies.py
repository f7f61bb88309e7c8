"""float64 and float16 as the dtype of weights and of the computation, near float32."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from tests.layers.test_output_shape import NAMES, OF_PAIRS, new_layer
from tests.support.layers.weights import draw_weights

NEAR = {"float64": 2e-6, "float16": 1e-2, "bfloat16": 8e-2}


def _outputs(name, policy):
    layer, inputs = new_layer(name, policy)
    masks = OF_PAIRS if "second" in inputs else {}
    layer(*inputs.values(), **masks)
    draw_weights(layer.weights, seed=4, size=0.4)
    for weight in layer.weights:
        if "variance" in weight.name:
            weight.assign(0.5 + tf.abs(weight))
    with tf.GradientTape() as tape:
        outputs = tf.nest.flatten(layer(*inputs.values(), **masks))
        total = tf.add_n([tf.reduce_sum(tf.cast(output, tf.float32)) for output in outputs])
    gradients = tape.gradient(total, layer.trainable_weights)
    assert all(
        tf.reduce_all(tf.math.is_finite(output)) for output in outputs if output.dtype.is_floating
    )
    return [np.asarray(tf.cast(value, tf.float32)) for value in outputs], gradients


@pytest.mark.parametrize(
    "name, policy", zip((name for name in NAMES if "Encoder" not in name), itertools.cycle(NEAR))
)
def test_values_are_near_those_of_float32(name, policy):
    found, gradients = _outputs(name, policy)
    expected, _ = _outputs(name, "float32")
    for ours, theirs in zip(found, expected):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=NEAR[policy] * np.abs(theirs).max())
    assert all(np.isfinite(tf.cast(it, tf.float32)).all() for it in gradients if it is not None)
