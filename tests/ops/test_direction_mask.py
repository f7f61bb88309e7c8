"""Masks of directions: DiSAN Eq. 16 to 18 as booleans."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.ops.direction_mask import admissible_pairs, positional_mask

MATRICES = {  # row = head j, column = dependent i
    "forward": [[0, 0, 0], [1, 0, 0], [1, 1, 0]],
    "backward": [[0, 1, 1], [0, 0, 1], [0, 0, 0]],
    "diagonal": [[0, 1, 1], [1, 0, 1], [1, 1, 0]],
}


@pytest.mark.parametrize("direction", MATRICES)
def test_a_direction_allows_the_pairs_of_the_paper(direction):
    pairs = positional_mask(tf.range(3), tf.range(3), direction)
    np.testing.assert_array_equal(pairs, np.array(MATRICES[direction], bool))


def test_positions_may_be_any_range():
    pairs = positional_mask(tf.constant([4, 2]), tf.constant([3, 4, 5]), "backward")
    np.testing.assert_array_equal(pairs, [[False, False, True], [True, True, True]])


def test_masks_take_columns_and_selections_take_rows():
    mask, heads = np.array([[True, False, True]]), np.array([[False, True, True]])
    pairs = admissible_pairs(mask, "diagonal")
    np.testing.assert_array_equal(pairs, np.array([[[0, 0, 1], [1, 0, 1], [1, 0, 0]]], bool))
    pairs = admissible_pairs(mask, "diagonal", heads)
    np.testing.assert_array_equal(pairs, np.array([[[0, 0, 0], [1, 0, 1], [1, 0, 0]]], bool))
