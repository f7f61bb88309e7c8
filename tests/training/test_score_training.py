"""Trainings of models of relatedness: determinism, resume, the choice by correlation, curves."""

import json

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.errors import UserError
from disan_tf.training import experiment
from disan_tf.training.bundle import load_bundle
from disan_tf.training.evaluation import evaluate
from disan_tf.training.loop import Trainer
from disan_tf.training.metrics_log import MetricsLog
from disan_tf.training.score_tables import render_scores
from tests.support.pairs import make_pair_corpus, make_score_corpus
from tests.support.training_runs import KillAt, Killed, corpus_of, tiny_config

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
def unbroken(corpus, tmp_path_factory):
    """A training that was not disturbed, and its summary."""
    return _train(_config(), corpus, tmp_path_factory.mktemp("unbroken"))


def _records(trainer, split=None):
    records = MetricsLog.read(trainer.workdir / "metrics.jsonl")
    return [record for record in records if split in (None, record["split"])]


def _without_seconds(records):
    return [{key: record[key] for key in record if key != "seconds"} for record in records]


def test_a_killed_run_resumes_to_the_bits_of_an_unbroken_one(corpus, unbroken, tmp_path):
    with pytest.raises(Killed):
        _train(_config(), corpus, tmp_path, [KillAt(28)])
    resumed, summary = _train(_config(), corpus, tmp_path)
    for one, other in zip(unbroken[0].model.weights, resumed.model.weights):
        np.testing.assert_array_equal(one, other, one.name)
    assert _without_seconds(_records(resumed)) == _without_seconds(_records(unbroken[0]))
    assert summary["best_score"] == unbroken[1]["best_score"]


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


def test_a_watched_split_changes_nothing(corpus, unbroken, tmp_path):
    alone, summary = _train(_config(splits=()), corpus, tmp_path)
    for one, other in zip(unbroken[0].model.weights, alone.model.weights):
        np.testing.assert_array_equal(one, other, one.name)
    assert _without_seconds(_records(alone)) == _without_seconds(
        [record for record in _records(unbroken[0]) if record["split"] != "test"]
    )
    assert summary["best_step"] == unbroken[1]["best_step"]


def test_a_watched_split_that_the_corpus_has_not_is_refused(corpus, tmp_path):
    with pytest.raises(UserError, match="has no split 'mismatched'; it has train, dev, test"):
        Trainer(_config(splits=("mismatched",)), corpus, tmp_path)


@pytest.mark.parametrize("dtype", ["mixed_bfloat16", "mixed_float16"])
@pytest.mark.parametrize("loss", ["kl", "squared_error"])
def test_scores_train_in_half_precision(corpus, tmp_path, loss, dtype):
    config = _config(steps=4)
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
    trainer = Trainer(_config(steps=8), corpus, tmp_path, [_Silence()])
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


def test_a_training_tells_the_scores_of_dev(corpus, tmp_path, capsys):
    experiment.train(_config(steps=8), corpus, tmp_path)
    printed = capsys.readouterr().out
    assert "step 8 of 8: dev loss" in printed
    assert ", dev pearson " in printed and ", dev spearman " in printed and ", dev mse " in printed


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


def test_classification_may_watch_a_split(tmp_path):
    config = tiny_config(steps=10)
    config.evaluate.splits = ("test",)
    trainer, _ = _train(config, corpus_of(config, tmp_path / "corpus"), tmp_path / "run")
    (line,) = _records(trainer, "test")
    assert set(line) == {"step", "epoch", "split", "loss", "accuracy", "seconds"}


def test_the_scores_of_a_trained_model_are_rendered(corpus, unbroken):
    scores = evaluate(load_bundle(unbroken[0].workdir / "best"), corpus, "dev")
    assert scores["criterion"] == "pearson"
    assert scores["pearson"] == unbroken[1]["best_score"]
    shown = render_scores(scores).splitlines()[1]
    assert shown.startswith(f"Pearson's r {scores['pearson']:.4f}, ")
