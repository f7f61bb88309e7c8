"""Trainings of a biLM from plain text: resumed, scored, exported to the official files."""

import math

import numpy as np
import pytest

from data_prep.prepare import prepare
from disan_tf.cli import modes
from disan_tf.common.errors import UserError
from disan_tf.elmo.official_files import load_bilm
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.runs.bundle import load_bundle, save_bundle
from disan_tf.runs.score_tables import render_scores
from disan_tf.training.evaluation import evaluate
from tests.support.layers.weights import draw_weights
from tests.support.models.bilm import batch
from tests.support.runs.training import make_loop, records_of, run_loop, tiny_config

STEPS = {"steps": 30, "evaluate_every": 10, "checkpoint_every": 4, "log_every": 2}
FOLLOWS = {"the": "quick", "quick": "brown", "brown": "fox", "fox": "sleeps", "sleeps": "the"}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Lines in which each word decides the next one."""
    folder = tmp_path_factory.mktemp("text")
    generator, lines = np.random.default_rng(1), []
    for length in generator.integers(2, 9, 300):
        words = [list(FOLLOWS)[generator.integers(len(FOLLOWS))]]
        while len(words) < length:
            words.append(FOLLOWS[words[-1]])
        lines.append(" ".join(words) + "\n")
    (folder / "bilm_texts").mkdir()
    (folder / "bilm_texts/shard.txt").write_text("".join(lines))
    return PreparedCorpus(prepare(_config().data, folder, folder / "prepared"))


def _config(dtype="float32", **train):
    return tiny_config(name="bilm", dtype=dtype, **{**STEPS, **train})


@pytest.fixture(scope="module")
def best(corpus, tmp_path_factory):
    """The bundle of a model of random weights."""
    folder = tmp_path_factory.mktemp("best")
    trainer = make_loop(_config(), corpus, folder / "run")
    save_bundle(folder / "best", trainer.model, trainer.config, corpus, {"step": 1})
    return folder / "best"


@pytest.mark.slow
def test_it_learns_what_follows_a_word(corpus, tmp_path):
    config = _config(steps=300, evaluate_every=100, learning_rate=0.02)
    config.train.optimizer, config.train.clip_norm = "adam", 0.0
    del config.train.optimizer_options
    trainer = make_loop(config, corpus, tmp_path)
    trainer.run()
    dev = records_of(trainer, "dev")[-1]
    assert dev["forward_perplexity"] < 1.2 * 1.92  # of a Kneser-Ney trigram model on these lines
    assert dev["backward_perplexity"] < 6.01 / 2  # of a unigram model


@pytest.mark.slow
def test_the_best_model_has_the_perplexities_of_its_training(corpus, tmp_path):
    unbroken = run_loop(_config(), corpus, tmp_path)
    bundle = load_bundle(unbroken.work.path / "best")
    report = evaluate(bundle, corpus, "dev")
    best = max(records_of(unbroken, "dev"), key=lambda it: it["log_likelihood"])
    for name in ("perplexity", "forward_perplexity", "backward_perplexity"):
        assert report[name] == pytest.approx(best[name], rel=1e-5)
    assert report["perplexity"] == pytest.approx(math.exp(-report["log_likelihood"]))
    assert f"perplexity {report['perplexity']:.2f} (forward" in render_scores(report)


def test_the_dev_loss_is_the_mean_over_words(corpus, tmp_path):
    config = _config()
    config.evaluate.batch_size = 1
    trainer = make_loop(config, corpus, tmp_path)
    draw_weights(trainer.model.head.trainable_weights, seed=6)
    scores = trainer.scores.score_dev()
    assert scores["loss"] == pytest.approx(-scores["log_likelihood"], rel=1e-6)


def test_an_export_is_the_bilm_in_the_official_files(best, tmp_path, capsys):
    modes.export(best, output=tmp_path / "elmo" / "mine")
    paths = [tmp_path / "elmo" / f"mine_{kind}" for kind in ("options.json", "weights.hdf5")]
    assert capsys.readouterr().out.split() == list(map(str, paths))
    ids, mask = batch()
    expected = load_bundle(best).model.encoder(ids, mask=mask)
    np.testing.assert_array_equal(load_bilm(*paths)(ids, mask=mask), expected)


def test_it_has_no_other_exports(best, tmp_path):
    with pytest.raises(UserError, match="a language model, .* leave --format and --max_tokens out"):
        modes.export(best, output=tmp_path, format="tflite")


@pytest.mark.parametrize("mode", [modes.predict, modes.attend])
def test_it_answers_no_lines(best, tmp_path, mode):
    with pytest.raises(
        UserError, match="a language model, which makes no predictions; --mode=export"
    ):
        mode(best, "-", str(tmp_path / "output"))
