"""The native attention against the plain form: shapes, masks, magnitudes, infinities, NaN."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from disan_tf.ops import DIRECTIONS
from disan_tf.ops.directional_attention import native_attention
from tests.support.ops.attention_problems import (
    assert_close,
    attend,
    make_inputs,
    make_mask,
    noise,
    reference,
    unread_rows,
)
from tests.support.ops.backends import needs_native

pytestmark = needs_native
VALUES, GRADIENTS = 1e-5, 5e-5  # bounds for `assert_close`


def _magnify(inputs, kind, scale):
    """Replaces head and dependent by numbers that strain the arithmetic."""
    head, dependent, value = inputs
    if kind == "huge":
        return [5e3 * head, 5e3 * dependent, value]
    if kind == "cancelling":  # 1e4 with -1e4 + 1
        return [0 * head + 1e4, np.round(dependent) - 1e4 + 1, value]
    if kind == "nearly too large for products":
        return [0 * head + 19 * scale, 0.1 * scale * dependent - 19 * scale, value]
    if kind == "one extreme feature":
        return [np.where(np.arange(head.shape[2]) == 0, 1e4, head), dependent, value]
    return inputs


KINDS = ("ordinary", "huge", "cancelling", "nearly too large for products", "one extreme feature")


@st.composite
def problems(draw):
    """Inputs, mask and options; dimensions around the lanes of a vector."""
    batch, length = draw(st.integers(1, 5)), draw(st.integers(1, 40))
    dim, seed = draw(st.sampled_from([1, 5, 16, 17, 33])), draw(st.integers(0, 9999))
    shares = st.sampled_from([0.0, 0.3, 0.8, 1.0])
    scale = draw(st.sampled_from([0.5, 1.0, 5.0, 40.0]))
    inputs = _magnify(make_inputs(batch, length, dim, seed), draw(st.sampled_from(KINDS)), scale)
    heads = draw(st.none() | shares)
    return {
        "inputs": [tensor.astype(np.float32) for tensor in inputs],
        "mask": make_mask(batch, length, seed, draw(shares)),
        "direction": draw(st.sampled_from(DIRECTIONS)),
        "head_mask": None if heads is None else make_mask(batch, length, seed + 1, heads),
        "scale": scale,
    }


def _assert_agreement(problem):
    context, *gradients = attend("native", **problem)
    plain_context, *plain_gradients = attend("plain", **problem)
    assert_close(context, plain_context, VALUES)
    for actual, expected in zip(gradients, plain_gradients):
        assert_close(actual, expected, GRADIENTS)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(problem=problems())
def test_values_and_gradients_are_those_of_the_plain_form(problem):
    _assert_agreement(problem)


@pytest.mark.parametrize("shape", [(2, 130, 37), (3, 7, 300), (1, 400, 3)])
def test_tiles_panels_and_the_papers_dimension_agree(shape):
    mask, head_mask = make_mask(*shape[:2], share=0.9), make_mask(*shape[:2], seed=1)
    for direction, kind in zip(DIRECTIONS, ("ordinary", "huge", "ordinary")):
        inputs = _magnify(make_inputs(*shape), kind, 5.0)
        options = {"direction": direction, "head_mask": head_mask}
        _assert_agreement({"inputs": inputs, "mask": mask, **options})


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("argument", range(3))
def test_infinities_and_nan_spread_as_in_the_formula_and_no_further(argument, bad):
    inputs, mask = make_inputs(3, 6, 20), make_mask(3, 6, share=0.9)
    inputs[argument][1, 2, 7] = bad
    mask[1, 2] = True
    context, *gradients = attend("native", inputs, mask, direction="diagonal")
    with np.errstate(invalid="ignore"):
        expected = reference(*inputs, mask, "diagonal")
    np.testing.assert_array_equal(np.isfinite(context), np.isfinite(expected))
    assert_close(context[np.isfinite(expected)], expected[np.isfinite(expected)], VALUES)
    for gradient in gradients:
        assert np.isfinite(np.delete(gradient, 1, axis=0)).all()
        assert np.isfinite(np.delete(gradient, 7, axis=2)).all()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_unselected_rows_are_never_read(dtype):
    unread_rows("native", dtype)


def test_a_sentence_does_not_depend_on_its_batch():
    inputs, mask = make_inputs(16, 30, 100), make_mask(16, 30)
    together = attend("native", inputs, mask, direction="forward")
    upstream = noise([16, 30, 100])[5:6]
    alone = [tf.constant(tensor[5:6], tf.float32) for tensor in inputs]
    with tf.GradientTape() as tape:
        tape.watch(alone)
        context = native_attention(*alone, tf.constant(mask[5:6]), direction="forward")
        total = tf.reduce_sum(context * upstream)
    for ours, expected in zip([context, *tape.gradient(total, alone)], together):
        np.testing.assert_array_equal(ours[0], expected[5])
