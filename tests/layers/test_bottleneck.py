"""The autoencoder: its code, and the loss of its reconstruction, against NumPy."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers.feed_forward import Bottleneck
from tests.support.layers.contract import BAD_DROPOUT, ROUNDING, MaskContract
from tests.support.layers.small import DIM, MASK, X, randomised
from tests.support.layers.weights import mapped

UNITS = 3


class TestBottleneck(MaskContract):
    kind = Bottleneck
    arguments = {"units": 6}
    units = 6
    bad_arguments = (*BAD_DROPOUT, {"weight": -1.0})

    def idle(self, layer):
        return layer.decoder.trainable_weights


def _code(layer, x=X):
    """z of every token, real or not, in float64."""
    return np.maximum(mapped(layer.encoder, x.numpy().astype(np.float64)), 0.0)


def _error(layer, mask=MASK):
    """The mean of ||x - x'||^2 / DIM over the real tokens in float64."""
    error = X.numpy().astype(np.float64) - mapped(layer.decoder, _code(layer))
    return np.mean(np.square(error[mask]))


def test_the_result_is_the_rectified_code_and_zero_on_padding():
    layer = randomised(Bottleneck(UNITS))
    expected = np.where(MASK[:, :, None], _code(layer), 0.0)
    assert np.any(expected)
    for training in (False, True):
        actual = layer(X, mask=MASK, training=training)
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("weight", [0.25, 0.0])
def test_training_adds_the_weighted_error_of_real_tokens(weight):
    layer = randomised(Bottleneck(UNITS, weight=weight))
    layer(X, mask=MASK)
    assert not layer.losses
    layer(X, mask=MASK, training=True)
    np.testing.assert_allclose(layer.losses, [weight * _error(layer)], rtol=1e-5)


def _training_gradients(layer, x, mask, of_code=0.0):
    """The gradients of the losses + of_code * sum(z), for x and for every weight."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = layer(x, mask=mask, training=True)
        loss = tf.add_n(layer.losses)
        total = loss + of_code * tf.reduce_sum(tf.cast(z, tf.float32))
    return loss, tape.gradient(total, [x, *layer.trainable_weights])


def test_the_loss_reaches_x_through_the_code_alone():
    layer = randomised(Bottleneck(UNITS))
    _, (actual, *_) = _training_gradients(layer, X, MASK)
    x, real = X.numpy().astype(np.float64), MASK[:, :, None]
    encoder, decoder = (it.dense.kernel.numpy() for it in (layer.encoder, layer.decoder))
    of_output = 2.0 * (mapped(layer.decoder, _code(layer)) - x) / (DIM * MASK.sum()) * real
    expected = (of_output @ decoder.T * (_code(layer) > 0)) @ encoder.T
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("policy", ["float32", "mixed_float16"])
def test_without_tokens_the_loss_is_exactly_zero_and_nothing_learns(policy):
    layer = randomised(Bottleneck(UNITS, dtype=tf.keras.mixed_precision.Policy(policy)))
    loss, gradients = _training_gradients(layer, X, np.zeros_like(MASK), of_code=1.0)
    assert loss == 0.0
    for gradient in gradients:
        np.testing.assert_array_equal(gradient, np.zeros(gradient.shape))


@pytest.mark.parametrize("policy", ["float32", "mixed_float16"])
def test_the_loss_is_float32_and_padding_does_not_matter_to_it(policy):
    layer = randomised(Bottleneck(UNITS, dtype=tf.keras.mixed_precision.Policy(policy)))
    dirty = tf.where(MASK[:, :, None], X, np.nan)
    padded = tf.pad(dirty, [[0, 0], [0, 3], [0, 0]], constant_values=np.inf)
    for x, mask in ((X, MASK), (dirty, MASK), (padded, np.pad(MASK, [[0, 0], [0, 3]]))):
        loss, gradients = _training_gradients(layer, x, mask)
        assert loss.dtype == tf.float32
        np.testing.assert_allclose(loss, _error(layer), rtol=max(1e-5, 20 * ROUNDING[policy]))
        assert all(np.isfinite(gradient).all() for gradient in gradients)


def test_dropout_acts_on_the_code():
    layer = randomised(Bottleneck(UNITS, dropout=0.5))
    layer.code_dropout.keep = lambda entries: tf.range(entries) % 2 == 0
    kept = np.arange(_code(layer).size).reshape(*MASK.shape, UNITS) % 2 == 0
    actual = layer(X, mask=MASK, training=True)
    expected = np.where(kept & MASK[:, :, None], 2.0 * _code(layer), 0.0)
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)
