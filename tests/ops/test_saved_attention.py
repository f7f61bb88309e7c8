"""The saved form: XLA compiles it, long texts take linear time, and TensorFlow has its gradient."""

import contextlib
from functools import partial
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.ops import saved_attention
from tests.support.ops.attention_problems import (
    assert_close,
    attend,
    compiled_step,
    make_inputs,
    make_mask,
    reference,
)


@pytest.mark.parametrize("direction", ["forward", "diagonal"])
def test_xla_compiles_it_and_its_gradients(direction):
    inputs = [tf.constant(tensor, tf.float32) for tensor in make_inputs(2, 7, 3)]
    mask = tf.constant(make_mask(2, 7, 3))
    attention = partial(saved_attention.saved_attention, direction=direction)
    step, compiled = compiled_step(attention, 3, jit_compile=True)
    with mock.patch.object(saved_attention, "is_exact", lambda *_: tf.constant(False)):
        results = step(mask, *inputs)  # by a tanh for each pair, as XLA computes it
    for actual, expected in zip(compiled(mask, *inputs), results):
        assert_close(actual, expected, 2e-6)


@contextlib.contextmanager
def interpolating(block_tokens=23, **options):
    """Texts of 23 tokens are interpolated, in blocks; exact ones are an error."""
    numbers = block_tokens * 2 * 20 * 3  # about so many tokens, whatever the rank
    options = {"SHORTEST": 23, "_exactly": None, "BLOCK_NUMBERS": numbers, **options}
    with mock.patch.multiple(saved_attention, **options):
        yield


def _problem(width, length=23, spread=3.0):
    """Inputs whose heads reach from 7 - width to 7 + width in every feature of a sentence."""
    head, dependent, value = make_inputs(2, length, 3, size=1.0)
    low, high = head.min(axis=1, keepdims=True), head.max(axis=1, keepdims=True)
    head = 7 + width * ((head - low) / (high - low) * 2 - 1)
    return [head, spread * dependent - 7, value / np.abs(value).max()]


@pytest.mark.parametrize(
    "direction, scale, number, block_tokens",
    [("forward", 0.5, 0, 1), ("backward", 5.0, 3, 5), ("diagonal", 40.0, 6, 23)],
)
def test_long_texts_are_interpolated(direction, scale, number, block_tokens):
    """Heads are nearly as far apart as a rank allows."""
    mask, head_mask = make_mask(2, 23, 3), make_mask(2, 23, 4, share=0.9)
    options = {"direction": direction, "head_mask": head_mask, "scale": scale}
    inputs = _problem(0.99 * saved_attention.widest(scale)[number], spread=3 * scale / 5)
    inputs[0][~head_mask] = 1e6  # which widens nothing
    context, *gradients = attend("plain", inputs, mask, **options)
    with interpolating(block_tokens):
        actual, *ours = attend("saved", inputs, mask, **options)
    assert np.any(actual != context)
    assert_close(actual, context, 1e-4)
    for gradient, expected in zip(ours, gradients):
        assert_close(gradient, expected, 1e-3)


@pytest.mark.parametrize("scale", [0.5, 5.0, 40.0])
def test_the_widest_heads_of_every_rank_are_within_the_bound(scale):
    """Dependents in order, so that the first heads see only those whose weights are least."""
    dependents = np.linspace(-2.5, 2.5, 40)[None, :, None] * scale - 7
    for width in sorted(set(saved_attention.widest(scale))):
        head, _, value = _problem(0.999 * width, 40)
        dependent = dependents + width * np.array([-1.0, 1.0])[:, None, None]
        inputs, mask = [head, np.tile(dependent, [1, 1, 3]), value], np.ones([2, 40], bool)
        with interpolating():
            context, *_ = attend("saved", inputs, mask, direction="forward", scale=scale)
        assert_close(context, reference(*inputs, mask, "forward", scale=scale), 1e-4)


def test_without_enough_nodes_it_would_not_be_close():
    inputs, mask = _problem(8.0, spread=6.0), np.ones([2, 23], bool)
    with interpolating(widest=lambda _: (9.0,) * len(saved_attention.RANKS)):
        context, *_ = attend("saved", inputs, mask, direction="forward")
    assert np.abs(context - reference(*inputs, mask, "forward")).max() > 1e-3


def test_rows_without_dependents_and_equal_heads_stay_finite():
    head, dependent, value = _problem(3.0)
    head[0], mask = 7.0, make_mask(2, 23)
    mask[1] = False
    with interpolating():
        actual = attend("saved", [head, dependent, value], mask, direction="diagonal")
    assert all(np.isfinite(ours).all() for ours in actual)
    np.testing.assert_array_equal(actual[0][1], 0.0)
    assert_close(actual[0], reference(head, dependent, value, mask, "diagonal"), 1e-4)


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
