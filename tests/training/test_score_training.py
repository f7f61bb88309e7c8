"""Trainings of models of relatedness: the choice by correlation, watched splits, curves."""

import json

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.runs.bundle import load_bundle
from disan_tf.runs.metrics_log import MetricsLog
from disan_tf.runs.score_tables import render_scores
from disan_tf.training.evaluation import evaluate
from disan_tf.training.experiment import Trainer
from tests.support.corpora.pairs import make_pair_corpus, make_score_corpus
from tests.support.runs.training import tiny_config, with_few_operations

STEPS = {"steps": 30, "window": 1, "evaluate_every": 8, "checkpoint_every": 8, "log_every": 2}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return make_score_corpus(tmp_path_factory.mktemp("scores") / "corpus")


def _config(splits=("test",), **train):
    config = tiny_config(name="disan_sick", **{**STEPS, **train})
    config.evaluate.splits = splits
    return config


def _train(config, corpus, workdir, callbacks=()):
    trainer = Trainer(config, corpus, workdir, callbacks)
    return trainer, trainer.run()


@pytest.fixture(scope="module")
def told():
    """What callbacks are told of the evaluations of `unbroken`."""
    return []


@pytest.fixture(scope="module")
def unbroken(corpus, told, tmp_path_factory):
    """A training that was not disturbed, and its summary."""
    callback = tf.keras.callbacks.LambdaCallback(on_test_end=told.append)
    return _train(_config(), corpus, tmp_path_factory.mktemp("unbroken"), [callback])


def _records(trainer, split=None):
    records = MetricsLog.read(trainer.workdir / "metrics.jsonl")
    return [record for record in records if split in (None, record["split"])]


def test_each_step_is_traced_once(unbroken):
    trainer, _ = unbroken
    assert trainer.method.train_step.experimental_get_tracing_count() == 1
    assert trainer.method.evaluation_step.experimental_get_tracing_count() == 1


def test_the_best_model_is_the_one_with_the_best_dev_correlation(unbroken):
    trainer, summary = unbroken
    best = max(_records(trainer, "dev"), key=lambda record: record["pearson"])
    bundle = load_bundle(trainer.workdir / "best")
    assert (summary["criterion"], summary["best_score"]) == ("pearson", best["pearson"])
    assert bundle.info["scores"] == {"step": best["step"], "dev_pearson": best["pearson"]}


def test_training_lines_show_the_squared_error(unbroken):
    line = _records(unbroken[0], "train")[-1]
    assert set(line) == {"step", "epoch", "split", "loss", "mse", "skipped_steps", "seconds"}


def test_a_watched_split_is_scored_at_each_evaluation(corpus, unbroken):
    trainer, _ = unbroken
    curves = [_records(trainer, split) for split in ("dev", "test")]
    steps = [[record["step"] for record in curve] for curve in curves]
    assert steps == [[8, 16, 24, 30]] * 2
    assert set(curves[0][0]) == set(curves[1][0]) >= {"pearson", "spearman", "mse", "loss"}
    best = load_bundle(trainer.workdir / "best")
    report = evaluate(best, corpus, "test")
    (line,) = (each for each in curves[1] if each["step"] == report["step"])
    for score in ("pearson", "spearman", "mse", "loss"):
        assert report[score] == pytest.approx(line[score], rel=1e-6)


def test_a_watched_split_that_the_corpus_has_not_is_refused(corpus, tmp_path):
    with pytest.raises(UserError, match="has no split 'mismatched'; it has train, dev, test"):
        Trainer(_config(splits=("mismatched",)), corpus, tmp_path)


@pytest.mark.parametrize(
    ("loss", "dtype"),
    [
        ("kl", "mixed_bfloat16"),
        pytest.param("squared_error", "mixed_float16", marks=pytest.mark.slow),
    ],
)
def test_scores_train_in_half_precision(corpus, tmp_path, loss, dtype):
    config = with_few_operations(_config(steps=4))
    config.dtype, config.task.loss = dtype, loss
    trainer, summary = _train(config, corpus, tmp_path)
    assert all(np.all(np.isfinite(weight)) for weight in trainer.model.weights)
    assert trainer.method.train_step.experimental_get_tracing_count() == 1
    outputs, value = trainer.method.evaluation_step(
        tf.constant([[2, 3]]), tf.constant([[4]]), tf.constant([3.5])
    )
    assert outputs.dtype == value.dtype == tf.float32
    assert -1.0 <= summary["best_score"] <= 1.0


def test_a_model_that_answers_all_alike_is_kept_with_score_0(corpus, tmp_path):
    config = with_few_operations(_config(steps=8))
    trainer = Trainer(config, corpus, tmp_path, [_Silence()])
    summary = trainer.run()
    assert (summary["best_step"], summary["best_score"]) == (8, 0.0)
    assert load_bundle(tmp_path / "best").info["scores"] == {"step": 8, "dev_pearson": 0.0}
    report = evaluate(load_bundle(tmp_path / "best"), corpus, "test")
    json.dumps(report, allow_nan=False)
    assert (report["pearson"], report["spearman"]) == (0.0, 0.0)


class _Silence(tf.keras.callbacks.Callback):
    """Makes the logits of all pairs alike before the evaluation."""

    def on_train_batch_end(self, batch, logs=None):
        for weight in self.model.head.logits.trainable_weights:
            weight.assign(tf.zeros_like(weight))


def test_callbacks_are_told_the_scores_of_dev_and_of_watched_splits(unbroken, told):
    scores = {"loss", "pearson", "spearman", "mse"}
    assert [logs["step"] for logs in told] == [8, 16, 24, 30]
    assert set(told[0]) == {"step", *scores, "watched"}
    assert list(told[0]["watched"]) == ["test"] and set(told[0]["watched"]["test"]) == scores


def test_classes_are_refused_where_the_task_reads_scores(tmp_path):
    corpus = make_pair_corpus(tmp_path / "corpus")
    config = _config(splits=())
    corpus.manifest["fields"] = ["sentence_a", "sentence_b"]
    with pytest.raises(UserError, match="holds classes, but the task of the config reads scores;"):
        Trainer(config, corpus, tmp_path / "run")


def test_a_task_of_other_sentences_is_refused(tmp_path):
    corpus = make_pair_corpus(tmp_path / "corpus")
    with pytest.raises(UserError, match="holds premise and hypothesis, but .* sentence_a and sent"):
        Trainer(_config(splits=()), corpus, tmp_path / "run")


def test_the_scores_of_a_trained_model_are_rendered(corpus, unbroken):
    scores = evaluate(load_bundle(unbroken[0].workdir / "best"), corpus, "dev")
    assert scores["criterion"] == "pearson"
    assert scores["pearson"] == unbroken[1]["best_score"]
    shown = render_scores(scores).splitlines()[1]
    assert shown.startswith(f"Pearson's r {scores['pearson']:.4f}, ")
