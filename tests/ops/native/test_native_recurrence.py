"""Recurrent layers in one native operation against TensorFlow's loop, and what it refuses."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import BasicLSTM
from disan_tf.layers.recurrent.rnn import BasicRNN
from disan_tf.ops import portable
from disan_tf.ops.recurrence import recurrence
from tests.support.backends import needs_native

pytestmark = needs_native
GATES = {"lstm": 4, "rnn": 1}


def _results(layer, x, mask, upstream):
    with tf.GradientTape() as tape:
        tape.watch(x)
        h = layer(x, mask=mask)
        total = tf.reduce_sum(h * upstream)
    return [h, *tape.gradient(total, [x, *layer.trainable_weights])]


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("kind", [BasicLSTM, BasicRNN])
@pytest.mark.parametrize("batch, length, units", [(1, 1, 1), (17, 5, 16), (37, 9, 33), (3, 40, 7)])
def test_values_and_gradients_are_those_of_the_loop(kind, backward, batch, length, units):
    generator = np.random.default_rng(1)
    x = tf.constant(generator.normal(size=[batch, length, 6]), tf.float32)
    mask = tf.constant(generator.random([batch, length]) > 0.3)  # padding may stand anywhere
    upstream = tf.constant(generator.normal(size=[batch, length, units]), tf.float32)
    layer = kind(units, backward=backward)
    found = _results(layer, x, mask, upstream)
    with portable():
        expected = _results(layer, x, mask, upstream)
    for one, other in zip(found, expected):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("batch, length", [(0, 3), (2, 0)])
def test_nothing_gives_nothing(batch, length):
    layer = BasicLSTM(4)
    layer.build([None, None, 3])
    h = layer(tf.zeros([batch, length, 3]), mask=tf.zeros([batch, length], tf.bool))
    assert h.shape == [batch, length, 4]


@pytest.mark.parametrize("cell", GATES)
def test_large_numbers_saturate_and_nan_stays_in_its_row(cell):
    product = np.full([3, 2, GATES[cell] * 5], 1e30, np.float32)
    product[1] = -1e30
    product[2, 0, 0] = np.nan
    mask, kernel = tf.ones([3, 2], tf.bool), tf.ones([5, GATES[cell] * 5])
    h = recurrence(tf.constant(product), mask, kernel, cell=cell, backward=False).numpy()
    assert np.isfinite(h[:2]).all() and np.abs(h[:2]).max() <= 1.0
    assert np.isnan(h[2]).any()


def test_the_same_bits_come_out_again():
    layer, generator = BasicLSTM(33), np.random.default_rng(2)
    x = tf.constant(generator.normal(size=[64, 12, 20]), tf.float32)
    mask = tf.sequence_mask(generator.integers(0, 13, 64), 12)
    upstream = tf.ones([64, 12, 33])
    for one, other in zip(*(_results(layer, x, mask, upstream) for _ in range(2))):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name, shapes", [
    ("product", ([2, 3, 6], [2, 3], [2, 8])),
    ("mask", ([2, 3, 8], [2, 4], [2, 8])),
    ("kernel", ([2, 3, 8], [2, 3], [3, 8])),
])  # fmt: skip
def test_wrong_shapes_are_refused_by_name(name, shapes):
    product, mask, kernel = shapes
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{name} has shape"):
        recurrence(
            tf.zeros(product), tf.zeros(mask, tf.bool), tf.zeros(kernel), cell="lstm",
            backward=False,
        )  # fmt: skip
