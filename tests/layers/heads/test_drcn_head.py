"""The head of DRCN: its arithmetic in training and inference, against NumPy."""

import numpy as np
import tensorflow as tf

from disan_tf.layers.heads.batch_norm import DRCNHead, averaging
from tests.support.layers.batch_norm_heads import (
    HeadArithmetic,
    HeadContract,
    X,
    moving,
    of_batch,
    randomised_head,
)
from tests.support.layers.contract import BAD_DROPOUT
from tests.support.layers.weights import mapped


class TestMatchingHead(HeadContract):
    kind = DRCNHead
    bad_arguments = (
        *BAD_DROPOUT,
        {"hidden_layers": 0},
        {"momentum": 1.0},
        {"epsilon": 0.0},
    )

    def idle(self, layer):
        return [hidden.dense.bias for hidden in layer.hidden]  # cancel in the normalisation


def _head(**options):
    return randomised_head(DRCNHead, **{"dropout": 0.0, **options})


def _expected(head, moments, x=X):
    """The logits in float64, where `moments(norm, x)` are the mean and the variance."""
    x = x.astype(np.float64)
    for hidden, norm in zip(head.hidden, head.norms):
        x = mapped(hidden, x)
        mean, variance = moments(norm, x)
        x = (x - mean) / np.sqrt(variance + head.epsilon)
        x = np.maximum(norm.gamma.numpy() * x + norm.beta.numpy(), 0.0)
    return mapped(head.logits, x)


class TestDRCNArithmetic(HeadArithmetic):
    head, expected = staticmethod(_head), staticmethod(_expected)
    options = {"epsilon": 0.01}
    rounding, large = 1e-4, 1e3


def test_a_training_call_moves_the_statistics_of_products():
    momentum = 0.5
    head = _head(momentum=momentum)
    mean, variance = (each.astype(np.float64) for each in moving(head.norms[0], X))
    products = mapped(head.hidden[0], X.astype(np.float64))
    head(X, training=True)
    new_mean, new_variance = moving(head.norms[0], X)
    rest = 1.0 - momentum
    np.testing.assert_allclose(new_mean, momentum * mean + rest * products.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(
        new_variance, momentum * variance + rest * products.var(axis=0), rtol=1e-5
    )


def test_averages_are_those_over_batches_without_dropout():
    head = _head(dropout=0.5)
    batches = [X, X[::2], 2.0 * X]
    products = [mapped(head.hidden[0], x) for x in batches]
    expected = np.mean([(x.mean(axis=0), x.var(axis=0)) for x in products], axis=0)
    for number, x in enumerate(batches):
        with averaging(tf.constant(number, tf.float32)):
            logits = head(x)
        np.testing.assert_allclose(logits, _expected(head, of_batch, x), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(moving(head.norms[0], X), expected, rtol=1e-5)
    actual = head(X, training=False)
    np.testing.assert_allclose(actual, _expected(head, moving), rtol=1e-4, atol=1e-5)


def test_dropout_acts_on_the_features_alone():
    head = _head(dropout=0.5)
    head.hidden[0].dropout.keep = lambda entries: tf.range(entries) % 3 == 0
    dropped = np.where(np.arange(X.size).reshape(X.shape) % 3 == 0, 2.0 * X, 0.0)
    expected = _expected(head, of_batch, dropped)
    np.testing.assert_allclose(head(X, training=True), expected, rtol=1e-4, atol=1e-5)
    assert DRCNHead(classes=3).dropout == 0.2


def test_a_head_that_is_made_frozen_keeps_its_statistics():
    head = DRCNHead(2, 4, hidden_layers=1, dropout=0.0, trainable=False)
    expected = head(X)
    before = [weight.numpy() for weight in head.weights]
    np.testing.assert_allclose(head(X, training=True), expected, rtol=1e-5)
    for weight, value in zip(head.weights, before):
        np.testing.assert_array_equal(weight, value)
    head.trainable = True
    assert head.trainable_weights
