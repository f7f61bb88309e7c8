"""The head of DRCN: its arithmetic in training and inference, against NumPy."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers.heads.batch_norm import averaging
from disan_tf.layers.heads.drcn import DRCNHead
from tests.support.layers.batch_norm_heads import (
    HeadContract,
    X,
    assert_large_inputs_stay_finite,
    assert_matrices_alone_decay,
    each_depth,
    each_policy,
    moving,
    of_batch,
    one_example,
    randomised_head,
)
from tests.support.layers.contract import ROUNDING
from tests.support.layers.weights import mapped


class TestMatchingHead(HeadContract):
    kind = DRCNHead
    bad_arguments = (
        {"dropout": 1.0},
        {"dropout": -0.1},
        {"hidden_layers": 0},
        {"momentum": 1.0},
        {"epsilon": 0.0},
    )

    def idle(self, layer):
        return [hidden.dense.bias for hidden in layer.hidden]  # cancel in the normalisation


class TestOneHiddenMatchingLayer(TestMatchingHead, variant=True):
    layers = 1


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


@each_depth
def test_training_normalises_products_by_the_statistics_of_the_batch(hidden_layers):
    head = _head(hidden_layers=hidden_layers, epsilon=0.01)
    actual = head(X, training=True)
    np.testing.assert_allclose(actual, _expected(head, of_batch), rtol=1e-4, atol=1e-5)


@each_depth
def test_inference_normalises_products_by_the_moving_statistics(hidden_layers):
    head = _head(hidden_layers=hidden_layers, epsilon=0.01)
    before = head.get_weights()
    for training in (False, None):
        actual = head(X, training=training)
        np.testing.assert_allclose(actual, _expected(head, moving), rtol=1e-4, atol=1e-5)
    for weight, old in zip(head.get_weights(), before):
        np.testing.assert_array_equal(weight, old)


@pytest.mark.parametrize("momentum", [0.9, 0.5])
def test_a_training_call_moves_the_statistics_of_products(momentum):
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


@pytest.mark.parametrize("training", [None, False])
def test_averages_are_those_over_batches_without_dropout(training):
    head = _head(dropout=0.5)
    batches = [X, X[::2], 2.0 * X]
    products = [mapped(head.hidden[0], x) for x in batches]
    expected = np.mean([(x.mean(axis=0), x.var(axis=0)) for x in products], axis=0)
    for count, x in enumerate(batches):
        with averaging(tf.constant(count, tf.float32)):
            logits = head(x, training=training)
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


def test_a_copy_by_config_normalises_alike():
    copy = DRCNHead.from_config(_head(momentum=0.5, epsilon=0.25).get_config())
    assert (copy.momentum, copy.epsilon) == (0.5, 0.25)


@each_policy
def test_one_example_in_a_batch_stays_finite_and_its_products_become_beta(policy):
    head = _head(dtype=tf.keras.mixed_precision.Policy(policy))
    logits = one_example(head)
    expected = _expected(head, of_batch, X[:1])
    np.testing.assert_allclose(logits, expected, rtol=max(1e-4, 8 * ROUNDING[policy]))


@each_policy
def test_statistics_of_products_are_float32_and_stay_finite_for_large_inputs(policy):
    assert_large_inputs_stay_finite(_head(dtype=tf.keras.mixed_precision.Policy(policy)), 1e3)


@pytest.mark.parametrize(
    "dim, options, count",
    [
        (500, {}, 500 * 1000 + 3 * 1000 + 1000 * 1000 + 3 * 1000 + 1000 * 3 + 3),
        (500, {"hidden_units": 10, "hidden_layers": 1}, 500 * 10 + 3 * 10 + 10 * 3 + 3),
    ],
)
def test_each_hidden_layer_has_a_matrix_a_bias_gamma_and_beta(dim, options, count):
    head = DRCNHead(3, **options)
    head.build([None, dim])
    assert sum(weight.shape.num_elements() for weight in head.trainable_weights) == count


def test_exactly_the_matrices_of_the_head_decay():
    assert_matrices_alone_decay(_head(l2=2.0))


def test_matrices_start_by_glorots_rule_and_biases_at_zero():
    head = DRCNHead(classes=200, hidden_units=300)
    head.build([None, 400])
    for linear, fans in zip((*head.hidden, head.logits), (700, 600, 500)):
        limit = (6 / fans) ** 0.5
        assert 0.99 * limit < np.abs(linear.dense.kernel).max() <= np.float32(limit)
        assert not np.any(linear.dense.bias)
