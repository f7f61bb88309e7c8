"""Trainings of DSA: what batch normalisation, Adam and the plateau keep between steps."""

from functools import partial

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.runs.bundle import load_bundle
from disan_tf.serving.export.saved_model import export_saved_model
from tests.support.corpora.pairs import make_pair_corpus
from tests.support.models.bundles import PAIRS
from tests.support.runs.training import (
    check_same,
    records_of,
    run_and_copy,
    run_trainer,
    tiny_config,
)

STEPS = {"steps": 30, "window": 1, "evaluate_every": 6, "checkpoint_every": 4, "log_every": 2}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return make_pair_corpus(tmp_path_factory.mktemp("pairs") / "corpus")


def _train(corpus, workdir, callbacks=(), **options):
    config = tiny_config(name="dsa_snli", **{**STEPS, **options})
    config.train.plateau.patience = 1
    config.train.plateau.threshold = 0.2  # so that the rate falls within these steps
    return run_trainer(config, corpus, workdir, callbacks)


@pytest.fixture(scope="module")
def both(corpus, tmp_path_factory):
    """A training, and what a kill inside of an epoch had left of it."""
    return run_and_copy(partial(_train, corpus), tmp_path_factory.mktemp("unbroken"), 21)


@pytest.fixture(scope="module")
def unbroken(both):
    return both[0]


@pytest.mark.slow
def test_a_killed_training_resumes_bit_for_bit(corpus, both):
    whole, killed = both
    check_same(_train(corpus, killed), whole)


def test_the_learning_rate_falls_and_is_logged(unbroken):
    rates = [it["learning_rate"] for it in records_of(unbroken, "train")]
    assert rates[0] == pytest.approx(0.001)
    assert rates[-1] < rates[0]


@pytest.mark.slow
def test_evaluations_do_not_change_the_learning_rate(corpus, unbroken, tmp_path):
    other = _train(corpus, tmp_path, evaluate_every=3)
    rates = [
        [(it["step"], it["learning_rate"]) for it in records_of(each, "train")]
        for each in (unbroken, other)
    ]
    assert dict(rates[0]).items() <= dict(rates[1]).items()


def test_words_stay_as_they_are(corpus, unbroken):
    np.testing.assert_array_equal(
        tf.concat([unbroken.model.embedding.trained, unbroken.model.embedding.fixed], axis=0),
        corpus.vectors,
    )


@pytest.mark.slow
def test_it_trains_in_bfloat16(corpus, tmp_path):
    losses = [it["loss"] for it in records_of(_train(corpus, tmp_path, dtype="mixed_bfloat16"))]
    assert np.isfinite(losses).all()


@pytest.mark.slow
def test_an_export_answers_as_the_best_model(unbroken, tmp_path):
    bundle = load_bundle(unbroken.workdir / "best")
    path, _ = export_saved_model(bundle.directory, tmp_path / "export")
    texts = dict(zip(bundle.model.fields, map(tf.constant, zip(*PAIRS))))
    ids = [bundle.text_to_ids()(each) for each in texts.values()]
    signatures = tf.saved_model.load(str(path)).signatures
    np.testing.assert_allclose(
        signatures["serving_default"](**texts)["probabilities"],
        tf.nn.softmax(bundle.model(*ids)),
        atol=1e-6,
    )
    attended = bundle.model.attend(*ids)
    np.testing.assert_allclose(
        signatures["attend"](**texts)["premise_attention"],
        tf.reduce_mean(attended["premise_attention"], axis=-1),
        atol=1e-6,
    )
