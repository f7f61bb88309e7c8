"""The loop: determinism, resume after a kill, early stop, bad losses, low precision."""

import json
import shutil

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.errors import UserError
from disan_tf.training.bundle import load_bundle
from disan_tf.training.loop import Trainer
from disan_tf.training.metrics_log import MetricsLog
from tests.support.training_runs import KillAt, Killed, corpus_of, tiny_config


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return corpus_of(tiny_config(), tmp_path_factory.mktemp("corpus"))


def _weights(trainer):
    return [weight.numpy() for weight in trainer.model.weights]


def _assert_same_bits(first, second):
    assert len(first) == len(second)
    for one, other in zip(first, second):
        np.testing.assert_array_equal(one, other)


def _train(config, corpus, workdir, callbacks=()):
    trainer = Trainer(config, corpus, workdir, callbacks)
    return trainer, trainer.run()


def test_two_runs_of_fifty_steps_give_the_same_bits(corpus, tmp_path):
    first, _ = _train(tiny_config(), corpus, tmp_path / "first")
    second, _ = _train(tiny_config(), corpus, tmp_path / "second")
    _assert_same_bits(_weights(first), _weights(second))
    losses = [
        [(r["step"], r["loss"]) for r in MetricsLog.read(tmp_path / name / "metrics.jsonl")]
        for name in ("first", "second")
    ]
    assert losses[0] == losses[1]


def test_another_seed_gives_other_weights(corpus, tmp_path):
    first, _ = _train(tiny_config(steps=3), corpus, tmp_path / "first")
    second, _ = _train(tiny_config(steps=3, seed=2), corpus, tmp_path / "second")
    assert any(not np.array_equal(a, b) for a, b in zip(_weights(first), _weights(second)))


@pytest.mark.parametrize("dtype", ["float32", "mixed_float16"])
def test_a_killed_run_resumes_to_the_bits_of_an_unbroken_one(corpus, tmp_path, dtype):
    config = tiny_config(dtype=dtype, log_every=2)  # so that lines after the checkpoint are there
    unbroken, _ = _train(config, corpus, tmp_path / "unbroken")
    with pytest.raises(Killed):
        _train(config, corpus, tmp_path / "killed", [KillAt(34)])
    resumed, _ = _train(config, corpus, tmp_path / "killed")
    _assert_same_bits(_weights(unbroken), _weights(resumed))
    for slot in unbroken.method.optimizer.variables():
        assert np.all(np.isfinite(slot.numpy()))
    records = [
        MetricsLog.read(tmp_path / name / "metrics.jsonl") for name in ("unbroken", "killed")
    ]
    assert [[r["step"], r["loss"]] for r in records[0]] == [
        [r["step"], r["loss"]] for r in records[1]
    ]


def test_a_finished_run_does_nothing_more(corpus, tmp_path):
    config = tiny_config(steps=10)
    _train(config, corpus, tmp_path)
    metrics = (tmp_path / "metrics.jsonl").read_text()
    _, summary = _train(config, corpus, tmp_path, [KillAt(0)])
    assert summary["step"] == 10
    assert (tmp_path / "metrics.jsonl").read_text() == metrics


def test_each_step_is_traced_once(corpus, tmp_path):
    trainer, _ = _train(tiny_config(), corpus, tmp_path)
    assert trainer.method.train_step.experimental_get_tracing_count() == 1
    assert trainer.method.evaluation_step.experimental_get_tracing_count() == 1


def test_the_best_model_is_the_one_with_the_best_dev_accuracy(corpus, tmp_path):
    trainer, summary = _train(tiny_config(), corpus, tmp_path)
    dev = [r for r in MetricsLog.read(tmp_path / "metrics.jsonl") if r["split"] == "dev"]
    best = max(dev, key=lambda record: record["accuracy"])  # the first of equals
    bundle = load_bundle(tmp_path / "best")
    assert summary["best_step"] == best["step"] == bundle.info["scores"]["step"]
    assert bundle.info["scores"]["dev_accuracy"] == best["accuracy"] == summary["best_score"]


