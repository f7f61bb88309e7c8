"""What is left of sequences when tokens are dropped."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from disan_tf.layers.convolution import Convolution
from disan_tf.layers.packing import (
    LENGTH,
    ROWS,
    Stream,
    pack,
    packed_mask,
    placed_tokens,
    real_tokens,
    rounded,
)

SELECTED = st.integers(1, 7).flatmap(lambda length: arrays(bool, (3, length)))


def _vectors(selected, dtype=tf.float32):
    """Each token's vector tells its place."""
    places = np.stack(np.indices(selected.shape), axis=-1) + 1
    return tf.constant(places, dtype)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(SELECTED)
def test_the_selected_tokens_stand_on_the_left_in_their_order(selected):
    x = _vectors(selected)
    packed, mask = pack(x, selected)
    assert packed.shape[1] == max(1, selected.sum(axis=1).max())
    np.testing.assert_array_equal(mask, packed_mask(selected))
    for row, (chosen, real) in enumerate(zip(selected, mask.numpy())):
        np.testing.assert_array_equal(packed[row][real], x[row][chosen])
        assert not np.any(packed[row][~real])
        assert not np.any(np.diff(real.astype(int)) > 0)  # no token after padding


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16, tf.float16])
def test_a_batch_without_any_has_one_place_of_padding(dtype):
    selected = np.zeros([2, 4], bool)
    packed, mask = pack(_vectors(selected, dtype), selected)
    assert packed.dtype == dtype
    np.testing.assert_array_equal(packed, np.zeros([2, 1, 2]))
    np.testing.assert_array_equal(mask, [[False], [False]])


def test_where_all_are_selected_nothing_changes():
    selected = np.ones([2, 4], bool)
    packed, mask = pack(_vectors(selected), selected)
    np.testing.assert_array_equal(packed, _vectors(selected))
    np.testing.assert_array_equal(mask, selected)


def test_a_selected_token_alone_gets_a_gradient():
    selected = np.array([[False, True, False, True], [False, True, False, False]])
    x = tf.Variable(_vectors(selected))
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(pack(x, selected)[0])
    gradient = tf.convert_to_tensor(tape.gradient(total, x))
    np.testing.assert_array_equal(gradient, np.repeat(selected[:, :, None], 2, axis=2))


def test_what_is_not_a_number_stays_out():
    selected = np.array([[False, True], [False, False]])
    x = tf.where(selected[:, :, None], _vectors(selected), np.nan)
    np.testing.assert_array_equal(pack(x, selected)[0], [[[1, 2]], [[0, 0]]])


def test_compiled_for_any_length_gives_the_same():
    selected = np.array([[True, False, True], [False, False, True]])
    x = _vectors(selected)
    signature = [tf.TensorSpec([None, None, 2]), tf.TensorSpec([None, None], tf.bool)]
    compiled = tf.function(pack, input_signature=signature)
    assert compiled.get_concrete_function().output_shapes[0][-1] == 2
    for actual, expected in zip(compiled(x, selected), pack(x, selected)):
        np.testing.assert_array_equal(actual, expected)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(SELECTED)
def test_real_tokens_stand_in_their_order_and_find_their_places_again(mask):
    x = _vectors(mask)
    rows, tokens = real_tokens(x, mask), int(mask.sum())
    np.testing.assert_array_equal(rows[:tokens], x[mask])
    assert rows.shape[0] == -(-tokens // ROWS) * ROWS
    placed = placed_tokens(rows, tf.constant(mask))
    np.testing.assert_array_equal(placed, np.where(mask[:, :, None], x, 0))


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16, tf.float16])
def test_surplus_rows_neither_count_nor_learn(dtype):
    mask = tf.constant([[True, False, True], [False, True, False]])
    x, kernel = tf.Variable(_vectors(mask, dtype)), tf.Variable(tf.ones([2, 1], dtype))
    with tf.GradientTape() as tape:
        placed = placed_tokens(tf.matmul(real_tokens(x, mask), kernel), mask)
        total = tf.reduce_sum(placed)
    gradients = tape.gradient(total, [x, kernel])
    real = np.repeat(mask.numpy()[:, :, None], 2, axis=2)
    np.testing.assert_array_equal(tf.convert_to_tensor(gradients[0]), real)
    np.testing.assert_array_equal(gradients[1][:, 0], np.sum(x.numpy(), axis=(0, 1), where=real))
    assert total.dtype == dtype


@pytest.mark.parametrize("length", [0, 1, LENGTH, LENGTH + 1])
def test_lengths_are_rounded_up_with_padding(length):
    x = rounded(tf.ones([2, length, 3]))
    assert x.shape == [2, -(-length // LENGTH) * LENGTH, 3]
    assert np.all(x[:, :length] == 1) and not np.any(x[:, length:])
    assert rounded(tf.ones([2, length], tf.bool)).shape == x.shape[:2]


@settings(max_examples=50, deadline=None, derandomize=True)
@given(SELECTED)
def test_a_stream_has_the_sentences_apart_and_gives_their_tokens_back(mask):
    x = _vectors(mask)
    stream = Stream(tf.constant(mask), gap=2)
    assert stream.mask.shape[1] % ROWS == 0
    assert np.sum(stream.mask) == mask.sum()
    laid = stream.lay(x)
    np.testing.assert_array_equal(laid[stream.mask], x[mask])
    tokens = stream.tokens(laid)
    assert tokens.shape == real_tokens(x, tf.constant(mask)).shape
    np.testing.assert_array_equal(tokens[: mask.sum()], x[mask])


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_a_convolution_of_a_stream_is_one_of_each_sentence(width):
    mask = np.array([[1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 1], [1, 1, 0, 0]]) == 1
    x, layer = tf.random.normal([5, 4, 3], seed=1), Convolution(6, width, "relu")
    expected = layer(x, mask=mask)
    stream = Stream(tf.constant(mask), gap=width // 2)
    tokens = stream.tokens(layer(stream.lay(x), mask=stream.mask))
    found = placed_tokens(tokens, tf.constant(mask))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("shape", [(0, 4), (2, 0), (2, 4)])
def test_a_stream_without_a_token_is_all_padding(shape):
    stream = Stream(tf.zeros(shape, tf.bool), gap=2)
    laid = stream.lay(tf.ones([*shape, 3]))
    assert laid.shape == [1, ROWS, 3] and not np.any(stream.mask)
    assert stream.tokens(laid).shape == [0, 3]
