"""The native attention in bfloat16, float16 and float64."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.ops.directional_attention import native_attention
from tests.support.ops.attention_problems import (
    assert_close,
    attend,
    make_inputs,
    make_mask,
    reference,
)
from tests.support.ops.backends import needs_native

pytestmark = needs_native
# Results are computed in float32 from the same inputs and rounded once, to nearest.
ROUNDING = {"bfloat16": 2.0**-8, "float16": 2.0**-11}


@pytest.mark.parametrize("size,direction", [(2.0, "forward"), (1e3, "diagonal")])
@pytest.mark.parametrize("dtype", ROUNDING)
def test_half_precision_is_float32_rounded_once(dtype, size, direction):
    inputs = [tf.cast(tensor, dtype) for tensor in make_inputs(3, 110, 37, size=size)]
    inputs[2] /= size
    options = {"direction": direction, "head_mask": make_mask(3, 110, seed=1)}
    actual = attend("native", inputs, make_mask(3, 110), dtype, **options)
    expected = attend("native", inputs, make_mask(3, 110), "float32", **options)
    for ours, exact in zip(actual, expected):
        assert ours.dtype == dtype
        assert_close(ours, exact, ROUNDING[dtype] * (1 + 1e-4))


@pytest.mark.parametrize(
    "direction, size, scale",
    [("forward", 0.3, 5.0), ("backward", 1e4, 0.5), ("diagonal", 1e4, 40.0)],
)
def test_float64_values_are_those_of_the_formula(direction, size, scale):
    inputs, mask = make_inputs(2, 12, 11, size=size), make_mask(2, 12)
    inputs[2] /= size
    options = {"direction": direction, "head_mask": make_mask(2, 12, seed=1), "scale": scale}
    context, *_ = attend("native", inputs, mask, "float64", **options)
    assert context.dtype == tf.float64
    assert_close(context, reference(*inputs, mask, **options), 1e-12)


@pytest.mark.parametrize("direction, far", [("forward", False), ("diagonal", True)])
def test_float64_gradients_are_those_of_finite_differences(direction, far):
    scale = 2.0
    inputs = make_inputs(2, 5, 3, size=1.0)
    if far:  # beyond 2 |x| / scale = 40 the kernel adds before it exponentiates
        inputs[0] += 25 * scale
        inputs[1] -= 25 * scale
    mask = np.array([[1, 1, 0, 1, 1], [0, 1, 1, 1, 0]], bool)
    head_mask = np.array([[1, 1, 1, 0, 1], [1, 1, 1, 1, 1]], bool)

    def function(*tensors):
        return native_attention(
            *tensors, mask, direction=direction, head_mask=head_mask, scale=scale
        )

    theoretical, numerical = tf.test.compute_gradient(function, inputs, delta=1e-5)
    for ours, expected in zip(theoretical, numerical):
        assert np.abs(expected).max() > 0.05
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-8)
