"""Masks: DiSAN Eq. 16 to 18 as booleans, and the masked softmax in every precision."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.ops import masked_softmax
from disan_tf.ops.masked_softmax import admissible_pairs, positional_mask

MATRICES = {  # row = head j, column = dependent i
    "forward": [[0, 0, 0], [1, 0, 0], [1, 1, 0]],
    "backward": [[0, 1, 1], [0, 0, 1], [0, 0, 0]],
    "diagonal": [[0, 1, 1], [1, 0, 1], [1, 1, 0]],
}


@pytest.mark.parametrize("direction", MATRICES)
def test_a_direction_allows_the_pairs_of_the_paper(direction):
    pairs = positional_mask(tf.range(3), tf.range(3), direction)
    np.testing.assert_array_equal(pairs, np.array(MATRICES[direction], bool))


def test_masks_take_columns_and_selections_take_rows():
    mask, heads = np.array([[True, False, True]]), np.array([[False, True, True]])
    pairs = admissible_pairs(mask, "diagonal")
    np.testing.assert_array_equal(pairs, np.array([[[0, 0, 1], [1, 0, 1], [1, 0, 0]]], bool))
    pairs = admissible_pairs(mask, "diagonal", heads)
    np.testing.assert_array_equal(pairs, np.array([[[0, 0, 0], [1, 0, 1], [1, 0, 0]]], bool))


ALL_MASKS = np.array(list(itertools.product([False, True], repeat=4)))  # the first admits nothing


def _logits(shape, dtype="float32", size=3.0):
    values = np.random.default_rng(4).normal(size=shape)
    return tf.cast(tf.constant(size * values, tf.float32), dtype)


def _softmax_and_gradient(function, logits):
    """Result, and the gradient of sum(result * noise)."""
    with tf.GradientTape() as tape:
        tape.watch(logits)
        result = function(logits)
        noise = tf.constant(np.random.default_rng(5).normal(size=result.shape), tf.float32)
        total = tf.reduce_sum(tf.cast(result, tf.float32) * noise)
    return result.numpy(), tape.gradient(total, logits).numpy().astype(np.float32)


@pytest.mark.parametrize("dtype, size", [("float32", 3.0), ("bfloat16", 1e4), ("float16", 1e4)])
def test_rows_sum_to_one_and_empty_rows_are_exactly_zero(dtype, size):
    logits = _logits(ALL_MASKS.shape, dtype, size)
    weights = masked_softmax(logits, ALL_MASKS, axis=1)
    assert weights.dtype == tf.float32
    np.testing.assert_array_equal(weights[0], np.zeros(4))
    np.testing.assert_allclose(weights.numpy()[1:].sum(axis=1), np.ones(15), rtol=1e-6)
    assert not weights.numpy()[~ALL_MASKS].any()


@pytest.mark.parametrize("dtype, size", [("float32", 3.0), ("bfloat16", 1e4), ("float16", 1e4)])
def test_gradients_are_finite_and_zero_where_masked(dtype, size):
    logits = _logits(ALL_MASKS.shape, dtype, size)
    _, gradient = _softmax_and_gradient(lambda x: masked_softmax(x, ALL_MASKS, axis=1), logits)
    assert np.isfinite(gradient).all()
    assert not gradient[~ALL_MASKS].any()


def test_without_a_mask_it_is_softmax():
    logits = _logits([3, 6])
    actual = _softmax_and_gradient(lambda x: masked_softmax(x, [[True]], axis=1), logits)
    expected = _softmax_and_gradient(lambda x: tf.nn.softmax(tf.cast(x, tf.float32)), logits)
    for ours, theirs in zip(actual, expected):
        np.testing.assert_array_equal(ours, theirs)


def test_every_row_is_the_softmax_of_its_admitted_entries():
    logits = _logits(ALL_MASKS.shape)
    weights = masked_softmax(logits, ALL_MASKS, axis=1).numpy()
    for row, mask, result in zip(logits.numpy(), ALL_MASKS, weights):
        expected = np.exp(row[mask]) / np.sum(np.exp(row[mask]))
        np.testing.assert_allclose(result[mask], expected, rtol=1e-6)


@pytest.mark.parametrize("garbage", [np.nan, np.inf])
def test_masked_entries_do_not_matter(garbage):
    logits = _logits(ALL_MASKS.shape)
    dirty = tf.where(ALL_MASKS, logits, garbage)
    expected, actual = (
        _softmax_and_gradient(lambda x: masked_softmax(x, ALL_MASKS, axis=1), tensor)
        for tensor in (logits, dirty)
    )
    for clean, other in zip(expected, actual):
        np.testing.assert_array_equal(other, clean)


def test_the_mask_is_broadcast_and_the_axis_may_be_any():
    logits = _logits([2, 5, 3])
    mask = np.array([[True, False, True, True, False], [False] * 5])
    weights = masked_softmax(logits, mask[:, :, None], axis=1).numpy()
    np.testing.assert_allclose(weights.sum(axis=1), [[1] * 3, [0] * 3], rtol=1e-6)
    swapped = tf.transpose(logits, [0, 2, 1])
    np.testing.assert_array_equal(
        masked_softmax(swapped, mask[:, None, :], axis=2), weights.transpose(0, 2, 1)
    )
