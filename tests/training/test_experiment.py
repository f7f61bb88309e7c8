"""What stands around the loop: the work directory's owner, run.json, the lines on the console."""

import json

import pytest
from training_runs import corpus_of, tiny_config

from disan_tf.errors import UserError
from disan_tf.training import experiment
from disan_tf.training.console import ConsoleLog


def test_a_work_directory_belongs_to_one_config(tmp_path):
    experiment.claim(tmp_path, tiny_config())
    experiment.claim(tmp_path, tiny_config())
    with pytest.raises(UserError, match=r"train\.dropout \(0\.2 there, 0\.5 here\)"):
        experiment.claim(tmp_path, tiny_config(dropout=0.5))
    assert json.loads((tmp_path / "config.json").read_text())["train"]["dropout"] == 0.2


def test_a_work_directory_may_be_asked_for_more_steps(tmp_path):
    experiment.claim(tmp_path, tiny_config(steps=50))
    experiment.claim(tmp_path, tiny_config(steps=80))
    assert json.loads((tmp_path / "config.json").read_text())["train"]["steps"] == 80


def test_a_damaged_config_is_named(tmp_path):
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(UserError, match="config.json is not readable JSON"):
        experiment.claim(tmp_path, tiny_config())


def test_a_training_says_what_it_trains_and_leaves_a_record(tmp_path, capsys):
    config = tiny_config(steps=10)
    corpus = corpus_of(config, tmp_path / "corpus")
    summary = experiment.train(config, corpus, tmp_path / "run")
    printed = capsys.readouterr().out
    assert "5,445 parameters" in printed and "tokens a step" in printed
    assert "step 10 of 10: dev loss" in printed and "sentences/s" in printed
    assert summary["step"] == 10
    described = json.loads((tmp_path / "run" / "run.json").read_text())
    assert described["parameters"] == 5445
    assert set(described["versions"]) == {"disan_tf", "python", "tensorflow", "numpy"}
    assert any(path.endswith("train.txt") for path in described["inputs"])


def test_the_console_tells_speed_and_time_left(capsys, monkeypatch):
    clock = iter([100.0, 110.0])
    monkeypatch.setattr("disan_tf.training.console.time.monotonic", lambda: next(clock))
    log = ConsoleLog(tiny_config(batch_size=16, steps=100))
    log.on_train_batch_begin(20)
    log.on_test_end({"step": 40, "loss": 1.5, "accuracy": 0.25})
    line = capsys.readouterr().out
    assert line.startswith("step 40 of 100: dev loss 1.5000, dev accuracy 0.2500")
    assert "32 sentences/s, 0 min left" in line
