"""The model of relatedness: its features, its losses, its scores, its promises as a layer."""

import math

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.models import RelatednessModel
from disan_tf.models.factory import build_model
from disan_tf.models.relatedness import (
    expected_score,
    kl_divergence,
)
from tests.support.layers.pair_contract import PairContract, pair_parts, with_drawn_weights
from tests.support.runs.training import tiny_config

EVEN = tf.zeros([1, 5])  # logits of five points alike: the score 3


def _make(name=None, dtype=None, loss="kl", **options):
    return RelatednessModel(*pair_parts(5, dtype, **options), loss=loss, name=name or "scores")


class TestFirstSentence(PairContract):
    """What varies is the first sentence."""

    units = 5
    bad_arguments = ({"loss": "cosine"},)

    def make(self, **options):
        return _make(**options)


@pytest.fixture
def model():
    return with_drawn_weights(_make())


@pytest.fixture
def first():
    return TestFirstSentence().inputs()[0]


def test_divergence_of_even_points_from_a_score_between_two():
    half = math.log(0.5) - math.log(0.2)
    assert float(kl_divergence(EVEN, tf.constant([2.5]))[0]) == pytest.approx(half)


def test_divergence_of_a_wrong_and_sure_answer_is_finite():
    logits = tf.constant([[300.0, 0.0, 0.0, 0.0, 0.0]])
    assert float(kl_divergence(logits, tf.constant([5.0]))[0]) == pytest.approx(10 * math.log(10))


def test_it_computes_in_double_precision():
    model, ids = with_drawn_weights(_make(dtype="float64")), tf.constant([[2, 3]])
    outputs, labels = model(ids, ids[:, ::-1]), tf.constant([2.5])
    assert model.example_losses(outputs, labels).dtype == tf.float64
    assert model.batch_score(outputs, labels) == (model.predictions(outputs)[0] - 2.5) ** 2


def test_scores_are_of_the_expected_points(model):
    outputs = np.random.default_rng(1).normal(size=[30, 5]).astype(np.float32)
    answers = expected_score(outputs).numpy()
    perfect = model.scores(outputs, answers)
    assert perfect == pytest.approx({"pearson": 1.0, "spearman": 1.0, "mse": 0.0})
    shifted = model.scores(outputs, answers + 0.5)
    assert shifted == pytest.approx({"pearson": 1.0, "spearman": 1.0, "mse": 0.25})
    assert float(model.batch_score(outputs, answers + 0.5)) == pytest.approx(0.25)


def test_a_model_that_answers_all_alike_has_the_scores_0(model):
    found = model.scores(np.zeros([4, 5], np.float32), np.array([1.0, 2.0, 4.0, 5.0], np.float32))
    assert (found["pearson"], found["spearman"], found["mse"]) == (0.0, 0.0, 2.5)


@pytest.mark.parametrize("loss", ["kl", "squared_error"])
def test_a_config_names_the_loss(loss):
    config = tiny_config(name="disan_sick")
    config.task.loss = loss
    model = build_model(config, (5, 2), 5)
    assert (model.fields, model.loss_name) == (("sentence_a", "sentence_b"), loss)
