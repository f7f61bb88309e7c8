"""The loop: determinism, resume after a kill, early stop, bad losses, low precision."""

import functools
import json
import os
import shutil
import signal
from functools import partial

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.common.errors import Stopped, UserError
from disan_tf.runs.bundle import load_bundle
from disan_tf.runs.run import read_run
from disan_tf.training import loop
from disan_tf.training.config import from_dict
from disan_tf.training.evaluation import evaluate
from disan_tf.training.scoring import SplitScores
from disan_tf.training.train import train
from tests.support.runs.command import needs_sighup
from tests.support.runs.training import (
    check_same,
    corpus_of,
    make_loop,
    records_of,
    run_and_copy,
    run_loop,
    tiny_config,
    with_few_operations,
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return corpus_of(tiny_config(), tmp_path_factory.mktemp("corpus"))


def _config(**options):
    """Lines after the checkpoint are there."""
    return with_few_operations(tiny_config(**{"steps": 30, "log_every": 2, **options}))


@pytest.fixture(scope="module")
def unbroken(corpus, tmp_path_factory):
    """A function of a precision: 30 steps, and what a kill before the 25th had left of them."""

    @functools.lru_cache(None)
    def unbroken(dtype):
        train = partial(run_loop, _config(dtype=dtype), corpus)
        return run_and_copy(train, tmp_path_factory.mktemp(dtype), 24)

    return unbroken


@pytest.fixture(scope="module")
def finished(unbroken):
    """The trainer that nothing stopped, in float32."""
    return unbroken("float32")[0]


@pytest.fixture
def copied(finished, tmp_path):
    """The work directory of `finished` for a test to change."""
    return shutil.copytree(finished.work.path, tmp_path / "run")


def test_a_run_can_be_read_while_it_scores_other_splits(corpus, tmp_path, monkeypatch):
    steps, score = [], SplitScores.score_watched

    def read_and_score(scores):
        if (tmp_path / "run/best").exists():
            steps.append(read_run(str(tmp_path / "run")).members[0].best)
        return score(scores)

    monkeypatch.setattr(SplitScores, "score_watched", read_and_score)
    config = from_dict(_config(evaluate_every=5).lock())
    train(config, lambda: corpus, tmp_path / "run", pictures=False)
    assert len(steps) == 5


def _weights(trainer):
    return [weight.numpy() for weight in trainer.model.weights]


def _assert_same_bits(first, second):
    assert len(first) == len(second)
    for one, other in zip(first, second):
        np.testing.assert_array_equal(one, other)


def test_two_runs_give_the_same_bits_whatever_is_watched(corpus, finished, tmp_path):
    config = _config()
    config.evaluate.splits = ("test",)
    watching = run_loop(config, corpus, tmp_path)
    dev, test = (records_of(watching, split) for split in ("dev", "test"))
    assert [record["step"] for record in dev] == [record["step"] for record in test]
    assert set(test[0]) == {"step", "epoch", "split", "loss", "accuracy"}
    _assert_same_bits(_weights(finished), _weights(watching))
    for split in ("train", "dev"):
        both = [records_of(trainer, split) for trainer in (finished, watching)]
        losses = [[(record["step"], record["loss"]) for record in records] for records in both]
        assert losses[0] == losses[1]


def test_another_seed_gives_other_weights_and_another_order(corpus, tmp_path):
    first, second = (
        make_loop(_config(log_every=10, seed=seed), corpus, tmp_path) for seed in (1, 2)
    )
    assert any(not np.array_equal(a, b) for a, b in zip(_weights(first), _weights(second)))
    batches = [next(iter(trainer.batches(0)))["index"] for trainer in (first, second)]
    assert not np.array_equal(*batches)


@pytest.mark.parametrize(
    "dtype", ["float32", pytest.param("mixed_float16", marks=pytest.mark.slow)]
)
def test_a_killed_run_resumes_to_the_bits_of_an_unbroken_one(corpus, unbroken, dtype):
    whole, killed = unbroken(dtype)
    check_same(run_loop(_config(dtype=dtype), corpus, killed), whole)
    for slot in whole.method.optimizer.variables():
        assert np.all(np.isfinite(slot.numpy()))


def test_a_finished_run_does_nothing_more(corpus, copied):
    metrics = (copied / "metrics.jsonl").read_text()
    assert make_loop(_config(), corpus, copied).run()["step"] == 30
    assert (copied / "metrics.jsonl").read_text() == metrics


def test_the_disk_has_the_logs_before_a_checkpoint_of_their_steps(corpus, tmp_path, monkeypatch):
    trainer, done = make_loop(_config(log_every=10), corpus, tmp_path), []
    monkeypatch.setattr(loop, "sync", lambda path: done.append(path.name))
    (tmp_path / "metrics.jsonl").touch()
    (tmp_path / "tensorboard").mkdir()
    monkeypatch.setattr(trainer.state, "save", lambda: done.append("checkpoint"))
    trainer._save(1)
    assert done == ["metrics.jsonl", "tensorboard", "checkpoint"]


def test_each_step_is_traced_once(finished):
    assert finished.method.train_step.experimental_get_tracing_count() == 1
    assert finished.method.evaluation_step.experimental_get_tracing_count() == 1


def test_the_best_model_is_the_one_with_the_best_dev_accuracy(corpus, finished, copied):
    best = max(
        records_of(finished, "dev"), key=lambda record: record["accuracy"]
    )  # first of equals
    summary = make_loop(_config(), corpus, copied).run()
    bundle = load_bundle(finished.work.path / "best")
    assert summary["best_step"] == best["step"] == bundle.info["scores"]["step"]
    assert bundle.info["scores"]["dev_accuracy"] == best["accuracy"] == summary["best_score"]
    assert evaluate(bundle, corpus, "dev")["accuracy"] == best["accuracy"]


def test_a_failed_write_of_the_best_model_records_no_score(corpus, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr("disan_tf.training.loop.save_bundle", fail)
    trainer = make_loop(_config(log_every=10), corpus, tmp_path)
    with pytest.raises(OSError, match="disk full"):
        trainer.run()
    assert float(trainer.state.best_score) == -np.inf
    assert not records_of(trainer, "dev")


def test_training_stops_early_without_a_better_score(corpus, tmp_path):
    config = _config(log_every=10, steps=200, learning_rate=0.0, patience=2)
    summary = make_loop(config, corpus, tmp_path).run()
    assert (summary["best_step"], summary["step"]) == (10, 30)


def test_patience_ends_a_training_at_an_evaluation(corpus, tmp_path):
    train = partial(_config, learning_rate=0.0, patience=2)  # the first evaluation is the best
    assert make_loop(train(steps=6), corpus, tmp_path).run()["best_step"] == 6
    longer = make_loop(train(steps=200), corpus, tmp_path)
    assert (longer.run()["step"], records_of(longer, "dev")[-1]["step"]) == (30, 30)


@pytest.mark.slow
def test_a_training_that_patience_ended_goes_on_with_more_of_it(corpus, tmp_path):
    train = partial(_config, learning_rate=0.0)  # of which no evaluation is better than the first
    short = run_loop(train(patience=2), corpus, tmp_path / "short")
    assert records_of(short, "dev")[-1]["step"] == 30
    whole = run_loop(train(patience=9), corpus, tmp_path / "whole")
    check_same(run_loop(train(patience=9), corpus, tmp_path / "short"), whole)


def test_a_loss_that_is_not_finite_stops_and_keeps_the_last_checkpoint(corpus, tmp_path):
    trainer = make_loop(_config(log_every=10), corpus, tmp_path, [Poison(15)])
    with pytest.raises(UserError, match=r"not finite between steps 11 and 20; .* of step 10 "):
        trainer.run()
    again = make_loop(_config(log_every=10), corpus, tmp_path)
    assert again.state.restore() == 10
    assert all(np.all(np.isfinite(weight)) for weight in _weights(again))


def test_an_overflow_under_float16_is_skipped_and_counted(corpus, tmp_path):
    trainer = make_loop(_config(log_every=10, dtype="mixed_float16", steps=10), corpus, tmp_path)
    trainer.method.optimizer._loss_scale.current_loss_scale.assign(2.0**100)
    trainer.run()
    last = records_of(trainer, "train")[-1]
    assert last["skipped_steps"] == 10
    assert np.isfinite(last["loss"])


def test_a_weight_that_is_not_finite_is_never_saved(corpus, tmp_path):
    trainer = make_loop(_config(log_every=10), corpus, tmp_path, [Poison(20)])
    with pytest.raises(UserError, match=r"weight is not finite after step 20; .* of step 10 "):
        trainer.run()
    assert make_loop(_config(log_every=10), corpus, tmp_path).state.restore() == 10


class Poison(tf.keras.callbacks.Callback):
    """Makes a weight NaN after some steps."""

    def __init__(self, step):
        super().__init__()
        self.step = step

    def on_train_batch_end(self, batch, logs=None):
        if batch + 1 == self.step:
            weight = self.model.trainable_variables[-1]
            weight.assign(weight * np.nan)


class TerminateAt(tf.keras.callbacks.Callback):
    """Sends a signal to the process after a step."""

    def __init__(self, step, number=signal.SIGTERM):
        super().__init__()
        self.step, self.number = step, number

    def on_train_batch_end(self, batch, logs=None):
        if batch + 1 == self.step:
            os.kill(os.getpid(), self.number)


# Between lines of the log, and at an evaluation.
@pytest.mark.parametrize(
    "step, number",
    [
        pytest.param(11, signal.SIGHUP, marks=needs_sighup),
        pytest.param(20, signal.SIGTERM, marks=pytest.mark.slow),
    ],
)
def test_a_signal_leaves_a_checkpoint_of_its_step(step, number, corpus, finished, tmp_path):
    with pytest.raises(Stopped) as caught:
        run_loop(_config(), corpus, tmp_path, [TerminateAt(step, number)])
    assert caught.value.code == 128 + number
    assert f"{number.name} after step {step}, saved in" in caught.value.message
    assert (tmp_path / "checkpoints" / f"step-{step}.index").is_file()
    check_same(run_loop(_config(), corpus, tmp_path), finished)


def test_a_signal_during_the_last_evaluation_is_not_lost(corpus, tmp_path):
    evaluated = tf.keras.callbacks.LambdaCallback()
    evaluated.on_test_end = lambda logs: os.kill(os.getpid(), signal.SIGTERM)
    with pytest.raises(Stopped, match="143"):
        run_loop(_config(steps=1), corpus, tmp_path, [evaluated])
    assert (tmp_path / "checkpoints" / "step-1.index").is_file()
    assert run_loop(_config(steps=1), corpus, tmp_path).state.step == 1


def test_a_training_whose_best_model_was_deleted_says_so(corpus, copied):
    shutil.rmtree(copied / "best")
    with pytest.raises(UserError, match="best is missing, the best model so far, of step"):
        run_loop(_config(), corpus, copied)


def test_a_moving_average_serves_evaluation_only(corpus, finished, tmp_path):
    averaged = run_loop(_config(moving_average=0.9), corpus, tmp_path)
    _assert_same_bits(_weights(averaged), _weights(finished))
    best = load_bundle(tmp_path / "best").model.trainable_variables
    trained = averaged.model.trainable_variables
    assert any(not np.array_equal(one, other) for one, other in zip(best, trained))


def test_callbacks_see_the_weights_that_an_evaluation_scored(corpus, tmp_path):
    shown, picture = {}, tf.keras.callbacks.Callback()
    picture.on_test_end = lambda logs: shown.update(
        {logs["step"]: [weight.numpy() for weight in picture.model.trainable_variables]}
    )
    run_loop(_config(moving_average=0.9, steps=6, evaluate_every=3), corpus, tmp_path, [picture])
    bundle = load_bundle(tmp_path / "best")
    best = [weight.numpy() for weight in bundle.model.trainable_variables]
    _assert_same_bits(shown[bundle.info["scores"]["step"]], best)


def test_a_cut_last_line_of_the_metrics_is_dropped(corpus, copied):
    before = (copied / "metrics.jsonl").read_text()
    with open(copied / "metrics.jsonl", "a") as file:
        file.write('{"step": 31, "lo')
    run_loop(_config(steps=32), corpus, copied)
    metrics = (copied / "metrics.jsonl").read_text()
    assert metrics.startswith(before)
    assert [json.loads(line)["step"] for line in metrics[len(before) :].splitlines()] == [32, 32]
