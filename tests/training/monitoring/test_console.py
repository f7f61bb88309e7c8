"""The progress of a training: lines in files, a bar on a terminal."""

import math

import pytest

from disan_tf.training.monitoring import console
from disan_tf.training.monitoring.console import ConsoleLog, TrainingBar


def make_bar(best=(0, -math.inf)):
    bar = TrainingBar(100, "accuracy", lambda: best)
    bar.on_train_begin({"step": 0})
    return bar


def test_a_bar_has_the_steps_the_training_loss_the_dev_score_and_the_best(capsys):
    bar = make_bar(best=(10, 0.75))
    for step in range(2):
        bar.on_train_batch_end(step, {"loss": 1.0 + step})
    assert bar.describe_progress() == "train loss 1.5000, best 0.7500 at step 10"
    bar.on_test_end({"step": 20, "loss": 2.0, "accuracy": 0.5, "watched": {}})
    assert bar.describe_progress() == "dev accuracy 0.5000, best 0.7500 at step 10"
    bar.on_train_batch_end(20, {"loss": 9.0})
    assert bar.describe_progress().startswith("train loss 9.0000, dev accuracy 0.5000, best")
    bar.on_train_end()
    captured = capsys.readouterr()
    assert "step 20: dev loss 2.0000, dev accuracy 0.5000\n" in captured.out
    assert "/100" in captured.err


def test_a_bar_closes_before_it_has_begun():
    TrainingBar(100, "accuracy", lambda: (0, 0.0)).on_train_end()


@pytest.mark.parametrize("is_over", [False, True])
def test_a_training_that_goes_on_or_had_finished_says_so(is_over, capsys):
    logs = {"step": 1928, "is_over": is_over}
    for progress in (ConsoleLog(100, 15.5, 10), make_bar()):
        assert capsys.readouterr().out == ""  # a new training says nothing
        progress.on_train_begin(logs)
        progress.on_train_end()
        start = "this training had finished" if is_over else "resuming"
        assert capsys.readouterr().out.startswith(f"{start} at step 1,928")


def test_a_line_tells_speed_and_time_left(capsys, monkeypatch):
    clock = iter([100.0, 110.0])
    monkeypatch.setattr(console.time, "monotonic", lambda: next(clock))
    log = ConsoleLog(steps=100, examples=15.5, epoch_steps=10)
    log.on_train_batch_begin(20)
    log.on_test_end({"step": 40, "loss": 1.5, "accuracy": 0.25, "watched": {"test": {"loss": 2.0}}})
    line = capsys.readouterr().out
    assert line.startswith("step 40 of 100, epoch 4.0: dev loss 1.5000, dev accuracy 0.2500")
    assert line.endswith("31 examples/s, at most 30 s left\n")
