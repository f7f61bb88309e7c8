"""What stands around the loop: the work directory's owner, run.json, the lines on the console."""

import json

import numpy as np
import pytest

from disan_tf.common.errors import UserError
from disan_tf.input_pipeline import padding_share, plan_batches
from disan_tf.models.factory import build_model, count_parameters
from disan_tf.runs.bundle import load_bundle
from disan_tf.runs.run_summary import is_finished
from disan_tf.runs.work_directory import FORMAT, claim
from disan_tf.training import experiment
from disan_tf.training.evaluation import write_evaluation
from disan_tf.training.monitoring.console import ConsoleLog
from tests.support.corpora.pairs import make_pair_corpus
from tests.support.runs.training import corpus_of, tiny_config, with_few_operations


def test_a_work_directory_belongs_to_one_config(tmp_path):
    claim(tmp_path, tiny_config())
    claim(tmp_path, tiny_config())
    with pytest.raises(UserError, match=r"train\.dropout \(0\.2 there, 0\.5 here\)"):
        claim(tmp_path, tiny_config(dropout=0.5))
    assert json.loads((tmp_path / "config.json").read_text())["train"]["dropout"] == 0.2


def test_a_work_directory_may_be_asked_for_more_steps_and_patience(tmp_path):
    claim(tmp_path, tiny_config(steps=50, patience=2))
    claim(tmp_path, tiny_config(steps=80, patience=5))
    train = json.loads((tmp_path / "config.json").read_text())["train"]
    assert (train["steps"], train["patience"]) == (80, 5)
    claim(tmp_path, tiny_config(steps=80, patience=0))  # never ends it


@pytest.mark.parametrize(
    "key, there, here", [("steps", 80, 50), ("patience", 5, 2), ("patience", 0, 9)]
)
def test_a_work_directory_is_not_asked_for_less(tmp_path, key, there, here):
    claim(tmp_path, tiny_config(**{"steps": 100, key: there}))
    with pytest.raises(UserError, match=rf"train\.{key} \({there} there, {here} here\)"):
        claim(tmp_path, tiny_config(**{"steps": 100, key: here}))
    assert json.loads((tmp_path / "config.json").read_text())["train"][key] == there


def test_a_config_without_steps_is_another_one(tmp_path):
    config = tiny_config().to_dict()
    del config["train"]["steps"]
    (tmp_path / "config.json").write_text(json.dumps({"format": FORMAT, **config}))
    with pytest.raises(UserError, match=r"train\.steps \(None there, "):
        claim(tmp_path, tiny_config())


def test_an_option_that_an_older_version_lacked_has_the_value_of_its_effect(tmp_path):
    config = tiny_config().to_dict()
    del config["train"]["clip_norm"]
    (tmp_path / "config.json").write_text(json.dumps({"format": FORMAT, **config}))
    with pytest.raises(UserError, match=r"train\.clip_norm \(0\.0 there, 1\.0 here\)"):
        claim(tmp_path, tiny_config(clip_norm=1.0))
    claim(tmp_path, tiny_config())


@pytest.mark.parametrize("number", [None, 1, FORMAT + 1])
def test_a_work_directory_of_another_format_is_refused(tmp_path, number):
    (tmp_path / "config.json").write_text(json.dumps({"format": number, **tiny_config().to_dict()}))
    message = rf"config.json has format {number}, and this version .* reads format {FORMAT}: use"
    with pytest.raises(UserError, match=message):
        claim(tmp_path, tiny_config())


def test_a_tuple_of_a_config_is_the_list_in_its_file(tmp_path):
    config = tiny_config()
    config.evaluate.splits = ("test",)
    claim(tmp_path, config)
    claim(tmp_path, config)


def test_a_damaged_config_is_named(tmp_path):
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(UserError, match="config.json is not readable JSON"):
        claim(tmp_path, tiny_config())


def test_a_training_says_what_it_trains_and_leaves_a_record(tmp_path, capsys):
    config = tiny_config(steps=10)
    corpus = corpus_of(config, tmp_path / "corpus")
    summary = experiment.train(config, lambda: corpus, tmp_path / "run")
    printed = capsys.readouterr().out
    assert "5,445 parameters" in printed and "tokens a step" in printed
    assert "step 10 of 10, epoch 0.1: dev loss" in printed and "examples/s" in printed
    assert summary["step"] == 10
    described = json.loads((tmp_path / "run" / "run.json").read_text())
    assert described["parameters"] == 5445
    assert set(described["versions"]) == {"disan_tf", "python", "tensorflow", "numpy"}
    assert any(path.endswith("train.txt") for path in described["inputs"])
    machine = described["machine"]
    assert set(machine) == {"processor", "gpu", "cores", "threads", "load_before", "load_after"}
    assert machine["processor"] and 0 < machine["threads"] <= machine["cores"]
    assert machine["load_before"] >= 0 and machine["load_after"] >= 0


