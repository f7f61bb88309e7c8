"""Trainings of models of relatedness: the choice by correlation, watched splits, curves."""

import pytest
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.runs.bundle import load_bundle
from disan_tf.training.evaluation import evaluate
from tests.support.corpora.pairs import make_pair_corpus, make_score_corpus
from tests.support.runs.training import make_loop, records_of, tiny_config, with_few_operations

STEPS = {"steps": 10, "window": 1, "evaluate_every": 4, "checkpoint_every": 4, "log_every": 2}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return make_score_corpus(tmp_path_factory.mktemp("scores") / "corpus")


def _config(splits=("test",), **train):
    config = with_few_operations(tiny_config(name="disan_sick", **{**STEPS, **train}))
    config.evaluate.splits = splits
    return config


@pytest.fixture(scope="module")
def told():
    """What callbacks are told of the evaluations of `unbroken`."""
    return []


@pytest.fixture(scope="module")
def unbroken(corpus, told, tmp_path_factory):
    """A training that was not disturbed, and its summary."""
    callback = tf.keras.callbacks.LambdaCallback(on_test_end=told.append)
    trainer = make_loop(_config(), corpus, tmp_path_factory.mktemp("unbroken"), [callback])
    return trainer, trainer.run()


def test_the_best_model_is_the_one_with_the_best_dev_correlation(unbroken):
    trainer, summary = unbroken
    best = max(records_of(trainer, "dev"), key=lambda record: record["pearson"])
    bundle = load_bundle(trainer.work.path / "best")
    assert (summary["criterion"], summary["best_score"]) == ("pearson", best["pearson"])
    assert bundle.info["scores"] == {"step": best["step"], "dev_pearson": best["pearson"]}


def test_a_watched_split_is_scored_at_each_evaluation(corpus, unbroken):
    trainer, _ = unbroken
    curves = [records_of(trainer, split) for split in ("dev", "test")]
    steps = [[record["step"] for record in curve] for curve in curves]
    assert steps == [[4, 8, 10]] * 2
    assert set(curves[0][0]) == set(curves[1][0]) >= {"pearson", "spearman", "mse", "loss"}
    best = load_bundle(trainer.work.path / "best")
    report = evaluate(best, corpus, "test")
    (line,) = (each for each in curves[1] if each["step"] == report["step"])
    for score in ("pearson", "spearman", "mse", "loss"):
        assert report[score] == pytest.approx(line[score], rel=1e-6)


def test_callbacks_are_told_the_scores_of_dev_and_of_watched_splits(unbroken, told):
    scores = {"loss", "pearson", "spearman", "mse"}
    assert [logs["step"] for logs in told] == [4, 8, 10]
    assert set(told[0]) == {"step", *scores, "watched"}
    assert list(told[0]["watched"]) == ["test"] and set(told[0]["watched"]["test"]) == scores


def test_classes_are_refused_where_the_task_reads_scores(tmp_path):
    corpus = make_pair_corpus(tmp_path / "corpus")
    config = _config(splits=())
    corpus.manifest["fields"] = ["sentence_a", "sentence_b"]
    with pytest.raises(UserError, match="holds classes, but the task of the config reads scores;"):
        make_loop(config, corpus, tmp_path / "run")
