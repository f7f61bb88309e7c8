"""Word vectors of a released model."""

from pathlib import Path

import numpy as np
import pytest

import disan_tf
from data_prep.manifest import describe_counts
from data_prep.prepare import prepare
from disan_tf.common.errors import UserError
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.runs.bundle import load_bundle, write_bundle
from disan_tf.runs.weight_files import PRECISIONS
from disan_tf.text import word_vectors
from disan_tf.text.lookup import VOCABULARY
from tests.support.models.bundles import make_bundle
from tests.support.runs.training import load_config

NOWHERE = Path("nowhere")


@pytest.fixture
def corpus(tmp_path):
    rows = ["text,label", *["the qwertyuiop film,good", "the film qwertyuiop zzzz,bad"] * 10]
    (tmp_path / "table.csv").write_text("\n".join(rows))
    config = load_config("own_table")
    config.data.vectors, config.embedding.dim = "preset:demo", 64
    return PreparedCorpus(prepare(config.data, tmp_path, tmp_path / "prepared"))


def test_a_corpus_starts_with_the_vectors_of_a_released_model(corpus):
    model = disan_tf.load("demo")
    inputs = model.preprocess(["film"])["sentence"]
    expected = model.embedding(inputs)[0, 0]
    row = corpus.vocabulary.index("film")
    np.testing.assert_array_equal(corpus.vectors[row], expected)
    assert np.abs(corpus.vectors[corpus.vocabulary.index("qwertyuiop")]).max() <= 0.05


def test_all_words_of_the_model_are_kept_for_new_texts(corpus):
    assert "superb" in corpus.vocabulary
    assert sum(corpus.words) == 65 + len(["qwertyuiop", "zzzz"])


def test_the_most_frequent_words_without_a_vector_are_listed(corpus):
    text = describe_counts(corpus.manifest)
    assert "without a vector: 42.9% of the training tokens; first qwertyuiop (16), zzzz (8)" in text


def test_an_unknown_model_and_another_dimension_are_refused():
    with pytest.raises(UserError, match="vectors=preset:x names no released model; choose demo, "):
        word_vectors.find(NOWHERE, "preset:x")
    path = word_vectors.find(NOWHERE, "preset:demo")
    with pytest.raises(UserError, match="preset:demo has vectors of dimension 64, but the config"):
        word_vectors.check_dimension(path, 100)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_vectors_are_those_with_which_the_model_computes(precision, tmp_path):
    bundle = load_bundle(make_bundle(tmp_path))
    words = {VOCABULARY: (bundle.directory / VOCABULARY).read_bytes()}
    write_bundle(tmp_path / "again", bundle.model, bundle.info, words, precision)
    vectors = word_vectors.read_preset(tmp_path / "again" / "model.json")
    embedding = load_bundle(tmp_path / "again").model.embedding
    assert [*vectors] == bundle.vocabulary and vectors["the"].dtype == np.float32
    np.testing.assert_array_equal(
        np.array([*vectors.values()]), np.concatenate([embedding.trained, embedding.fixed])
    )


def test_a_damaged_model_is_refused(tmp_path, monkeypatch):
    folder = tmp_path / "demo"
    folder.mkdir()
    for file in word_vectors.find_preset("preset:demo").parent.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    monkeypatch.setattr(word_vectors, "CHECKPOINTS", tmp_path)
    (folder / "vocabulary.txt").write_text("film\n")
    with pytest.raises(UserError, match="vocabulary.txt is missing or damaged; restore"):
        word_vectors.read_preset(word_vectors.find_preset("preset:demo"))
