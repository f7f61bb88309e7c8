"""The classifier of sentence pairs: its features, its two sentences, its promises as a layer."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.models import SentencePairClassifier
from disan_tf.models.factory import build_model
from tests.support.layers.contract import assert_near
from tests.support.layers.pair_contract import (
    OTHER,
    PairContract,
    pair_parts,
    with_drawn_weights,
)
from tests.support.runs.training import tiny_config


def _make(name=None, dtype=None, pair_features="difference", **options):
    parts = pair_parts(3, dtype, **options)
    return SentencePairClassifier(*parts, pair_features=pair_features, name=name or "pairs")


class TestPremise(PairContract):
    """What varies is the premise."""

    units = 3
    bad_arguments = ({"pair_features": "cosine"},)

    def make(self, **options):
        return _make(**options)


class TestHypothesis(TestPremise, variant=True):
    """What varies is the hypothesis."""

    def call(self, layer, x, mask, training=None):
        return layer(OTHER[: tf.shape(x)[0]], x, training=training)


@pytest.fixture
def model():
    return with_drawn_weights(_make())


@pytest.fixture
def premise():
    return TestPremise().inputs()[0]


def test_absolute_features_begin_with_the_hypothesis_and_drop_the_sign(premise):
    model = with_drawn_weights(_make(pair_features="absolute"))
    p, h = (np.asarray(model.encode(ids), np.float64) for ids in (premise, OTHER))
    features = np.concatenate([h, p, np.abs(h - p), h * p], axis=1)
    assert_near(model.features(*map(tf.constant, (p, h))), features, 1e-6)
    expected = model.head(tf.constant(features, tf.float32))
    assert_near(model(premise, OTHER), expected, 1e-6)


@pytest.mark.parametrize(
    "task, pair_features", [({}, "difference"), ({"pair_features": "absolute"}, "absolute")]
)
def test_a_config_may_name_the_pair_features(task, pair_features):
    config = tiny_config(name="disan_snli")
    config.task.update(task)
    assert build_model(config, (5, 2), 3).pair_features == pair_features


def test_in_training_the_premise_draws_its_masks_before_the_hypothesis(model, premise):
    first, second = (_make() for _ in range(2))
    for copy in (first, second):
        copy(OTHER, OTHER)
        copy.set_weights(model.get_weights())
    p, h = first.encode(premise, training=True), first.encode(OTHER, training=True)
    features = tf.concat([p, h, p - h, p * h], axis=1)
    expected = first.head(features, training=True)
    np.testing.assert_allclose(model(premise, OTHER, training=True), expected, rtol=1e-5)
    assert np.abs(second.encode(OTHER, training=True) - h).max() > 1e-3  # the masks differ


def test_attention_is_named_by_its_sentence(model, premise):
    attended = model.attend(premise, OTHER)
    for field, ids in (("premise", premise), ("hypothesis", OTHER)):
        alone = model.encoder.attend(model.embedding(ids), ids != 0)
        for name, tensor in alone.items():
            np.testing.assert_array_equal(attended.pop(f"{field}_{name}"), tensor)
    assert not attended