def test_a_failed_write_of_the_best_model_records_no_score(corpus, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("disan_tf.training.loop.save_bundle", fail)
    trainer = Trainer(tiny_config(), corpus, tmp_path)
    with pytest.raises(OSError, match="disk full"):
        trainer.run()
    assert float(trainer.state.best_score) == -np.inf
    assert all(r["split"] != "dev" for r in MetricsLog.read(tmp_path / "metrics.jsonl"))


def test_training_stops_early_without_a_better_score(corpus, tmp_path):
    config = tiny_config(steps=200, learning_rate=0.0, patience=2)
    _, summary = _train(config, corpus, tmp_path)
    assert (summary["best_step"], summary["step"]) == (10, 30)


def test_a_loss_that_is_not_finite_stops_and_keeps_the_last_checkpoint(corpus, tmp_path):
    trainer = Trainer(tiny_config(), corpus, tmp_path, [Poison(25)])
    with pytest.raises(UserError, match=r"not finite between steps 21 and 30; .* of step 20 "):
        trainer.run()
    again = Trainer(tiny_config(), corpus, tmp_path)
    assert again.state.restore() == 20
    assert all(np.all(np.isfinite(weight)) for weight in _weights(again))


def test_an_overflow_under_float16_is_skipped_and_counted(corpus, tmp_path):
    trainer = Trainer(tiny_config(dtype="mixed_float16", steps=10), corpus, tmp_path)
    trainer.method.optimizer._loss_scale.current_loss_scale.assign(2.0**100)
    trainer.run()
    records = MetricsLog.read(tmp_path / "metrics.jsonl")
    train = [record for record in records if record["split"] == "train"]
    assert train[-1]["skipped_steps"] == 10
    assert np.isfinite(train[-1]["loss"])


def test_a_weight_that_is_not_finite_is_never_saved(corpus, tmp_path):
    trainer = Trainer(tiny_config(), corpus, tmp_path, [Poison(20)])
    with pytest.raises(UserError, match=r"weight is not finite after step 20; .* of step 10 "):
        trainer.run()
    assert Trainer(tiny_config(), corpus, tmp_path).state.restore() == 10


class Poison(tf.keras.callbacks.Callback):
    """Makes a weight NaN after some steps."""

    def __init__(self, step):
        super().__init__()
        self.step = step

    def on_train_batch_end(self, batch, logs=None):
        if batch + 1 == self.step:
            weight = self.model.trainable_variables[-1]
            weight.assign(weight * np.nan)


def test_a_corrupt_checkpoint_is_named(corpus, tmp_path):
    _train(tiny_config(steps=10), corpus, tmp_path)
    data = next((tmp_path / "checkpoints").glob("step-10.data*"))
    data.write_bytes(data.read_bytes()[:100])
    with pytest.raises(UserError, match=r"step-10.* cannot be restored"):
        Trainer(tiny_config(), corpus, tmp_path).run()


def test_a_changed_best_model_is_refused(corpus, tmp_path):
    _train(tiny_config(steps=10), corpus, tmp_path)
    weights = next((tmp_path / "best").glob("*.weights.h5"))
    content = bytearray(weights.read_bytes())
    content[len(content) // 2] ^= 1
    weights.write_bytes(content)
    with pytest.raises(UserError, match="the file is damaged or was changed"):
        load_bundle(tmp_path / "best")


def test_a_best_model_answers_after_the_corpus_is_gone(tmp_path):
    corpus = corpus_of(tiny_config(), tmp_path / "corpus")
    trainer, _ = _train(tiny_config(steps=10), corpus, tmp_path / "run")
    shutil.rmtree(tmp_path / "corpus")
    bundle = load_bundle(tmp_path / "run" / "best")
    ids = tf.constant([[2, 3, 4]])
    np.testing.assert_array_equal(bundle.model(ids), trainer.model(ids))


def test_a_moving_average_serves_evaluation_only(corpus, tmp_path):
    config = tiny_config(moving_average=0.9, steps=20)
    averaged, _ = _train(config, corpus, tmp_path / "averaged")
    plain, _ = _train(tiny_config(steps=20), corpus, tmp_path / "plain")
    _assert_same_bits(_weights(averaged), _weights(plain))
    best = load_bundle(tmp_path / "averaged" / "best").model.trainable_variables
    assert any(
        not np.array_equal(one, other)
        for one, other in zip(best, averaged.model.trainable_variables)
    )


def test_a_cut_last_line_of_the_metrics_is_dropped(corpus, tmp_path):
    _train(tiny_config(steps=10), corpus, tmp_path)
    with open(tmp_path / "metrics.jsonl", "a") as file:
        file.write('{"step": 11, "lo')
    _train(tiny_config(steps=20), corpus, tmp_path)
    lines = (tmp_path / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [10, 10, 20, 20]
