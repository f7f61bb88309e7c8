"""Directional attention: all forms of this machine against one NumPy reading of Eq. 15 and 11."""

import itertools
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from disan_tf.ops import DIRECTIONS, available_forms, blockwise, tokenwise, tracing
from disan_tf.ops.native.runtime import portable
from tests.support.ops.attention_problems import (
    assert_close,
    assert_gradients_are_slopes,
    attend,
    make_inputs,
    reference,
    unread_rows,
)

PROPERTY = settings(max_examples=12, deadline=None, derandomize=True)
FORMS = ["plain", "saved", *available_forms()[1:]]


@st.composite
def problems(draw):
    """Inputs, mask and options of the op, and the tokens that a block of the lean form holds."""
    batch, length, dim = (draw(st.integers(1, most)) for most in (3, 9, 4))
    masks = arrays(bool, (batch, length))
    options = {
        "direction": draw(st.sampled_from(DIRECTIONS)),
        "head_mask": draw(st.none() | masks),
        "scale": draw(st.sampled_from([0.5, 5.0, 40.0])),
    }
    inputs = make_inputs(batch, length, dim, draw(st.integers(0, 999)))
    return inputs, draw(masks), options, draw(st.integers(1, length))


def _bound(scale):
    return 1e-6 * max(1.0, scale / 5.0)  # float32 rounds the logits, up to `scale`


@PROPERTY
@given(problem=problems())
def test_context_is_equations_15_and_11(problem):
    inputs, mask, options, _ = problem
    context, *_ = attend("plain", inputs, mask, **options)
    assert_close(context, reference(*inputs, mask, **options), _bound(options["scale"]))


@pytest.mark.parametrize("numbers", [0, 1 << 30])  # from which on the lean form goes by tokens
@pytest.mark.parametrize("form", ["plain", "lean", "saved"])
def test_unselected_rows_are_never_read(form, numbers):
    with portable(), mock.patch.object(tokenwise, "FEWEST_NUMBERS", numbers):
        unread_rows(form, "float32")


def test_unselected_rows_are_never_read_on_a_gpu():
    with portable(), mock.patch.object(tracing, "device_type", lambda: "GPU"):
        unread_rows("lean", "float32")


@PROPERTY
@given(problem=problems())
def test_the_forms_agree_in_values_and_gradients(problem):
    inputs, mask, options, block = problem
    plain = attend("plain", inputs, mask, **options)
    for form in FORMS[1:]:
        with mock.patch.object(blockwise, "BLOCK_NUMBERS", block * inputs[0].size):
            results = attend(form, inputs, mask, **options)
        for actual, expected in zip(results, plain):
            assert_close(actual, expected, 2 * _bound(options["scale"]))


@pytest.mark.parametrize("direction, head_masked", zip(DIRECTIONS, (True, False, True)))
def test_gradients_are_the_slopes_of_the_reference(direction, head_masked):
    mask = np.array([[1, 1, 0, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0, 0]], bool)
    head_mask = ~mask[::-1] if head_masked else None
    assert_gradients_are_slopes(
        lambda *inputs: attend("plain", inputs, mask, direction=direction, head_mask=head_mask),
        lambda *inputs: reference(*inputs, mask, direction, head_mask),
        make_inputs(2, 7, 3),
    )


@pytest.mark.parametrize("form, dtype", zip(FORMS, itertools.cycle(["bfloat16", "float16"])))
def test_half_precision_inputs_are_computed_in_float32(form, dtype):
    inputs = [tf.cast(tensor, dtype) for tensor in make_inputs(2, 6, 3)]
    mask = np.array([[1, 1, 1, 1, 1, 1], [1, 0, 1, 0, 0, 0]], bool)
    actual = attend(form, inputs, mask, dtype, direction="forward")
    expected = attend(form, inputs, mask, "float32", direction="forward")
    for ours, exact in zip(actual, expected):
        assert ours.dtype == dtype
        assert_close(ours, exact, {"bfloat16": 2.0**-8, "float16": 2.0**-11}[dtype])


@pytest.mark.parametrize(
    "dtype,scale,direction",
    [("float32", 40.0, "backward"), ("float16", 5.0, "forward")],
)
@pytest.mark.parametrize("form", FORMS)
def test_huge_inputs_stay_finite(form, dtype, scale, direction):
    inputs = make_inputs(2, 6, 3, size=1e4)
    mask = np.array([[1, 1, 1, 1, 1, 1], [0, 1, 0, 1, 0, 0]], bool)
    for tensor in attend(form, inputs, mask, dtype, direction=direction, scale=scale):
        assert np.isfinite(tf.cast(tensor, tf.float32)).all()


@pytest.mark.parametrize("form, sign", zip(FORMS, itertools.cycle([-1.0, 1.0])))
def test_saturated_logits_give_the_mean(form, sign):
    value = make_inputs(1, 5, 2)[2]
    huge = np.full(value.shape, sign * 1e4)
    options = {"direction": "backward", "scale": 40.0}
    context, *_ = attend(form, [huge, huge, value], np.ones([1, 5], bool), **options)
    expected = [np.mean(value[0, j + 1 :], axis=0) for j in range(4)] + [np.zeros(2)]
    assert_close(context[0], expected, 1e-6)


@pytest.mark.parametrize("shape", [(0, 4, 3), (2, 1, 3), (2, 0, 3)])
@pytest.mark.parametrize("form", FORMS)
def test_an_empty_batch_a_lone_token_and_no_token_have_no_context(form, shape):
    for tensor in attend(form, make_inputs(*shape), np.ones(shape[:2], bool), direction="forward"):
        np.testing.assert_array_equal(tensor, np.zeros(shape))


@pytest.mark.parametrize("form", FORMS)
def test_unselected_heads_get_no_context_and_no_gradient(form):
    head_mask = np.array([[True, False, True, False]])
    options = {"direction": "diagonal", "head_mask": head_mask}
    context, head_gradient, *_ = attend(
        form, make_inputs(1, 4, 3), np.ones([1, 4], bool), **options
    )
    for tensor in (context, head_gradient):
        np.testing.assert_array_equal(np.any(tensor, axis=-1), head_mask)


@pytest.mark.parametrize(
    "bad",
    [
        {"direction": "sideways"},
        {"scale": 0},
        {"scale": 40.1},
        {"scale": float("nan")},
    ],
)
def test_bad_arguments_are_refused(bad):
    (value,) = bad.values()
    options = {"direction": "forward", **bad}
    with pytest.raises(ValueError, match=f"={value} must be"):
        attend("auto", make_inputs(1, 2, 3), np.ones([1, 2], bool), **options)


def test_an_unknown_form_is_refused_with_the_known_ones():
    known = "auto, plain, lean, saved or native"
    with pytest.raises(ValueError, match=f"form=thick must be {known}"):
        attend("thick", make_inputs(1, 2, 3), np.ones([1, 2], bool), direction="forward")
