"""Dropout: the rate, the scale, and masks that a resumed training draws again."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import Dropout
from disan_tf.layers.dropout import Positions, site_seed
from disan_tf.ops import portable
from tests.support.ops.backends import needs_native

ONES = tf.ones([100, 200])


def _built(rate=0.25, seed=3, **options):
    layer = Dropout(rate, seed, **options)
    layer(ONES)
    return layer


def _masks(layer, calls):
    return np.stack([layer(ONES, training=True).numpy() != 0 for _ in range(calls)])


@pytest.mark.parametrize("rate", [0.1, 0.7])
def test_the_rate_is_kept(rate):
    kept = _masks(_built(rate), 5)
    deviation = np.sqrt(rate * (1 - rate) / kept.size)
    assert abs(1 - kept.mean() - rate) < 4 * deviation


@pytest.mark.parametrize("dtype, rate", [("float32", 0.1), ("bfloat16", 1 / 3), ("float16", 0.3)])
def test_the_scale_is_that_of_the_rate_itself(rate, dtype):
    """Not of the nearest rate that sixteen bits can say, nor of 1 - rate rounded to `dtype`."""
    layer, ones = _built(rate, dtype=dtype), tf.ones([50, 50], dtype)
    values = np.unique(layer(ones, training=True).numpy())
    np.testing.assert_array_equal(values, tf.constant([0.0, 1 / (1 - rate)], dtype))
    x, places = tf.range(1, 2501, dtype=tf.float32) / 100, Positions(tf.range(50), tf.constant(50))
    x = tf.cast(tf.reshape(x, [50, 50]), dtype)
    placed = _built(rate, dtype=dtype)(x, training=True, places=places)
    np.testing.assert_array_equal(placed, _built(rate, dtype=dtype)(x, training=True))


@needs_native
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_the_portable_layer_drops_the_same_entries(dtype):
    native, other = _built(0.3, dtype=dtype), _built(0.3, dtype=dtype)
    for _ in range(3):
        expected = native(ONES, training=True)
        with portable():
            np.testing.assert_array_equal(other(ONES, training=True), expected)


@pytest.mark.parametrize("training", [None, False])
def test_nothing_is_dropped_or_counted_outside_training(training):
    layer = _built()
    np.testing.assert_array_equal(layer(ONES, training=training), ONES)
    assert layer.calls.numpy() == 0


def test_masks_are_a_function_of_seed_and_call():
    np.testing.assert_array_equal(_masks(_built(), 3), _masks(_built(), 3))


def test_a_restored_counter_draws_the_same_masks_again(tmp_path):
    layer = _built()
    _masks(layer, 3)
    path = tf.train.Checkpoint(layer=layer).write(str(tmp_path / "counter"))
    expected = _masks(layer, 2)
    resumed = _built()
    tf.train.Checkpoint(layer=resumed).read(path).assert_consumed()
    np.testing.assert_array_equal(_masks(resumed, 2), expected)


def test_a_name_and_a_seed_make_a_site_seed():
    seeds = {site_seed(seed, site) for seed in (0, 1) for site in ("a", "b", "1/a")}
    assert len(seeds) == 6
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert site_seed(1, "input_map") == 0x4DC39E10  # for ever: a resumed training needs it
