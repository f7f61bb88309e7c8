"""Trainings of pair models: determinism, resume, token budgets, traces."""

import numpy as np
import pytest

from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.training.bundle import load_bundle
from disan_tf.training.evaluation import evaluate
from disan_tf.training.loop import Trainer
from disan_tf.training.metrics_log import MetricsLog
from tests.support.pairs import make_pair_corpus
from tests.support.training_runs import KillAt, Killed, tiny_config

BUDGET = 250  # tokens: the epochs of 60 pairs have 9, 9, 8 and 8 batches
STEPS = {"steps": 30, "window": 1, "evaluate_every": 8, "checkpoint_every": 8, "log_every": 2}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> PreparedCorpus:
    return make_pair_corpus(tmp_path_factory.mktemp("pairs") / "corpus")


def _config(**train):
    return tiny_config(name="disan_snli", **{**STEPS, **train})


def _train(config, corpus, workdir, callbacks=()):
    trainer = Trainer(config, corpus, workdir, callbacks)
    trainer.run()
    return trainer


def _assert_same(first, second):
    for one, other in zip(first.model.weights, second.model.weights):
        np.testing.assert_array_equal(one, other, one.name)
    records = [MetricsLog.read(trainer.workdir / "metrics.jsonl") for trainer in (first, second)]
    for record in records[0] + records[1]:
        del record["seconds"]
    assert records[0] == records[1]


@pytest.fixture(scope="module")
def unbroken(corpus, tmp_path_factory):
    """By token budget, a training that was not disturbed."""
    folder = tmp_path_factory.mktemp("unbroken")
    return {
        budget: _train(_config(batch_tokens=budget), corpus, folder / str(budget))
        for budget in (0, BUDGET)
    }


def test_two_runs_of_thirty_steps_give_the_same_bits(corpus, unbroken, tmp_path):
    _assert_same(unbroken[0], _train(_config(), corpus, tmp_path))


@pytest.mark.parametrize("batch_tokens", [0, BUDGET])
def test_a_killed_run_resumes_to_the_bits_of_an_unbroken_one(
    corpus, unbroken, tmp_path, batch_tokens
):
    config = _config(batch_tokens=batch_tokens)
    with pytest.raises(Killed):
        _train(config, corpus, tmp_path, [KillAt(28)])
    _assert_same(unbroken[batch_tokens], _train(config, corpus, tmp_path))


def test_epochs_of_a_token_budget_hold_every_pair_once(unbroken):
    trainer = unbroken[BUDGET]
    counts = [trainer.plan.count(epoch) for epoch in range(4)]
    assert counts == [9, 9, 8, 8]
    for start, end in zip(np.cumsum([0, *counts]), np.cumsum(counts)):
        batches = list(trainer.batches(int(start)))
        assert len(batches) == end - start
        seen = np.concatenate([batch["index"] for batch in batches])
        np.testing.assert_array_equal(np.sort(seen), np.arange(60))


@pytest.mark.parametrize("batch_tokens", [0, BUDGET])
def test_each_step_is_traced_once(unbroken, batch_tokens):
    trainer = unbroken[batch_tokens]
    assert trainer.method.train_step.experimental_get_tracing_count() == 1
    assert trainer.method.evaluation_step.experimental_get_tracing_count() == 1


def test_pairs_train_in_bfloat16(corpus, tmp_path):
    trainer = _train(_config(dtype="mixed_bfloat16", steps=4), corpus, tmp_path)
    assert all(np.all(np.isfinite(weight)) for weight in trainer.model.weights)
    assert trainer.method.train_step.experimental_get_tracing_count() == 1


def test_the_best_model_scores_on_dev_what_was_recorded(corpus, unbroken):
    trainer = unbroken[0]
    bundle = load_bundle(trainer.workdir / "best")
    assert bundle.model.fields == ("premise", "hypothesis")
    assert evaluate(bundle, corpus, "dev")["accuracy"] == float(trainer.state.best_score)
