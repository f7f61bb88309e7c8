"""disan_tf/cli/reproduce.py: a row is trained or its released model scored, and judged."""

import dataclasses
import shutil
from functools import partial
from random import Random

import numpy as np
import pytest

from data_prep.corpora.official_files import write_mark
from disan_tf.cli import modes
from disan_tf.cli import reproduce as cli
from disan_tf.cli.loading import prepare_corpus, read_config
from disan_tf.cli.reproduce import Reproduction
from disan_tf.common.errors import UserError
from disan_tf.runs.bundle import load_bundle
from disan_tf.study.papers import Row, Score
from disan_tf.study.report import summarise
from disan_tf.study.reproduce import FAIL, OK, Target
from disan_tf.training.series import train_series
from tests.support.errors import user_error
from tests.support.runs.training import load_config

ROW = Row("ours/words", "source2token", "demo", released="ours")
WORDS = {1: ("awful", "dull", "bland", "silly"), 3: ("superb", "funny", "warm", "clever")}
SIZES = {"train": 600, "dev": 100, "test": 400}


def _write_trees(folder):
    """Trees whose label one word decides, but for a tenth of them."""
    random = Random(0)
    for split, size in SIZES.items():
        lines = []
        for number in range(size):
            label = random.choice((1, 3))
            shown = 4 - label if random.random() < 0.1 else label
            leaves = f"(2 it{number % 5}) ({label} {random.choice(WORDS[label])})"
            lines.append(f"({shown} {leaves})\n")
        path = folder / "sst" / "trees" / f"{split}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(lines), encoding="utf-8")
    write_mark(folder / "sst" / "trees" / f"{split}.txt" for split in SIZES)


def _config():
    config = load_config("demo")
    config.data.level = "sentence"
    config.data.repetitions = True
    config.embedding.dim = config.task.hidden_units = 32
    with config.unlocked():
        config.encoder = {"name": "source2token", "activation": "elu"}
    config.train.update(steps=100, evaluate_every=100, patience=0, dropout=0.0)
    return config


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with data, and with a series of one seed that is the recorded result."""
    folder = tmp_path_factory.mktemp("rows")
    _write_trees(folder / "data")
    prepare = partial(prepare_corpus, data_dir=folder / "data", prepared_dir=folder / "prepared")
    train_series(read_config(_config()), folder / "recorded", ["1"], [], prepare, pictures=False)
    return folder


@pytest.fixture
def work(trained, tmp_path):
    """A folder for rows beside the same data."""
    return Reproduction(tmp_path, trained / "data")


@pytest.fixture(scope="module")
def target(trained):
    return Target(ROW, Score("test", "test"), "90.0", summarise(trained / "recorded", {}))


def test_the_recorded_seed_gives_the_recorded_score_and_the_same_call_resumes(work, target, capsys):
    assert 0.8 < target.result["mean"]["test"]["accuracy"] < 1
    first = work.train(target, _config())
    assert first.word == OK and "difference +0.00" in str(first)
    assert "step 100 of 100" in capsys.readouterr().out
    again = work.train(target, _config())
    assert again == first and "seed-1 (1 of 1): finished" in capsys.readouterr().out


@pytest.fixture
def released(trained, target, tmp_path, monkeypatch):
    """The recorded model as the released one; returns its bundle and the function that scores."""
    bundle = load_bundle(trained / "recorded" / "seed-1" / "best")
    score = f"{target.result['mean']['test']['accuracy']:.4f}"
    monkeypatch.setattr(cli, "find_bundle", lambda name: name)
    monkeypatch.setattr(cli, "load_bundle", lambda name: bundle)
    monkeypatch.setattr(cli, "read_manifest", lambda path: {"ours": {"test": score}})
    return bundle


def test_a_released_model_has_its_score(work, target, released):
    verdict = work.score_released(target)
    assert verdict.word == OK and "difference +0.0000" in str(verdict).replace("-0.0000", "+0.0000")
    assert "on 400 test examples" in str(verdict)


def test_the_test_file_alone_has_the_word_ids_of_the_prepared_corpus(trained, released, tmp_path):
    path = tmp_path / "sst/trees/test.txt"
    path.parent.mkdir(parents=True)
    shutil.copy(trained / "data/sst/trees/test.txt", path)
    write_mark([path])
    prepare = partial(prepare_corpus, data_dir=trained / "data", prepared_dir=trained / "prepared")
    found, expected = cli.read_test_split(released, tmp_path), prepare(_config().data).split("test")
    for name in ("ids", "offsets"):
        ours, theirs = getattr(found, name)["sentence"], getattr(expected, name)["sentence"]
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(found.labels, expected.labels)
    np.testing.assert_array_equal(found.example_ids, expected.example_ids)


def test_a_shortened_test_file_is_named(trained, released, tmp_path):
    path = tmp_path / "sst/trees/test.txt"
    path.parent.mkdir(parents=True)
    lines = (trained / "data/sst/trees/test.txt").read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:300]))
    text = user_error(cli.read_test_split, released, tmp_path)
    assert text.endswith(" SST test has 300 trees; the official split has 2,210.")
    assert text.startswith(f"{tmp_path} lacks the official test split: test.txt: ")


def test_an_untrained_head_or_changed_weight_of_a_released_model_fails(work, target, released):
    for part in (released.model.head, released.model.embedding):
        kept = [weight.numpy() for weight in part.trainable_weights]
        for weight in part.trainable_weights:
            weight.assign(weight[::-1] if weight.shape.rank == 2 else weight)
        assert work.score_released(target).word == FAIL
        for weight, value in zip(part.trainable_weights, kept):
            weight.assign(value)


def test_a_row_without_a_released_model_is_refused(work, target):
    bare = dataclasses.replace(target, row=dataclasses.replace(ROW, released=""))
    with pytest.raises(UserError, match="--row=ours/words has no released model; --mode=reproduce"):
        work.score_released(bare)


@pytest.mark.parametrize("word, status", [("OK", None), ("close", None), ("FAIL", 1)])
def test_the_exit_status_is_1_for_fail_alone(word, status, monkeypatch, capsys):
    verdict = cli.Verdict(word, ("lines",))
    monkeypatch.setattr(Reproduction, "train", lambda self, target, config, seeds: verdict)
    try:
        modes.reproduce("demo")
        assert status is None
    except SystemExit as stop:
        assert stop.code == status
    assert capsys.readouterr().out == f"lines\n{word}\n"


def test_without_a_row_the_mode_lists_them(capsys):
    modes.reproduce()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:4] == ["row", "paper", "ours", "tolerance"]
    assert any(line.startswith("resan/snli/bi_gru ") for line in lines)
    assert "--mode=reproduce --row=disan/sick --data_dir=data" in lines[-1]


def test_the_demo_writes_its_corpus(work, target, released):
    work.score_released(dataclasses.replace(target, row=dataclasses.replace(ROW, name="demo")))
    assert (work.output / "demo-data/sst/trees/train.txt").is_file()
