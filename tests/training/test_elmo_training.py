"""Trainings of ELMo-fed models: cached or on the fly, resumed, exported."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.elmo.official_files import load_bilm
from disan_tf.models.factory import build_model
from disan_tf.runs.bundle import load_bundle
from disan_tf.serving.export.saved_model import export_saved_model
from disan_tf.training.evaluation import evaluate
from tests.support.corpora.elmo import (
    elmo_config,
    elmo_corpus,
    pair_config,
    pair_corpus,
)
from tests.support.models.bilm import weights_of
from tests.support.models.exports import Question, ask, decoded
from tests.support.runs.training import (
    corpus_of,
    make_loop,
    records_of,
    run_loop,
    tiny_config,
    with_few_operations,
)

TEXTS = ["the film is not dull .", "superb", "", "A film that nobody knows!"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return elmo_corpus(tmp_path_factory.mktemp("elmo"))


@pytest.fixture(scope="module")
def unbroken(corpus, tmp_path_factory):
    return run_loop(with_few_operations(elmo_config()), corpus, tmp_path_factory.mktemp("unbroken"))


def test_the_mix_is_trained_and_the_bilm_is_not(corpus, unbroken):
    embedding = unbroken.model.embedding
    assert np.any(embedding.mix.logits.numpy()) and float(embedding.mix.gamma) != 1.0
    weights = weights_of(embedding.bilm)
    for name, expected in weights_of(load_bilm(*corpus.bilm)).items():
        np.testing.assert_array_equal(weights[name], expected, name)


def test_the_best_model_on_the_fly_answers_as_it_did_from_the_cache(corpus, unbroken):
    bundle = load_bundle(unbroken.work.path / "best")
    report = evaluate(bundle, corpus, "dev")
    records = records_of(unbroken, "dev")
    best = max(records, key=lambda it: it["accuracy"])
    assert report["accuracy"] == pytest.approx(best["accuracy"], abs=1 / report["examples"])
    assert report["loss"] == pytest.approx(best["loss"], abs=2e-3)


def test_a_training_leaves_the_corpus_without_layers(corpus, unbroken):
    assert corpus.layers is None and corpus.split("dev").layers is None
    assert unbroken.corpus.layers is not None
    assert unbroken.model.reads == ("sentence", "sentence_layers")


def test_cached_and_live_layers_give_the_same_probabilities(corpus, unbroken):
    batch = next(iter(unbroken.batches(0)))
    live = load_bundle(unbroken.work.path / "best").model
    cached = build_model(
        unbroken.config,
        corpus.words,
        len(corpus.classes),
        bilm=live.embedding.bilm_options,
        cached=True,
    )
    cached.set_weights(live.get_weights())
    one, other = (
        tf.nn.softmax(model(*(batch[name] for name in model.reads))) for model in (cached, live)
    )
    np.testing.assert_allclose(one, other, atol=1e-3)


@pytest.mark.slow
def test_a_bilm_may_be_trained_with_the_task(corpus, tmp_path):
    before = load_bilm(*corpus.bilm).forward[0].kernel.numpy()
    config = elmo_config(steps=2, elmo={"cached": False, "trainable_bilm": True})
    after = run_loop(with_few_operations(config), corpus, tmp_path)
    bundle = load_bundle(after.work.path / "best")
    for model in (after.model, bundle.model):
        assert np.any(model.embedding.bilm.forward[0].kernel.numpy() != before)


@pytest.mark.slow
def test_it_trains_on_phrases_that_are_cut_out_of_their_sentences(tmp_path):
    config = with_few_operations(elmo_config(steps=2, elmo={"phrases": "cut"}))
    config.data.contexts = True
    trainer = make_loop(config, elmo_corpus(tmp_path, config), tmp_path / "run")
    trainer.run()
    assert np.isfinite([it["loss"] for it in records_of(trainer)]).all()
    starts = trainer.train.layers.starts["sentence"]
    assert len(set(starts.tolist())) < len(starts)  # a phrase and the sentence that begins with it


@pytest.mark.slow
def test_an_export_answers_raw_text_and_needs_nothing_else(unbroken, tmp_path):
    bundle = load_bundle(unbroken.work.path / "best")
    path, ids_path = export_saved_model(bundle.directory, tmp_path / "export")
    text_to_ids = bundle.text_to_ids()
    inputs = text_to_ids.inputs(text_to_ids.tokens(tf.constant(TEXTS)))
    expected = tf.nn.softmax(bundle.model(*inputs)).numpy()
    (tmp_path / "asked").mkdir()
    texts = {"text": np.array([text.encode() for text in TEXTS])}
    question = Question(
        path, {"many": texts}, tmp_path / "asked", ("disan_tf",), ("tensorflow_text",)
    )
    (answers,) = ask(question)
    found = answers["many", "serving_default"]
    np.testing.assert_allclose(found["probabilities"], expected, atol=1e-5)
    assert decoded(found["class"]) == [bundle.classes[row.argmax()] for row in expected]
    vectors = bundle.model.encode(*inputs).numpy()
    vectors[[not text for text in TEXTS]] = 0.0  # as every blank text's
    np.testing.assert_allclose(answers["many", "encode"]["vectors"], vectors, atol=1e-5)
    assert "attention" in answers["many", "attend"]
    signature = tf.saved_model.load(str(ids_path)).signatures["serving_default"]
    ids, characters = inputs
    np.testing.assert_allclose(
        signature(ids=ids, characters=characters)["probabilities"], expected, atol=1e-5
    )


def test_a_line_without_tokens_is_one_unknown_word_without_characters(unbroken):
    text_to_ids = load_bundle(unbroken.work.path / "best").text_to_ids()
    ids, characters = text_to_ids.inputs(text_to_ids.tokens(tf.constant(["", "two words"])))
    assert ids.numpy()[0].tolist() == [1, 0] and not np.any(characters[0])
    assert characters.shape == [2, 2, 50]
    ids, characters = text_to_ids.inputs(text_to_ids.tokens(tf.constant([""])))
    assert ids.numpy().tolist() == [[1]] and characters.shape == [1, 1, 50]


def test_a_corpus_that_was_not_prepared_for_a_bilm_is_refused(tmp_path):
    corpus = corpus_of(tiny_config(), tmp_path, {"train": 8, "dev": 6, "test": 6})
    with pytest.raises(UserError, match="--config.data.bilm"):
        make_loop(elmo_config(), corpus, tmp_path / "run")


@pytest.mark.slow
def test_a_live_training_of_pairs_is_that_from_the_cache(tmp_path):
    corpus = pair_corpus(tmp_path, pair_config())
    cached, live = (
        run_loop(
            with_few_operations(pair_config(cached=is_cached)),
            corpus,
            tmp_path / str(is_cached),
        )
        for is_cached in (True, False)
    )
    fields = "premise", "hypothesis"
    assert cached.model.reads == (*fields, *(f"{field}_layers" for field in fields))
    assert live.model.reads == (*fields, *(f"{field}_characters" for field in fields))
    for one, other in zip(records_of(live), records_of(cached)):
        assert one["loss"] == pytest.approx(other["loss"], rel=2e-3, abs=2e-3)
