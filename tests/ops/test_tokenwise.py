"""The form by tokens: quotients of exponentials, and the form by blocks where they do not serve."""

import contextlib
from functools import partial
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given
from hypothesis import strategies as st

from disan_tf.ops import blockwise, tokenwise
from tests.ops.test_directional_attention import PROPERTY, problems
from tests.support.ops.attention_problems import (
    assert_close,
    assert_nan_spreads_as_in_the_plain_form,
    attend,
    compiled_step,
    make_inputs,
    make_mask,
)


@contextlib.contextmanager
def by_tokens():
    """Computes even the smallest batches by tokens, and fails if blocks are computed."""
    shared = {"attend_with_gradient": blockwise.attend_with_gradient}
    blocks = mock.Mock(lean_forward=None, lean_backward=None, **shared)
    with mock.patch.multiple(tokenwise, FEWEST_NUMBERS=0, blockwise=blocks):
        yield


@pytest.fixture
def without_blocks():
    with by_tokens():
        yield


@PROPERTY
@given(problem=problems(), scale=st.sampled_from([2.0, 5.0, 20.0]))
def test_values_and_gradients_are_the_plain_ones(problem, scale):
    inputs, mask, options, _ = problem
    options = {**options, "scale": scale}
    inputs[0] = np.clip(inputs[0], -4 * scale, 4 * scale)
    plain = attend("plain", inputs, mask, **options)
    with by_tokens():
        results = attend("lean", inputs, mask, **options)
    for actual, expected in zip(results, plain):
        assert_close(actual, expected, 2e-6 * max(1.0, scale / 5.0))


def test_compiled_for_any_length_it_is_the_same(without_blocks):
    inputs = [tf.constant(tensor, tf.float32) for tensor in make_inputs(2, 7, 3)]
    mask = tf.constant(make_mask(2, 7, 3))
    attention = partial(tokenwise.tokenwise_attention, direction="diagonal")
    with mock.patch.object(tokenwise, "blockwise", blockwise):  # a graph has both branches
        step, compiled = compiled_step(attention, 3)
        for length in (7, 1, 4):
            short = [tensor[:, :length] for tensor in (mask, *inputs)]
            for actual, expected in zip(compiled(*short), step(*short)):
                assert_close(actual, expected, 5e-6)


def test_dependents_far_from_zero_are_exact(without_blocks):
    size = 1e4
    head, dependent, value = make_inputs(2, 9, 3)
    inputs, mask = [head, size * dependent, value], make_mask(2, 9)
    plain = attend("plain", inputs, mask, direction="diagonal")
    for actual, expected in zip(attend("lean", inputs, mask, direction="diagonal"), plain):
        assert_close(actual, expected, 3e-6)


@pytest.mark.parametrize("head,scale", [(21.0, 5.0), (np.nan, 5.0), (0.0, 40.0)])
def test_heads_far_from_zero_and_large_scales_are_computed_by_blocks(head, scale):
    heads = tf.constant([[[0.0], [head]]])
    assert not tokenwise.is_exact(heads, scale)
    assert tokenwise.is_exact(heads[:, :1], 5.0)


def test_masked_dependents_have_no_influence_and_no_gradient(without_blocks):
    mask = make_mask(2, 9, 3)
    inputs = make_inputs(2, 9, 3)
    moved = [inputs[0], *(np.where(mask[..., None], each, 7.0) for each in inputs[1:])]
    expected = attend("lean", inputs, mask, direction="diagonal")
    actual = attend("lean", moved, mask, direction="diagonal")
    for ours, others in zip(actual, expected):
        np.testing.assert_array_equal(ours, others)
    for gradient in actual[2:]:
        np.testing.assert_array_equal(np.asarray(gradient)[~mask], 0.0)


def test_nan_spreads_as_in_the_plain_form():
    with mock.patch.object(tokenwise, "FEWEST_NUMBERS", 0):
        assert_nan_spreads_as_in_the_plain_form("lean", 1)
