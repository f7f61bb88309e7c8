"""Modes that serve single sentences refuse a model of pairs, and write nothing."""

import pytest
from pairs import make_pair_corpus
from training_runs import tiny_config

from disan_tf.bundle import save_bundle
from disan_tf.errors import UserError, exit_status
from disan_tf.modes import attend, export, predict
from disan_tf.tasks import build_model


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    config = tiny_config(name="disan_snli").copy_and_resolve_references()
    corpus = make_pair_corpus(folder / "corpus")
    model = build_model(config, corpus.words, len(corpus.classes))
    save_bundle(folder / "model", model, config, corpus, {"step": 30, "dev_accuracy": 0.25})
    return folder / "model"


@pytest.fixture
def commands(checkpoint, tmp_path):
    (tmp_path / "lines.txt").write_text("dogs sing here\n")
    lines, out = str(tmp_path / "lines.txt"), str(tmp_path / "out")
    return {
        "predict": lambda: predict(checkpoint, lines, out),
        "attend": lambda: attend(checkpoint, lines, out),
        "export": lambda: export(checkpoint, out),
    }


@pytest.mark.parametrize("mode", ["predict", "attend", "export"])
def test_a_model_of_pairs_is_refused(mode, commands, checkpoint, tmp_path, capsys):
    with pytest.raises(UserError):
        commands[mode]()
    assert exit_status(commands[mode]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert f"{checkpoint} holds a model of sentence pairs, and --mode={mode} takes" in message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lines.txt"]
