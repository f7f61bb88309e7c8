"""Trainings of DRCN: characters and flags on their way from the corpus to the served model."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.runs.bundle import load_bundle, save_bundle
from disan_tf.serving.export.saved_model import export_saved_model
from disan_tf.serving.inference.batches import look_up, tokenise
from disan_tf.serving.inference.records import usual_columns
from disan_tf.training.evaluation import evaluate
from tests.support.corpora.pairs import make_feature_corpus, make_pair_corpus
from tests.support.models.bundles import PAIRS
from tests.support.runs.training import make_loop, records_of, run_loop, tiny_config

STEPS = {"steps": 4, "window": 1, "evaluate_every": 4, "checkpoint_every": 4, "log_every": 4}
WORD_LENGTH = 8


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return make_feature_corpus(tmp_path_factory.mktemp("pairs") / "corpus", WORD_LENGTH)


def _config():
    config = tiny_config(name="drcn_snli", **STEPS)
    config.encoder.update({"layers": 1, "functions": "Ca-Cs-M"})  # fewer operations
    return config


@pytest.fixture(scope="module")
def unbroken(corpus, tmp_path_factory):
    return run_loop(_config(), corpus, tmp_path_factory.mktemp("unbroken"))


@pytest.mark.slow
def test_one_copy_of_the_words_is_trained(corpus, unbroken):
    embedding = unbroken.model.embedding
    trainable = embedding.learned.trainable_words
    np.testing.assert_array_equal(embedding.constant.trained, corpus.vectors[:trainable])
    assert np.any(embedding.learned.trained.numpy() != corpus.vectors[:trainable])


@pytest.fixture(scope="module")
def bundle(corpus, tmp_path_factory):
    """A model of random weights."""
    folder = tmp_path_factory.mktemp("random")
    trainer = make_loop(_config(), corpus, folder / "run")
    save_bundle(folder / "best", trainer.model, trainer.config, corpus, {"step": 1})
    return load_bundle(folder / "best")


@pytest.fixture(scope="module")
def exported(bundle, tmp_path_factory):
    """The signatures for text, and for ids."""
    paths = export_saved_model(bundle.directory, tmp_path_factory.mktemp("export"))
    return [tf.saved_model.load(str(path)).signatures for path in paths]


def _inputs(bundle):
    records = [dict(zip(bundle.model.fields, pair)) for pair in PAIRS]
    text_to_ids = bundle.traced_text_to_ids()
    return look_up(tokenise(records, text_to_ids, usual_columns(bundle.model.fields)), text_to_ids)


@pytest.mark.slow
def test_the_best_model_is_loaded_whole(corpus, unbroken):
    bundle = load_bundle(unbroken.work.path / "best")
    report = evaluate(bundle, corpus, "dev")
    best = max(it["accuracy"] for it in records_of(unbroken, "dev"))
    assert report["accuracy"] == pytest.approx(best)
    fixed = bundle.model.embedding.constant.trained
    np.testing.assert_array_equal(fixed, unbroken.model.embedding.constant.trained)


def test_words_that_the_vocabulary_lacks_are_told_apart_by_their_characters(bundle):
    ids, _, characters, *_ = _inputs(bundle)
    unknown = ids.numpy() == 1
    assert len(np.unique(characters.numpy()[unknown], axis=0)) > 5


@pytest.mark.slow
def test_an_export_answers_raw_text_as_the_best_model(bundle, exported):
    texts = dict(zip(bundle.model.fields, map(tf.constant, zip(*PAIRS))))
    inputs = _inputs(bundle)
    expected = tf.nn.softmax(bundle.model(*inputs))
    text_model, ids_model = exported
    found = text_model["serving_default"](**texts)["probabilities"]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    names = ["premise_ids", "hypothesis_ids", *bundle.model.reads[2:]]
    found = ids_model["serving_default"](**dict(zip(names, inputs)))["probabilities"]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert "encode" not in text_model and "encode" not in ids_model


@pytest.mark.slow
def test_an_export_attends_from_each_sentence_to_the_other(bundle, exported):
    texts = dict(zip(bundle.model.fields, map(tf.constant, zip(*PAIRS))))
    found = exported[0]["attend"](**texts)
    inputs = _inputs(bundle)
    attended = bundle.model.attend(*inputs)
    assert found.keys() == {"premise_tokens", "hypothesis_tokens", *attended}
    premises, hypotheses = (found[f"{field}_tokens"].shape[1] for field in bundle.model.fields)
    assert found["hypothesis_minus_1"].shape == [len(PAIRS), hypotheses, premises]
    real = inputs[0] != 0
    for name in ("premise_cosine_1", "premise_concatenation_1"):
        expected = tf.where(real[:, :, None], attended[name][:, :, :, 0], 0.0)
        np.testing.assert_allclose(found[name], expected, atol=1e-5)


def test_a_corpus_without_word_features_is_refused(tmp_path):
    bare = make_pair_corpus(tmp_path / "corpus")
    with pytest.raises(UserError, match="word_features=True"):
        make_loop(_config(), bare, tmp_path / "run")
