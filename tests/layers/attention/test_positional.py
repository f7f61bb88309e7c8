"""Positions as Vaswani et al. encode them."""

import math

import pytest

from disan_tf.layers import positional_encoding


@pytest.mark.parametrize("dim", [6, 7])
def test_features_are_sines_and_cosines_in_pairs(dim):
    encoding = positional_encoding(9, dim).numpy()
    assert encoding.shape == (9, dim)
    for position in range(9):
        for feature in range(dim):
            wave = math.cos if feature % 2 else math.sin
            angle = position / 10000 ** (2 * (feature // 2) / dim)
            assert encoding[position, feature] == pytest.approx(wave(angle), abs=1e-6)


def test_the_first_position_is_zeros_and_ones():
    assert positional_encoding(1, 4).numpy().tolist() == [[0, 1, 0, 1]]
