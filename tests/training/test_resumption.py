"""Trainings of every kind of model that are killed and go on, and that run in half precision."""

from functools import partial

import numpy as np
import pytest

from data_prep.prepare import prepare
from disan_tf.input_pipeline import PreparedCorpus
from tests.support.corpora.elmo import elmo_config, elmo_corpus
from tests.support.corpora.pairs import make_feature_corpus, make_pair_corpus
from tests.support.runs.training import (
    check_resumes,
    corpus_of,
    records_of,
    run_loop,
    tiny_config,
    with_few_operations,
)

STEPS = {"steps": 16, "window": 1, "evaluate_every": 4, "checkpoint_every": 3, "log_every": 2}


def _budget(folder):
    return tiny_config(name="disan_snli", batch_tokens=250, **STEPS), make_pair_corpus(folder / "c")


def _dsa(folder):
    config = tiny_config(name="dsa_snli", **STEPS)
    config.train.plateau.update(patience=1, threshold=0.2)  # so that the rate falls
    return config, make_pair_corpus(folder / "corpus")


def _drcn(folder):
    config = tiny_config(name="drcn_snli", **STEPS)
    config.encoder.update({"layers": 2, "functions": "Ca-Cs-M"})
    config.train.plateau.threshold = 0.5  # so that the rate falls
    return config, make_feature_corpus(folder / "corpus", 8)


def _bilm(folder):
    config = tiny_config(name="bilm", **STEPS)
    (folder / "bilm_texts").mkdir()
    (folder / "bilm_texts/shard.txt").write_text("the fox sleeps\na fox sees the dog\n" * 150)
    return config, PreparedCorpus(prepare(config.data, folder, folder / "prepared"))


def _elmo(folder):
    return with_few_operations(elmo_config()), elmo_corpus(folder)


def _xla(folder):
    config = with_few_operations(tiny_config(jit_compile="True", moving_average=0.9, **STEPS))
    config.evaluate.batch_size = 40  # all of dev
    return config, corpus_of(config, folder / "corpus")


KINDS = {kind.__name__[1:]: kind for kind in (_budget, _dsa, _drcn, _bilm, _elmo, _xla)}
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_training_resumes_bit_for_bit(kind, tmp_path):
    config, corpus = KINDS[kind](tmp_path)
    check_resumes(partial(run_loop, config, corpus), tmp_path, 7)


@pytest.mark.parametrize("kind", ["dsa", "drcn", "bilm", "elmo"])
def test_it_trains_in_bfloat16(kind, tmp_path):
    config, corpus = KINDS[kind](tmp_path)
    config.dtype, config.train.steps = "mixed_bfloat16", 4
    trainer = run_loop(config, corpus, tmp_path / "run")
    assert np.isfinite([it["loss"] for it in records_of(trainer)]).all()
    assert trainer.method.train_step.experimental_get_tracing_count() == 1


def test_the_learning_rate_falls_where_the_loss_does_not(tmp_path):
    config, corpus = _dsa(tmp_path)
    rates = [it["learning_rate"] for it in records_of(run_loop(config, corpus, tmp_path), "train")]
    assert rates[0] == pytest.approx(0.001) and rates[-1] < rates[0]
