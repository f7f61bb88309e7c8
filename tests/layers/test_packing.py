"""What is left of sequences when tokens are dropped."""

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from disan_tf.layers.convolution import Convolution
from disan_tf.layers.packed_rows import SENTENCES_PER_ROW, PackedRows
from disan_tf.layers.tokens import (
    LENGTH_MULTIPLE,
    ROWS_MULTIPLE,
    pack,
    packed_mask,
    pad_length,
    real_tokens,
    scatter_tokens,
)

SELECTED = st.integers(1, 7).flatmap(lambda length: arrays(bool, (3, length)))


def _vectors(selected, dtype=tf.float32):
    """Each token's vector tells its place."""
    places = np.stack(np.indices(selected.shape), axis=-1) + 1
    return tf.constant(places, dtype)


@settings(max_examples=15, deadline=None, derandomize=True)
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


@pytest.mark.parametrize("rows, length", [(2, 4), (2, 0), (0, 4), (0, 0)])
@pytest.mark.parametrize("dtype", [tf.float32, tf.float16])
def test_a_batch_without_any_has_one_place_of_padding(dtype, rows, length):
    selected = np.zeros([rows, length], bool)
    x = tf.constant(_vectors(selected, dtype))
    with tf.GradientTape() as tape:
        tape.watch(x)
        packed, mask = pack(x, selected)
    assert packed.dtype == dtype
    np.testing.assert_array_equal(packed, np.zeros([rows, 1, 2]))
    np.testing.assert_array_equal(mask, np.zeros([rows, 1], bool))
    of_x = tf.convert_to_tensor(tape.gradient(packed, x))
    np.testing.assert_array_equal(of_x, np.zeros([rows, length, 2]))


@settings(max_examples=15, deadline=None, derandomize=True)
@given(SELECTED)
def test_real_tokens_stand_in_their_order_and_find_their_places_again(mask):
    x = _vectors(mask)
    rows, tokens = real_tokens(x, mask), int(mask.sum())
    np.testing.assert_array_equal(rows[:tokens], x[mask])
    assert rows.shape[0] == -(-tokens // ROWS_MULTIPLE) * ROWS_MULTIPLE
    placed = scatter_tokens(rows, tf.constant(mask))
    np.testing.assert_array_equal(placed, np.where(mask[:, :, None], x, 0))


@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16])
def test_surplus_rows_neither_count_nor_learn(dtype):
    mask = tf.constant([[True, False, True], [False, True, False]])
    x, kernel = tf.Variable(_vectors(mask, dtype)), tf.Variable(tf.ones([2, 1], dtype))
    with tf.GradientTape() as tape:
        placed = scatter_tokens(tf.matmul(real_tokens(x, mask), kernel), mask)
        total = tf.reduce_sum(placed)
    gradients = tape.gradient(total, [x, kernel])
    real = np.repeat(mask.numpy()[:, :, None], 2, axis=2)
    np.testing.assert_array_equal(tf.convert_to_tensor(gradients[0]), real)
    np.testing.assert_array_equal(gradients[1][:, 0], np.sum(x.numpy(), axis=(0, 1), where=real))
    assert total.dtype == dtype


@pytest.mark.parametrize("length", [0, 1, LENGTH_MULTIPLE, LENGTH_MULTIPLE + 1])
def test_lengths_are_rounded_up_with_padding(length):
    x = pad_length(tf.ones([2, length, 3]))
    assert x.shape == [2, -(-length // LENGTH_MULTIPLE) * LENGTH_MULTIPLE, 3]
    assert np.all(x[:, :length] == 1) and not np.any(x[:, length:])
    assert pad_length(tf.ones([2, length], tf.bool)).shape == x.shape[:2]


def _ragged(batch, length, seed=0):
    """A mask of sentences with holes, most of them short, some empty."""
    generator = np.random.default_rng(seed)
    lengths = generator.integers(0, 1 + length // 4, batch)
    lengths[generator.integers(batch)] = length
    real = np.arange(length) < lengths[:, None]
    return real & (generator.random(real.shape) < 0.9)


@pytest.mark.parametrize("batch, gap", [(9, 0), (16, 2), (50, 2)])
def test_rows_have_each_token_once_and_give_the_sentences_back(batch, gap):
    mask = _ragged(batch, 40)
    x, rows = _vectors(mask), PackedRows(tf.constant(mask), gap)
    assert rows.mask.numpy().size < 0.75 * mask.size
    assert (
        rows.mask.shape[0] == -(-batch // SENTENCES_PER_ROW)
        and rows.mask.shape[1] % LENGTH_MULTIPLE == 0
    )
    laid = rows.pack(x).numpy()[rows.mask.numpy()]
    assert sorted(laid.tolist()) == sorted(x.numpy()[mask].tolist())
    found = rows.sentences(rows.tokens(rows.pack(x)))
    np.testing.assert_array_equal(found, np.where(mask[:, :, None], x, 0))


@pytest.mark.parametrize("shape", [(0, 4), (2, 0), (2, 4), (64, 9)])
@pytest.mark.parametrize("real", [True, False])
def test_a_batch_where_rows_save_little_stays_as_it_is(shape, real):
    mask = tf.fill(shape, real)
    x, rows = _vectors(mask.numpy()), PackedRows(mask, gap=2)
    if real:
        np.testing.assert_array_equal(rows.mask, mask)
        np.testing.assert_array_equal(rows.pack(x), x)
    assert rows.sentences(rows.tokens(rows.pack(x))).shape == x.shape


@pytest.mark.parametrize("width, compiled", [(2, True), (5, False)])
def test_a_convolution_of_rows_is_one_of_each_sentence(width, compiled):
    mask = tf.constant(_ragged(50, 40, seed=width))
    x, layer = tf.random.normal([50, 40, 3], seed=1), Convolution(6, width, "relu")
    plain = lambda x: layer(x, mask=mask)  # noqa: E731

    def in_rows(x):
        rows = PackedRows(mask, gap=width // 2)
        return rows.sentences(rows.tokens(layer(rows.pack(x), mask=rows.mask)))

    found, expected = [], []
    for function, results in ((in_rows, found), (plain, expected)):
        function = tf.function(function) if compiled else function
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
            total = tf.reduce_sum(tf.square(y))
        results += [y, *tape.gradient(total, [x, layer.kernel])]
    for one, other in zip(found, expected):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