def test_a_training_counts_in_epochs(tmp_path, capsys):
    config = with_few_operations(tiny_config(steps=0, evaluate_every=0, examples=70))
    config.train.epochs = 2
    corpus = corpus_of(config, tmp_path / "corpus")
    summary = experiment.train(config, lambda: corpus, tmp_path / "run", pictures=False)
    assert (summary["step"], summary["epoch"]) == (10, 2.0)  # 70 examples in batches of 16
    assert summary["best_epoch"] in (1.0, 2.0)
    printed = capsys.readouterr().out
    assert "step 5 of 10, epoch 1.0: " in printed and "step 10 of 10, epoch 2.0: " in printed
    bundle = load_bundle(tmp_path / "run/best")
    for split in ("dev", "test"):
        assert not is_finished(tmp_path / "run", config.train)
        write_evaluation(tmp_path / "run/evaluation", bundle, corpus, split)
    assert is_finished(tmp_path / "run", config.train)
    config.train.epochs = 3
    assert not is_finished(tmp_path / "run", config.train)


def test_a_training_does_not_go_on_with_other_data(tmp_path):
    config = with_few_operations(tiny_config(steps=2, evaluate_every=1))
    experiment.train(config, lambda: corpus_of(config, tmp_path / "corpus"), tmp_path / "run")
    before = (tmp_path / "run/run.json").read_bytes()
    config.train.steps = 3
    other = corpus_of(config, tmp_path / "other", {"train": 61, "dev": 40, "test": 40})
    with pytest.raises(UserError, match=r"other contents of \S*train\.txt; restore") as refusal:
        experiment.train(config, lambda: other, tmp_path / "run")
    assert "dev.txt" not in str(refusal.value)
    assert (tmp_path / "run/run.json").read_bytes() == before
    moved = corpus_of(config, tmp_path / "moved")
    assert experiment.train(config, lambda: moved, tmp_path / "run")["step"] == 3


def test_the_console_tells_speed_and_time_left(capsys, monkeypatch):
    clock = iter([100.0, 110.0])
    monkeypatch.setattr("disan_tf.training.monitoring.console.time.monotonic", lambda: next(clock))
    log = ConsoleLog(steps=100, examples=15.5, epoch_steps=10)
    log.on_train_batch_begin(20)
    log.on_test_end({"step": 40, "loss": 1.5, "accuracy": 0.25, "watched": {"test": {"loss": 2.0}}})
    line = capsys.readouterr().out
    assert line.startswith("step 40 of 100, epoch 4.0: dev loss 1.5000, dev accuracy 0.2500")
    assert line.endswith("31 examples/s, 30 s left\n")


@pytest.mark.slow
def test_a_training_of_pairs_says_its_tokens_and_padding_and_leaves_a_record(tmp_path, capsys):
    corpus = make_pair_corpus(tmp_path / "corpus")
    config = with_few_operations(tiny_config(name="disan_snli", steps=2))
    experiment.train(config, lambda: corpus, tmp_path / "run")
    printed = capsys.readouterr().out
    split = corpus.split("train")
    tokens = sum(len(ids) for ids in split.ids.values()) / 4  # 60 pairs in batches of 16
    assert f"60 training examples, 4 steps an epoch, {tokens:,.0f} tokens a step, " in printed
    plan = plan_batches(split.field_lengths, 16, 500, seed=1, epoch=0)
    share = padding_share(split.field_lengths, plan)
    assert f"{share:.1%} of the positions are padding" in printed
    described = json.loads((tmp_path / "run" / "run.json").read_text())
    assert described["parameters"] == count_parameters(build_model(config, corpus.words, 3))


def test_a_task_that_does_not_fit_the_corpus_is_refused(tmp_path):
    corpus = make_pair_corpus(tmp_path / "corpus")
    with pytest.raises(UserError, match="holds premise and hypothesis, but .* reads sentence;"):
        experiment.train(tiny_config(), lambda: corpus, tmp_path / "run")


def test_a_training_on_a_draw_of_its_examples_says_so_and_sees_no_other(tmp_path, capsys):
    corpus = make_pair_corpus(tmp_path / "corpus")
    config = with_few_operations(tiny_config(name="disan_snli", steps=2, examples=20))
    experiment.train(config, lambda: corpus, tmp_path / "run")
    assert "20 training examples, 2 steps an epoch, " in capsys.readouterr().out
    trainer = experiment.Trainer(config, corpus, tmp_path / "other")
    seen = np.concatenate([batch["index"] for batch in trainer.batches(0)])
    np.testing.assert_array_equal(np.sort(seen), trainer.plan.rows)


def test_more_examples_than_the_corpus_has_are_refused(tmp_path):
    corpus = make_pair_corpus(tmp_path / "corpus")
    config = tiny_config(name="disan_snli", examples=61)
    with pytest.raises(UserError, match="train.examples=61 is more than the 60 training examples"):
        experiment.train(config, lambda: corpus, tmp_path / "run")
