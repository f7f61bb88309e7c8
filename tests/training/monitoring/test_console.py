"""The progress of a training: lines in files, two drawn lines on a terminal."""

import math

import pytest

from disan_tf.training.monitoring import console
from disan_tf.training.monitoring.console import ConsoleLog, Schedule, TrainingBar


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(console.time, "monotonic", lambda: now[0])
    return now


def make_bar(best=(0, -math.inf), patience=8, first=0):
    bar = TrainingBar(Schedule(100, 10, patience), 15.5, "accuracy", lambda: best)
    bar.on_train_begin({"step": first})
    return bar


def test_a_bar_has_speed_time_left_and_patience(clock):
    bar = make_bar(best=(10, 0.5), first=20)
    for step in range(20, 40):
        clock[0] += 2.0
        bar.on_train_batch_end(step, {"loss": 1.0})
    expected = "8 sentences/s, 2 min 0 s left (or earlier: patience 3/8)"
    assert bar.describe_time() == expected
    bar.on_train_end()


def test_a_bar_without_patience_names_none(clock):
    bar = make_bar(patience=0)
    clock[0] += 1.0
    bar.on_train_batch_end(0, {"loss": 1.0})
    assert bar.describe_time() == "16 sentences/s, 1 min 39 s left"
    bar.on_train_end()


def test_a_bar_has_the_training_loss_the_dev_score_and_the_best(capsys):
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


def test_a_best_score_that_is_not_there_is_not_named():
    bar = make_bar()
    bar.on_train_batch_end(0, {"loss": 1.0})
    assert bar.describe_progress() == "train loss 1.0000"
    bar.on_train_end()


@pytest.mark.parametrize("progress", [ConsoleLog(100, 15.5, 10), None])
def test_a_resumed_training_says_its_step(progress, capsys):
    progress = progress or make_bar(first=0)
    progress.on_train_begin({"step": 0})
    assert "resuming" not in capsys.readouterr().out
    progress.on_train_begin({"step": 1928})
    assert "resuming at step 1,928\n" in capsys.readouterr().out
    progress.on_train_end()


def test_a_bar_closes_before_it_has_begun():
    TrainingBar(Schedule(100, 10, 8), 15.5, "accuracy", lambda: (0, 0.0)).on_train_end()


@pytest.mark.parametrize("is_over", [False, True])
def test_a_training_that_had_finished_does_not_resume(is_over, capsys):
    logs = {"step": 20, "is_over": is_over}
    for progress in (ConsoleLog(100, 15.5, 10), TrainingBar(Schedule(100, 10, 1), 1, "x", None)):
        progress.on_train_begin(logs)
        progress.on_train_end()
        start = "this training had finished" if is_over else "resuming"
        assert capsys.readouterr().out.startswith(f"{start} at step 20")
