"""disan_tf/common/checks.py: limits of values, and the nearest word."""

import pytest

from disan_tf.common.checks import check_at_least, check_layers, check_rate, nearest


@pytest.mark.parametrize(
    "word, expected",
    [("tarin", "train"), ("ReLU", "relu"), ("bi-lstm", "bi_lstm"), ("xyz", None), ("", None)],
)
def test_the_nearest_word_is_found_whatever_its_capitals(word, expected):
    assert nearest(word, ["train", "relu", "bi_lstm", "gru"]) == expected


@pytest.mark.parametrize("value", [-0.1, 1.0, float("nan")])
def test_a_rate_is_below_one(value):
    with pytest.raises(ValueError, match="^rate=.* must be at least 0 and below 1.$"):
        check_rate("rate", value)
    assert check_rate("rate", 0.0) == 0.0


@pytest.mark.parametrize("value, message", [(0, "at least 1"), (101, "at most 100")])
def test_a_number_of_layers_has_limits(value, message):
    with pytest.raises(ValueError, match=f"^layers={value} must be {message}"):
        check_layers("layers", value)
    assert check_layers("layers", 100) == 100


def test_none_passes_a_lower_limit():
    assert check_at_least("units", None, 1) is None
    with pytest.raises(ValueError, match="^units=nan must be at least 1.$"):
        check_at_least("units", float("nan"), 1)
