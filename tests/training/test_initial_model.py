"""Trainings that begin with a trained model's weights."""

import json

import numpy as np
import pytest
import tensorflow as tf
from ml_collections import ConfigDict

from disan_tf.common.errors import UserError
from disan_tf.layers.embedding.characters import WordCharacterEmbedding
from disan_tf.models.factory import build_model
from disan_tf.runs.bundle import load_bundle
from disan_tf.runs.work_directory import WorkDirectory, read_start
from disan_tf.training import initial_model
from disan_tf.training.config import from_dict
from disan_tf.training.initial_model import InitialModel
from disan_tf.training.train import check_work, train
from tests.support.runs.training import corpus_of, make_loop, tiny_config, with_few_operations


def _config(**train):
    options = {"steps": 4, "evaluate_every": 2, "dropout": 0.25}
    return with_few_operations(tiny_config(**{**options, **train}))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return corpus_of(_config(), tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A trained model, of a corpus with fewer words."""
    folder, config = tmp_path_factory.mktemp("source"), _config()
    smaller = corpus_of(config, folder, {"train": 8, "dev": 20, "test": 20})
    train(from_dict(config.lock()), lambda: smaller, folder / "run", pictures=False)
    return load_bundle(folder / "run" / "best")


@pytest.fixture
def initial(source):
    return InitialModel("earlier", lambda: source)


def _rows(model, words) -> dict:
    """Word -> its vector."""
    table = model.embedding
    return dict(zip(words, np.concatenate([table.trained.numpy(), table.fixed.numpy()])))


def test_known_words_and_the_encoder_begin_as_they_were(corpus, source, initial, tmp_path):
    ours = make_loop(_config(), corpus, tmp_path / "ours", initial=initial)
    fresh = make_loop(_config(), corpus, tmp_path / "fresh")
    theirs = _rows(source.model, source.vocabulary)
    before, after = (_rows(trainer.model, corpus.vocabulary) for trainer in (fresh, ours))
    known = theirs.keys() & after.keys()
    assert known and len(known) < len(after)
    for word, vector in after.items():
        np.testing.assert_array_equal(vector, theirs[word] if word in known else before[word])
    assert initial.record["words"] == len(after) and initial.record["words_found"] == len(known)
    counters = 0
    for weight, expected in zip(ours.model.encoder.weights, source.model.encoder.weights):
        if weight.dtype.is_floating:
            np.testing.assert_array_equal(weight, expected, weight.name)
        else:  # calls of dropout, which begin at 0
            counters += 1
            assert int(weight) == 0 < int(expected)
    assert counters


def test_a_head_of_other_classes_is_new(source, initial, tmp_path):
    config = _config()
    config.data.classes = 5 if len(source.classes) == 2 else 2
    other = corpus_of(config, tmp_path / "corpus")
    trainer = make_loop(config, other, tmp_path / "ours", initial=initial)
    fresh = make_loop(config, other, tmp_path / "fresh")
    assert not initial.record["head"]
    for weight, expected in zip(trainer.model.head.weights, fresh.model.head.weights):
        np.testing.assert_array_equal(weight, expected)


def test_a_head_of_other_features_of_a_pair_is_new():
    model, source = (
        build_model(_pair_config(features), (5, 0), 3) for features in ("difference", "absolute")
    )
    assert initial_model._have_same_head(model, model)
    assert not initial_model._have_same_head(model, source)


def _pair_config(pair_features):
    config = with_few_operations(tiny_config(name="disan_snli"))
    config.task.pair_features = pair_features
    return config


@pytest.mark.parametrize(
    "change, error",
    [
        (
            {"encoder": {"name": "source2token"}},
            "encoder.name=additive, and the config has source2",
        ),
        ({"encoder": {"name": "additive", "units": 5}}, "encoder.units=4, and the config has 5"),
        ({"embedding": {"dim": 9}}, "embedding.dim=.*, and the config has 9"),
    ],
)
def test_what_does_not_fit_is_named(change, error, initial):
    config = _config()
    for section, values in change.items():
        config[section] = ConfigDict(
            {**(config[section] if section != "encoder" else {}), **values}
        )
    with pytest.raises(UserError, match=f"^--init_from=earlier has {error}"):
        initial.check_fits(config)


def test_the_model_is_recorded_and_another_one_refused(corpus, source, initial, tmp_path):
    config = _config().lock()
    train(from_dict(config), lambda: corpus, tmp_path, pictures=False, initial=initial)
    recorded = json.loads((tmp_path / "run.json").read_text())["init_from"]
    assert recorded["name"] == "earlier"
    assert recorded["sha256"] == source.info["sha256"][source.info["weights"]]
    check_work(WorkDirectory(tmp_path, config), initial)
    for other in (None, InitialModel("later", lambda: source)):
        with pytest.raises(UserError, match="began with earlier; give --init_from=earlier"):
            check_work(WorkDirectory(tmp_path, config), other)
    gone = InitialModel("earlier", lambda: pytest.fail("a resumed training needs no model"))
    gone.record = START  # of another member of a series
    config = _config(steps=6).lock()
    train(from_dict(config), lambda: corpus, tmp_path, pictures=False, initial=gone)
    assert json.loads((tmp_path / "run.json").read_text())["init_from"] == recorded


START = {"name": "earlier", "sha256": "0", "words": 5, "words_found": 4, "head": False}


def test_a_start_before_the_first_checkpoint_is_forgotten(corpus, source, initial, tmp_path):
    work = WorkDirectory(tmp_path, _config().lock())
    work.describe(1, 1, corpus, START)
    assert read_start(tmp_path)
    work.describe(1, 1, corpus, None)
    assert read_start(tmp_path) is None


def test_vectors_of_words_and_characters_may_begin_to_learn():
    layers = [WordCharacterEmbedding(4, 2, 3, trainable=trains) for trains in (True, False)]
    for layer in layers:
        layer(*(tf.ones(shape, tf.int32) for shape in ([1, 2], [1, 2, 5], [1, 2])))
    tables = [part for layer in layers for part in (layer.learned, layer.constant)]
    initial_model._copy(*layers, besides=tables)
    for weight, expected in zip(*(layer.spelling.get_weights() for layer in layers)):
        np.testing.assert_array_equal(weight, expected)


def test_a_training_without_a_model_refuses_one(source, initial):
    config = source.config
    with pytest.raises(UserError, match="began without --init_from; leave it out"):
        check_work(WorkDirectory(source.directory.parent, config), initial)
