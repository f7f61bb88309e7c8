"""The head with batch normalisation: its arithmetic, its statistics, how configs choose it."""

import numpy as np
import pytest
import tensorflow as tf
from ml_collections import ConfigDict

from disan_tf.cli.loading import read_config
from disan_tf.common.errors import UserError
from disan_tf.layers.heads.batch_norm import DSAHead
from disan_tf.models.factory import build_model
from tests.support.layers.batch_norm_heads import (
    HeadArithmetic,
    HeadContract,
    X,
    moving,
    randomised_head,
)
from tests.support.layers.contract import BAD_DROPOUT
from tests.support.layers.weights import mapped
from tests.support.runs.training import tiny_config

DSA = {"name": "classification", "head": "dsa", "hidden_units": 6}


class TestNormalizedHead(HeadContract):
    kind = DSAHead
    bad_arguments = (
        *BAD_DROPOUT,
        {"hidden_layers": 0},
        {"init_scale": "root"},
    )


def _head(**options):
    return randomised_head(DSAHead, **options)


def _expected(head, moments, x=X):
    """The logits in float64, where `moments(norm, x)` are the mean and the variance."""
    x = x.astype(np.float64)
    for norm, hidden in zip(head.norms, head.hidden):
        mean, variance = moments(norm, x)
        x = (x - mean) / np.sqrt(variance + head.epsilon)
        x = mapped(hidden, norm.gamma.numpy() * x + norm.beta.numpy())
        x = np.where(x > 0, x, head.negative_slope * x)
    return mapped(head.logits, x)


class TestDSAArithmetic(HeadArithmetic):
    head, expected = staticmethod(_head), staticmethod(_expected)
    options = {"epsilon": 0.01, "negative_slope": 0.2}
    rounding, large = 1e-5, 1e4


@pytest.mark.parametrize("compiled", [False, True])
def test_a_training_call_moves_the_statistics_by_a_tenth(compiled):
    head = _head()
    mean, variance = (each.astype(np.float64) for each in moving(head.norms[0], X))
    call = tf.function(head) if compiled else head
    call(tf.constant(X), training=True)
    new_mean, new_variance = moving(head.norms[0], X)
    np.testing.assert_allclose(new_mean, 0.9 * mean + 0.1 * X.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(new_variance, 0.9 * variance + 0.1 * X.var(axis=0), rtol=1e-5)


def test_dropout_acts_on_the_normalised_inputs_of_hidden_layers_alone():
    head = _head(dropout=0.5)
    for hidden in head.hidden:
        hidden.dropout.keep = lambda entries: tf.zeros([entries], tf.bool)
    bias = head.hidden[-1].dense.bias.numpy()
    expected = mapped(head.logits, np.where(bias > 0, bias, 0.01 * bias))
    actual = head(X, training=True)
    np.testing.assert_allclose(actual, np.tile(expected, [len(X), 1]), rtol=1e-5)


@pytest.mark.parametrize("init_scale, dropout, factor", [("keep", 0.3, 0.7), ("rate", 0.3, 0.3)])
def test_weights_start_by_hes_rule_scaled_where_inputs_are_dropped(init_scale, dropout, factor):
    head = DSAHead(400, 400, init_scale=init_scale, dropout=dropout)
    head.build([None, 400])
    for linear, scale in zip((*head.hidden, head.logits), (factor, factor, 1.0)):
        expected = np.sqrt(2 / 400 * scale)
        np.testing.assert_allclose(np.std(linear.dense.kernel), expected, rtol=0.01)


def _config(**task):
    config = tiny_config()
    config.encoder = ConfigDict({"name": "additive", "units": 4})  # few operations to trace
    config.task = ConfigDict({**DSA, **task})
    return config


def test_a_config_names_the_head():
    head = build_model(_config(hidden_layers=1, init_scale="rate"), (5, 2), 5).head
    assert isinstance(head, DSAHead)
    assert (head.classes, head.hidden_units, head.hidden_layers) == (5, 6, 1)
    assert head.init_scale == "rate"


def test_the_weight_decay_is_the_same_everywhere():
    config, part = tiny_config(), "encoder"
    config[part].l2 = 0.5
    with pytest.raises(UserError, match=f"--config.{part}.l2=0.5 is not an option of"):
        read_config(config)
