"""Rows in blocks of similar length: the same results, and padding only up to the block's own."""

from unittest import mock

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.serving.export import row_blocks
from disan_tf.serving.export.row_blocks import in_row_blocks


def run(lengths, positions=6):
    """The results, and for each block its rows and the greatest lengths."""
    blocks = []

    def function(rows, widths):
        tf.py_function(
            lambda *block: blocks.append([each.numpy() for each in block]), [rows, widths], []
        )
        return tf.cast(tf.stack([rows, rows * rows], axis=1), tf.float32)

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)], autograph=False)
    def compute(lengths):
        return in_row_blocks(function, lengths, 2)

    with mock.patch.object(row_blocks, "BLOCK_POSITIONS", positions):
        results = compute(tf.constant(lengths, tf.int32)).numpy()
    return results, [(rows.tolist(), widths.tolist()) for rows, widths in blocks]


def test_results_come_in_the_order_of_the_rows():
    results, _ = run([[2], [9], [1], [3]])
    np.testing.assert_array_equal(results, [[0, 0], [1, 1], [2, 4], [3, 9]])


def test_a_block_is_as_wide_as_its_longest_row_and_holds_the_rows_that_fit():
    _, blocks = run([[2], [9], [1], [3], [2], [2]])
    assert blocks == [([1], [9]), ([3, 0], [3]), ([4, 5, 2], [2])]


def test_no_row_is_shorter_than_half_of_the_longest_of_its_block():
    _, blocks = run([[5], [9], [4], [5], [2]], positions=40)
    assert blocks == [([1, 0, 3], [9]), ([2, 4], [4])]


def test_many_rows_come_in_multiples_for_which_slices_need_no_copies():
    _, blocks = run([[2]] * 13, positions=14)
    assert [len(rows) for rows, _ in blocks] == [4, 4, 4, 1]


def test_pairs_are_sorted_by_their_longer_sentence_and_each_has_a_width_of_its_own():
    _, blocks = run([[1, 2], [3, 1], [2, 3]])
    assert blocks == [([1, 2], [3, 3]), ([0], [1, 2])]


@pytest.mark.parametrize("fields", [1, 2])
def test_an_empty_batch_has_no_results(fields):
    results, blocks = run(np.zeros([0, fields]))
    assert results.shape == (0, 2) and not blocks
