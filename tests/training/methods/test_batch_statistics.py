"""Averages of batch normalisation that are taken before a model is scored."""

import contextlib
from types import SimpleNamespace

import numpy as np
import pytest

from disan_tf.runs.bundle import load_bundle
from disan_tf.training.evaluation import evaluate
from disan_tf.training.scoring import StatisticsUpdate
from tests.support.runs.training import corpus_of, run_loop, tiny_config, with_few_operations

STEPS = {"steps": 4, "window": 1, "evaluate_every": 2, "checkpoint_every": 2, "log_every": 2}
BATCHES = 3


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return corpus_of(_config(), tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def trainer(corpus, tmp_path_factory):
    return run_loop(_config(), corpus, tmp_path_factory.mktemp("run"))


def _config(batches=BATCHES, moving_average=0.0):
    config = with_few_operations(tiny_config(name="dsa_sst", **STEPS))
    config.train.update({"batch_size": 8, "batch_norm_batches": batches})
    config.train.moving_average = moving_average
    return config


def _averages(model):
    norms = model.head.norms
    averages = [average for norm in norms for average in (norm.moving_mean, norm.moving_variance)]
    return [average.numpy() for average in averages]


def test_the_best_model_has_the_averages_of_the_first_batches_and_was_scored_with_them(
    trainer, corpus
):
    bundle = load_bundle(trainer.work.path / "best")
    saved = _averages(bundle.model)
    score = bundle.info["scores"]["dev_accuracy"]
    assert evaluate(bundle, corpus, "dev")["accuracy"] == pytest.approx(score)
    for norm in bundle.model.head.norms:
        norm.moving_mean.assign(norm.moving_mean + 1.0)  # taken anew, old ones do not matter
        norm.moving_variance.assign(3.0 * norm.moving_variance)
    method = SimpleNamespace(averaged_weights=contextlib.nullcontext)
    StatisticsUpdate(BATCHES, bundle.model, method, trainer.train, trainer.plan)()
    for average, expected in zip(_averages(bundle.model), saved):
        np.testing.assert_allclose(average, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_they_change_no_other_weight(trainer, corpus, tmp_path):
    without = run_loop(_config(batches=0), corpus, tmp_path)
    for weight, expected in zip(trainer.model.trainable_weights, without.model.trainable_weights):
        np.testing.assert_array_equal(weight, expected)
    pairs = zip(_averages(trainer.model), _averages(without.model))
    assert not any(np.allclose(*pair) for pair in pairs)


@pytest.mark.slow
def test_they_are_those_of_averaged_weights(corpus, tmp_path):
    trainer = run_loop(_config(moving_average=0.5), corpus, tmp_path)
    bundle = load_bundle(tmp_path / "best")
    saved = _averages(bundle.model)
    method = SimpleNamespace(averaged_weights=contextlib.nullcontext)
    StatisticsUpdate(BATCHES, bundle.model, method, trainer.train, trainer.plan)()
    for average, expected in zip(_averages(bundle.model), saved):
        np.testing.assert_allclose(average, expected, rtol=1e-5, atol=1e-6)
