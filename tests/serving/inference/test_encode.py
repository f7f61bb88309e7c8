"""Vectors of sentences: `--mode=encode` and `disan_tf.load`."""

import copy
import dataclasses
import io
import json
import pickle
import shutil

import numpy as np
import pytest
import tensorflow as tf

import disan_tf
from disan_tf.common.errors import UserError
from disan_tf.serving.inference.encode import DTYPES, encode, write_header
from disan_tf.serving.inference.model import LoadedModel
from tests.support.models.bundles import SENTENCES


@pytest.fixture(scope="module")
def model(quick_bundle):
    return LoadedModel(quick_bundle)


def _expected(bundle):
    """The vector of each sentence alone; a blank sentence has zeros."""
    vectors = [
        bundle.model.encode(*bundle.text_to_ids().inputs(bundle.text_to_ids().tokens([text])))
        for text in SENTENCES
    ]
    return np.concatenate([vector * bool(text.strip()) for text, vector in zip(SENTENCES, vectors)])


@pytest.mark.parametrize("batch_size", [1, 3])
def test_vectors_come_in_the_order_of_the_sentences(quick_bundle, model, batch_size):
    vectors = model.encode(SENTENCES, batch_size)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, _expected(quick_bundle), atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_file_of_vectors_has_a_row_for_each_line(quick_bundle, model, texts, tmp_path, dtype):
    count, seconds, blank, _ = encode(quick_bundle, texts, tmp_path / "v.npy", dtype=dtype)
    assert blank == 2
    vectors = np.load(tmp_path / "v.npy", allow_pickle=False)
    assert count == len(SENTENCES) == len(vectors) and seconds > 0
    np.testing.assert_array_equal(vectors, model.encode(SENTENCES).astype(dtype))


@pytest.mark.parametrize("size, dtype", zip([1, 99_999], DTYPES))
def test_the_header_of_vectors_has_room_for_any_count(size, dtype):
    lengths = set()
    for count in (0, 1, 10**15):
        file = io.BytesIO()
        write_header(size, dtype, file, count)
        lengths.add(file.tell())
    assert len(lengths) == 1


