"""Recurrent layers as one native operation against the portable loop, and wrong arguments."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import BasicLSTM
from disan_tf.layers.recurrent.rnn import BasicRNN
from disan_tf.ops import portable
from disan_tf.ops.recurrence import recurrence
from tests.support.ops.backends import needs_native

pytestmark = needs_native
GATES = {"lstm": 4, "rnn": 1}


def _results(layer, x, mask, upstream):
    with tf.GradientTape() as tape:
        tape.watch(x)
        h = layer(x, mask=mask)
        total = tf.reduce_sum(h * upstream)
    return [h, *tape.gradient(total, [x, *layer.trainable_weights])]


@pytest.mark.parametrize(
    "batch, length, units, backward",
    [(1, 1, 1, False), (17, 5, 16, True), (37, 9, 33, False), (3, 40, 7, True)],
)
@pytest.mark.parametrize("kind", [BasicLSTM, BasicRNN])
def test_values_and_gradients_are_those_of_the_loop(kind, batch, length, units, backward):
    generator = np.random.default_rng(1)
    x = tf.constant(generator.normal(size=[batch, length, 6]), tf.float32)
    mask = tf.constant(generator.random([batch, length]) > 0.3)  # padding may stand anywhere
    upstream = tf.constant(generator.normal(size=[batch, length, units]), tf.float32)
    layer = kind(units, backward=backward)
    actual = _results(layer, x, mask, upstream)
    with portable():
        expected = _results(layer, x, mask, upstream)
    for ours, theirs in zip(actual, expected):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("batch, length", [(0, 3), (2, 0)])
def test_an_empty_batch_and_an_empty_sentence_have_no_states(batch, length):
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


@pytest.mark.parametrize(
    "name, shapes",
    [
        ("product", ([2, 3, 6], [2, 3], [2, 8])),
        ("mask", ([2, 3, 8], [2, 4], [2, 8])),
        ("kernel", ([2, 3, 8], [2, 3], [3, 8])),
    ],
)
def test_wrong_shapes_are_refused_by_name(name, shapes):
    product, mask, kernel = shapes
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{name} has shape"):
        recurrence(
            tf.zeros(product),
            tf.zeros(mask, tf.bool),
            tf.zeros(kernel),
            cell="lstm",
            backward=False,
        )
