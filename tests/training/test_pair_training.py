"""Trainings of pair models in batches of a token budget: resume, epochs, traces."""

from functools import partial

import numpy as np
import pytest

from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.runs.bundle import load_bundle
from disan_tf.training.evaluation import evaluate
from tests.support.corpora.pairs import make_pair_corpus
from tests.support.runs.training import check_same, run_and_copy, run_trainer, tiny_config

BUDGET = 250  # tokens: the epochs of 60 pairs have 9, 9, 8 and 8 batches
STEPS = {"steps": 30, "window": 1, "evaluate_every": 8, "checkpoint_every": 8, "log_every": 2}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> PreparedCorpus:
    return make_pair_corpus(tmp_path_factory.mktemp("pairs") / "corpus")


@pytest.fixture(scope="module")
def train(corpus):
    config = tiny_config(name="disan_snli", batch_tokens=BUDGET, **STEPS)
    return partial(run_trainer, config, corpus)


@pytest.fixture(scope="module")
def both(train, tmp_path_factory):
    """A training that was not disturbed, and what a kill in its fourth epoch had left of it."""
    return run_and_copy(train, tmp_path_factory.mktemp("budget"), 28)


@pytest.fixture(scope="module")
def unbroken(both):
    return both[0]


@pytest.mark.slow
def test_a_killed_run_resumes_to_the_bits_of_an_unbroken_one(train, both):
    whole, killed = both
    check_same(train(killed), whole)


def test_epochs_of_a_token_budget_hold_every_pair_once(unbroken):
    counts = [unbroken.plan.count(epoch) for epoch in range(4)]
    assert counts == [9, 9, 8, 8]
    for start, end in zip(np.cumsum([0, *counts]), np.cumsum(counts)):
        batches = list(unbroken.batches(int(start)))
        assert len(batches) == end - start
        seen = np.concatenate([batch["index"] for batch in batches])
        np.testing.assert_array_equal(np.sort(seen), np.arange(60))


def test_each_step_is_traced_once(unbroken):
    assert unbroken.method.train_step.experimental_get_tracing_count() == 1
    assert unbroken.method.evaluation_step.experimental_get_tracing_count() == 1


def test_the_best_model_scores_on_dev_what_was_recorded(corpus, unbroken):
    bundle = load_bundle(unbroken.workdir / "best")
    assert bundle.model.fields == ("premise", "hypothesis")
    assert evaluate(bundle, corpus, "dev")["accuracy"] == float(unbroken.state.best_score)
