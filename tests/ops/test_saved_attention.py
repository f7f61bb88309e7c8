"""The saved form: XLA compiles it, long texts take linear time, and TensorFlow has its gradient."""

from functools import partial
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.ops import DIRECTIONS, saved_attention
from tests.support.ops.attention_problems import (
    assert_close,
    attend,
    compiled_step,
    make_inputs,
    make_mask,
)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_xla_compiles_it_and_its_gradients(direction):
    inputs = [tf.constant(tensor, tf.float32) for tensor in make_inputs(2, 7, 3)]
    mask = tf.constant(make_mask(2, 7, 3))
    attention = partial(saved_attention.saved_attention, direction=direction)
    step, compiled = compiled_step(attention, 3, jit_compile=True)
    with mock.patch.object(saved_attention, "is_exact", lambda *_: tf.constant(False)):
        results = step(mask, *inputs)  # by a tanh for each pair, as XLA computes it
    for actual, expected in zip(compiled(mask, *inputs), results):
        assert_close(actual, expected, 2e-6)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_long_texts_are_interpolated(direction):
    mask, head_mask = make_mask(2, 23, 3), make_mask(2, 23, 4, share=0.9)
    options = {"direction": direction, "head_mask": head_mask}
    inputs = make_inputs(2, 23, 3, size=1.0)
    context, *gradients = attend("plain", inputs, mask, **options)
    with mock.patch.multiple(saved_attention, SHORTEST=23, _exactly=None):
        actual, *ours = attend("saved", inputs, mask, **options)
    assert 0.0 < np.abs(actual - context).max() < 1e-4
    for gradient, expected in zip(ours, gradients):
        assert_close(gradient, expected, 1e-3)


def test_long_texts_with_heads_far_apart_are_computed_exactly():
    mask = np.ones([2, 23], bool)
    head, dependent, value = make_inputs(2, 23, 3)
    head[0, :2, 1] = -40.0, 40.0
    inputs = [head, dependent, value]
    expected = attend("plain", inputs, mask, direction="forward")
    with mock.patch.object(saved_attention, "SHORTEST", 23):
        actual = attend("saved", inputs, mask, direction="forward")
    for ours, exact in zip(actual, expected):
        assert_close(ours, exact, 2e-6)