def test_json_lines_keep_what_the_input_held(quick_bundle, model, tmp_path):
    rows = [{"text": text, "vector": number} for number, text in enumerate(SENTENCES)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    encode(quick_bundle, tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    answers = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [{name: answer[name] for name in rows[0]} for answer in answers] == rows
    vectors = [answer["predicted_vector"] for answer in answers]
    np.testing.assert_allclose(vectors, model.encode(SENTENCES), rtol=1e-6)


def test_no_lines_give_no_vectors(quick_bundle, model, tmp_path):
    (tmp_path / "empty.txt").touch()
    encode(quick_bundle, tmp_path / "empty.txt", tmp_path / "v.npy")
    dim = model.encode(["a"]).shape[1]
    assert np.load(tmp_path / "v.npy").shape == model.encode([]).shape == (0, dim)
    assert model.predict([]) == []


@pytest.mark.parametrize(
    "name, message",
    [("v.txt", "must end with .npy or .jsonl"), ("old.npy", "exists already")],
)
def test_an_output_that_cannot_be_is_refused(quick_bundle, texts, tmp_path, name, message):
    (tmp_path / "old.npy").touch()
    with pytest.raises(UserError, match=message):
        encode(quick_bundle, texts, tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["old.npy"]


def test_similarities_are_cosines(model):
    first, second = SENTENCES[:3], SENTENCES[1:]
    a, b = model.encode(first), model.encode(second)
    norms = [np.linalg.norm(vectors, axis=1) for vectors in (a, b)]
    expected = a @ b.T / np.maximum(np.outer(*norms), 1e-9)
    np.testing.assert_allclose(model.similarity(first, second), expected, atol=1e-5)
    assert model.similarity(first, second)[2, 1] == pytest.approx(1, abs=1e-5)


def test_a_model_of_pairs_encodes_single_sentences(pair_bundle):
    model = LoadedModel(pair_bundle)
    assert model.encode(["a good film"]).ndim == 2
    (answer,) = model.predict([("a good film", "boring")])
    assert "probabilities" in answer
    with pytest.raises(ValueError, match="item 0 is one text"):
        model.predict(["a good film"])


def test_records_are_read_by_name_in_any_order(pair_bundle):
    model = LoadedModel(pair_bundle)
    expected = model.predict([("a good film", "boring"), ("boring", "a film")])
    first, second = model.fields
    table = {second: ["boring", "a film"], first: ["a good film", "boring"]}
    records = [dict(zip(table, row)) for row in zip(*table.values())]
    assert model.predict(records) == model.predict(table) == expected
    assert (
        model.attend(records[0])[f"{second}_tokens"]
        == model.attend(("a good film", "boring"))[f"{second}_tokens"]
        == ["boring"]
    )


@pytest.mark.parametrize("column", ["body", "tokens"])
def test_records_have_the_columns_that_the_model_was_trained_on(quick_bundle, column):
    config = quick_bundle.config.copy_and_resolve_references()
    with config.unlocked():
        config.data.corpus, config.data.text = "table", column
    model = LoadedModel(dataclasses.replace(quick_bundle, config=config))
    expected = LoadedModel(quick_bundle).predict(["a good film"])
    record = {"text": "boring", column: "a good film"}
    for given in (["a good film"], [record], {column: ["a good film"]}, [{"text": "a good film"}]):
        assert model.predict(given) == expected
    assert model.attend(record)["tokens"] == ["a", "good", "film"]


def test_every_function_reads_records(model):
    records = [{"text": text} for text in SENTENCES]
    np.testing.assert_array_equal(model.encode(records), model.encode(SENTENCES))
    (ids,), (expected,) = (model.preprocess(it).values() for it in (records, SENTENCES))
    np.testing.assert_array_equal(ids, expected)


@pytest.mark.usefixtures("eagerly")
def test_a_blank_text_has_no_label_and_a_vector_of_zeros(bundle):
    model = LoadedModel(bundle)  # whose vectors of unknown words are not zeros
    blank, words = model.predict([" ", "a good film"])
    assert blank == {"label": None, "probabilities": dict.fromkeys(model.classes), "blank": True}
    assert words["label"] in model.classes and "blank" not in words
    assert not model.encode(["", "a good film"])[0].any()
    similarities = model.similarity(["", "xyzzy"], ["xyzzy", ""])
    np.testing.assert_allclose(similarities, [[0, 0], [1, 0]], atol=1e-6)


def test_a_model_can_be_pickled_and_copied(model, monkeypatch):
    monkeypatch.setattr(model, "max_tokens", 7)
    texts, other = ["a good film", "", "boring"], copy.deepcopy(pickle.loads(pickle.dumps(model)))
    np.testing.assert_array_equal(other.encode(texts), model.encode(texts))
    assert repr(other) == repr(model) and other.max_tokens == 7


def test_a_model_whose_files_changed_is_not_pickled(quick_bundle, tmp_path):
    shutil.copytree(quick_bundle.directory, tmp_path / "model")
    model = disan_tf.load(tmp_path / "model")
    (tmp_path / "model" / "vocabulary.txt").write_text("other\n")
    with pytest.raises(UserError, match="vocabulary.txt has SHA-256"):
        pickle.dumps(model)


def test_normalised_vectors_have_the_length_1(model):
    vectors, units = model.encode(SENTENCES), model.encode(SENTENCES, normalize=True)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    assert np.abs(norms[0] - 1).max() > 0.1
    np.testing.assert_allclose(units, vectors / np.maximum(norms, 1e-9), atol=1e-6)
    one = model.encode(SENTENCES[0], normalize=True, convert_to_numpy=False)
    assert tf.is_tensor(one)
    np.testing.assert_allclose(one, units[0], atol=1e-6)
    assert model.encode([], normalize=True).shape == (0, vectors.shape[1])


def test_similarities_of_vectors_are_those_of_their_sentences(model):
    vectors, expected = model.encode(SENTENCES), model.similarity(SENTENCES, SENTENCES)
    for given in (vectors, tf.constant(vectors), vectors.astype(float)):
        np.testing.assert_allclose(model.similarity(given, SENTENCES), expected, atol=1e-6)


def test_probabilities_are_those_of_the_predictions(model):
    texts = ["a good film", "boring"]
    expected = [list(row["probabilities"].values()) for row in model.predict(texts)]
    np.testing.assert_allclose(model.predict_proba(texts), expected, atol=1e-6)
    assert np.isfinite(model.predict_proba([""])).all()
    assert model.predict_proba([]).shape == (0, len(model.classes))


def test_a_progress_bar_counts_the_sentences_on_request(model, capsys):
    model.encode(SENTENCES)
    assert capsys.readouterr().err == ""
    model.encode(SENTENCES, show_progress_bar=True)
    assert f"{len(SENTENCES)}/{len(SENTENCES)}" in capsys.readouterr().err


def test_a_wrong_batch_size_is_refused(model):
    for function in (model.encode, model.predict):
        with pytest.raises(ValueError, match="batch_size=0 must be a whole number"):
            function(["a good film"], batch_size=0)


@pytest.mark.usefixtures("eagerly")
def test_attention_that_does_not_fit_into_the_memory_is_refused(bundle, monkeypatch):
    model = LoadedModel(bundle)
    monkeypatch.setattr("disan_tf.serving.inference.attend.free_memory", lambda: 10**8)
    assert len(model.attend("good " * 150)["tokens"]) == 150
    with pytest.raises(UserError, match="has 3,000 tokens, and attention tensors of up to .* fit"):
        model.attend("good " * 3000)
