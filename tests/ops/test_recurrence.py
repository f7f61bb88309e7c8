"""Recurrent layers as one native operation, and as loops for GPUs, against the portable loop."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import BasicLSTM
from disan_tf.layers.recurrent import BasicRNN
from disan_tf.layers.tokens import real_tokens
from disan_tf.ops import portable
from disan_tf.ops.native import runtime
from disan_tf.ops.recurrence import recurrence
from disan_tf.ops.tracing import target
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
    layer.build(x.shape)
    for weight in layer.weights:  # the bias begins with 0
        weight.assign(generator.normal(size=weight.shape, scale=0.1))
    native = _results(layer, x, mask, upstream)
    with portable():
        expected = _results(layer, x, mask, upstream)
        with target("GPU"):
            looped = _results(layer, x, mask, upstream)
    for actual in (native, looped):
        for ours, theirs in zip(actual, expected):
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("batch, length", [(0, 3), (2, 0)])
def test_an_empty_batch_and_an_empty_sentence_have_no_states(batch, length):
    layer = BasicLSTM(4)
    layer.build([None, None, 3])
    x, mask = tf.zeros([batch, length, 3]), tf.zeros([batch, length], tf.bool)
    h, *gradients = _results(layer, x, mask, 1.0)
    with portable(), target("GPU"):
        looped = _results(layer, x, mask, 1.0)
    assert h.shape == looped[0].shape == [batch, length, 4]
    for ours, theirs in zip(gradients, looped[1:]):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("cell", GATES)
def test_large_numbers_saturate_and_nan_stays_in_its_row(cell):
    product = np.full([3, 2, GATES[cell] * 5], 1e30, np.float32)
    product[1] = -1e30
    product[2, 0, 0] = np.nan
    bias, mask = tf.zeros([GATES[cell] * 5]), tf.ones([3, 2], tf.bool)
    kernel = tf.ones([5, GATES[cell] * 5])
    h = recurrence(tf.constant(product), bias, mask, kernel, cell=cell, backward=False).numpy()
    assert np.isfinite(h[:2]).all() and np.abs(h[:2]).max() <= 1.0
    assert np.isnan(h[2]).any()


@pytest.mark.parametrize(
    "kind, policy",
    [(BasicLSTM, "mixed_bfloat16"), (BasicRNN, "mixed_float16"), (BasicRNN, "float32")],
)
def test_tokens_without_padding_are_read_like_padded_ones(kind, policy):
    dtype = tf.keras.mixed_precision.Policy(policy).compute_dtype
    generator = np.random.default_rng(2)
    x = tf.cast(generator.normal(size=[19, 7, 6]), dtype)
    mask = tf.constant(generator.random([19, 7]) > 0.4)
    upstream = tf.cast(generator.normal(size=[19, 7, 5]), dtype)
    layer = kind(5, backward=True, dtype=policy)
    padded = _results(layer, x, mask, upstream)
    with tf.GradientTape() as tape:
        tape.watch(x)
        h = layer(real_tokens(x, mask), mask=mask)
        total = tf.reduce_sum(h * upstream)
    packed = [h, *tape.gradient(total, [x, *layer.trainable_weights])]
    assert h.dtype == dtype
    padded[1] = tf.where(mask[:, :, None], padded[1], 0)
    tolerance = 1e-5 if policy == "float32" else 2e-2
    for ours, theirs in zip(packed, padded):
        np.testing.assert_allclose(
            tf.cast(ours, tf.float32), tf.cast(theirs, tf.float32), rtol=tolerance, atol=tolerance
        )


@pytest.mark.parametrize("product", [[2, 3, 8], [7, 8]])
def test_rows_of_no_token_have_no_effect_and_no_gradient(product):
    mask = tf.constant([[True, False, True], [False, False, True]])
    bias, kernel = tf.ones([8]), tf.ones([2, 8])
    products = [tf.fill(product, 0.5), tf.fill(product, 0.5)]
    used = mask if len(product) == 3 else tf.range(7) < 3
    products[1] = tf.where(used[..., None], products[1], float("nan"))
    results = []
    for each in products:
        with tf.GradientTape() as tape:
            tape.watch([each, bias, kernel])
            h = recurrence(each, bias, mask, kernel, cell="lstm", backward=False)
            total = tf.reduce_sum(h)
        results.append([h, *tape.gradient(total, [each, bias, kernel])])
    for ours, theirs in zip(*results):
        np.testing.assert_array_equal(ours, theirs)
    assert not np.any(results[0][0].numpy()[~mask.numpy()])
    assert not np.any(results[0][1].numpy()[~used.numpy()])
    assert np.all(results[0][1].numpy()[used.numpy()][:, 6:] != 0)  # through the output gate


@pytest.mark.parametrize(
    "message, shapes",
    [
        ("product has shape", ([2, 3, 6], [8], [2, 3], [2, 8])),
        ("product has shape", ([8], [8], [2, 3], [2, 8])),
        ("product has shape .* with units > 0", ([2, 3, 0], [0], [2, 3], [0, 0])),
        ("product has shape .* but mask has 6 tokens", ([5, 8], [8], [2, 3], [2, 8])),
        ("bias has shape", ([2, 3, 8], [4], [2, 3], [2, 8])),
        ("mask has shape", ([2, 3, 8], [8], [2, 4], [2, 8])),
        ("mask has shape", ([2, 3, 8], [8], [6], [2, 8])),
        ("kernel has shape", ([2, 3, 8], [8], [2, 3], [3, 8])),
    ],
)
def test_wrong_shapes_are_refused_by_name(message, shapes):
    product, bias, mask, kernel = shapes
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        recurrence(
            tf.zeros(product),
            tf.zeros(bias),
            tf.ones(mask, tf.bool),
            tf.zeros(kernel),
            cell="lstm",
            backward=False,
        )


def test_the_gradient_refuses_a_layer_without_units():
    with pytest.raises(tf.errors.InvalidArgumentError, match="gates has shape .* with units > 0"):
        runtime.operations().disan_recurrence_gradient(
            tf.zeros([2, 3, 0]),
            tf.ones([2, 3], tf.bool),
            tf.zeros([0, 0]),
            tf.zeros([2, 3, 0]),
            tf.zeros([2, 3, 0]),
            cell="lstm",
            backward=False,
        )
