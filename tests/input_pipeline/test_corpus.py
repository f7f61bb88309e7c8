"""Prepared corpora: what is in the files is read, what is damaged is named."""

import json
import os
import pickle

import numpy as np
import pytest

from disan_tf.errors import UserError
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.input_pipeline.format import FORMAT
from tests.support.manifests import save_array, write_manifest
from tests.support.pairs import FIELDS, SCORE_FIELDS, make_pair_corpus, make_score_corpus

CLASSES = ["bad", "fair", "good"]
GENRES = np.array([b"fiction", b"travel"])
ARRAYS = {
    "embeddings": np.arange(6, dtype=np.float32).reshape(3, 2),
    "dev.sentence.ids": np.array([2, 3, 4, 2], np.int32),
    "dev.sentence.offsets": np.array([0, 3, 4], np.int64),
    "dev.label": np.array([2, 0], np.int32),
    "dev.example_id": np.array([b"dev:1", b"dev:2"]),
}


@pytest.fixture
def directory(tmp_path):
    (tmp_path / "vocabulary.txt").write_text("fine\ncold\u2028ish\nnaïve\n", encoding="utf-8")
    for name, array in ARRAYS.items():
        np.save(tmp_path / f"{name}.npy", array)
    write_manifest(tmp_path, CLASSES, (2, 1), sizes={"dev": 2})
    return tmp_path


def _read(directory):
    corpus = PreparedCorpus(directory)
    return corpus.split("dev"), corpus.vectors, corpus.vocabulary


def test_what_was_prepared_is_read(directory):
    corpus = PreparedCorpus(directory)
    assert (corpus.classes, corpus.words) == (CLASSES, (2, 1))
    split, vectors, vocabulary = _read(directory)
    assert corpus.fields == split.fields == ("sentence",)
    np.testing.assert_array_equal(split.ids["sentence"], ARRAYS["dev.sentence.ids"])
    assert split.lengths.tolist() == [3, 1]
    assert split.labels.tolist() == [2, 0]
    assert split.example_ids.tolist() == [b"dev:1", b"dev:2"]
    assert corpus.splits == ("dev",) and not corpus.scores and split.genres is None
    np.testing.assert_array_equal(vectors, ARRAYS["embeddings"])
    assert vocabulary == ["fine", "cold\u2028ish", "naïve"]


def test_arrays_stay_on_the_disk(directory):
    split, vectors, _ = _read(directory)
    assert all(isinstance(array, np.memmap) for array in (*split.ids.values(), vectors))
    assert isinstance(split.offsets["sentence"], np.memmap)


def _refusal(directory):
    with pytest.raises(UserError) as refusal:
        _read(directory)
    message = str(refusal.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("name", [*ARRAYS, "dev.genre"])
def test_a_missing_array_is_named(name, directory):
    np.save(directory / "dev.genre.npy", GENRES)
    write_manifest(directory, CLASSES, (2, 1), sizes={"dev": 2}, GENRES=["fiction", "travel"])
    (directory / f"{name}.npy").unlink()
    message = _refusal(directory)
    assert f"{directory}/{name}.npy cannot be read" in message and "--mode=prepare" in message


@pytest.mark.parametrize("kept", [0, 5, 60, -1])  # nothing, inside the header, and inside the data
def test_a_truncated_array_is_named(kept, directory):
    path = directory / "dev.sentence.ids.npy"
    path.write_bytes(path.read_bytes()[:kept])
    assert str(path) in _refusal(directory)


@pytest.mark.parametrize("wrapped", [True, False])
def test_pickled_objects_are_refused(wrapped, directory):
    path = directory / "dev.example_id.npy"
    content = np.array([{"not": "numbers"}], object)
    if wrapped:
        np.save(path, content, allow_pickle=True)
    else:
        path.write_bytes(pickle.dumps(content))
    assert str(path) in _refusal(directory)


@pytest.mark.parametrize(
    "name, array",
    [
        ("dev.sentence.offsets", np.array([0, 3, 5])),  # beyond the ids
        ("dev.sentence.offsets", np.array([0, 3])),  # one example fewer
        ("dev.sentence.offsets", np.array([0, 1, 3, 4])),  # one more
        ("dev.sentence.offsets", np.zeros(0, np.int64)),
        ("dev.sentence.ids", np.array([2, 3, 4], np.int32)),
        ("dev.label", np.array([2], np.int32)),
        ("dev.label", np.array([2, 0, 1], np.int32)),
        ("dev.example_id", np.array([b"dev:1"])),
    ],
)
def test_files_that_disagree_are_refused(name, array, directory):
    save_array(directory, name, array)
    assert f"{directory}: the dev split's files disagree" in _refusal(directory)


@pytest.mark.parametrize(
    "name, array, reason",
    [
        ("dev.sentence.ids", [2, 3, 10**6, 2], "holds numbers from 2 to 1000000, not 1 to 4"),
        ("dev.sentence.ids", [2, 0, 4, 2], "holds numbers from 0 to 4, not 1 to 4"),
        ("dev.sentence.ids", [2, -3, 4, 2], "holds numbers from -3 to 4, not 1 to 4"),
        ("dev.label", [77, 0], "holds numbers from 0 to 77, not 0 to 2"),
        ("dev.label", [2, -1], "holds numbers from -1 to 2, not 0 to 2"),
        ("dev.sentence.offsets", [0, 4, 4], "does not increase by at least 1 at each step"),
        ("dev.sentence.offsets", [0, 5, 4], "does not increase by at least 1 at each step"),
        ("dev.sentence.offsets", [1, 3, 4], "does not begin at 0 and end at 4"),
    ],
)
def test_numbers_out_of_range_are_refused(name, array, reason, directory):
    save_array(directory, name, np.array(array, ARRAYS[name].dtype))
    assert _refusal(directory) == (
        f"{directory}: {name}.npy {reason}; delete the directory and prepare the corpus again with "
        "--mode=prepare."
    )


@pytest.mark.parametrize("score", [0.5, 5.5, np.nan, np.inf])
def test_scores_out_of_range_are_refused(score, tmp_path):
    corpus = make_score_corpus(tmp_path / "scores")
    labels = np.array(corpus.split("dev").labels)
    labels[3] = score
    save_array(corpus.directory, "dev.label", labels)
    with pytest.raises(UserError, match=r"dev.label.npy holds numbers from .*, not 1.0 to 5.0"):
        PreparedCorpus(corpus.directory).split("dev")


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_vectors_that_are_not_finite_are_refused(number, directory):
    save_array(directory, "embeddings", np.array([[0, 1], [number, 2], [3, 4]], np.float32))
    assert "embeddings.npy does not hold finite vectors of 3 words" in _refusal(directory)


def test_genres_that_the_corpus_does_not_name_are_refused(directory):
    np.save(directory / "dev.genre.npy", np.array([b"fiction", b"trav\xff"]))
    write_manifest(directory, CLASSES, (2, 1), sizes={"dev": 2}, GENRES=["fiction", "travel"])
    assert "dev.genre.npy holds genres beside fiction, travel" in _refusal(directory)


@pytest.mark.parametrize(
    "name, array",
    [
        ("dev.sentence.ids", ARRAYS["dev.sentence.ids"].astype(np.int64)),
        ("dev.sentence.ids", ARRAYS["dev.sentence.ids"][::-1].reshape(2, 2)),
        ("embeddings", ARRAYS["embeddings"].astype(np.float64)),
        ("embeddings", ARRAYS["embeddings"].T),
        ("dev.label", np.array([2], np.int32)),
    ],
)
def test_an_array_that_is_not_the_recorded_one_is_refused(name, array, directory):
    np.save(directory / f"{name}.npy", array)
    message = _refusal(directory)
    assert f"{directory}/{name}.npy cannot be read (it holds <" in message
    assert "which is not what was recorded" in message


@pytest.mark.parametrize("name", ["dev.sentence.ids", "dev.label", "embeddings"])
def test_an_array_of_another_kind_is_refused_though_it_is_recorded(name, directory):
    save_array(directory, name, ARRAYS[name].astype(np.float64))
    assert "it holds <f8>" in _refusal(directory)


def test_an_array_that_was_not_recorded_is_refused(directory):
    manifest = json.loads((directory / "manifest.json").read_text())
    for files in ({}, {"dev.label.npy": 3}, [], None):
        (directory / "manifest.json").write_text(json.dumps({**manifest, "files": files}))
        assert "(the manifest does not record it)" in _refusal(directory)


def _flip(content, position):
    return content[:position] + bytes([content[position] ^ 0x55]) + content[position + 1 :]


def test_each_flipped_byte_of_a_header_is_refused_or_harmless(directory):
    path = directory / "dev.sentence.ids.npy"
    whole, expected = path.read_bytes(), ARRAYS["dev.sentence.ids"].tolist()
    for position in range(len(whole) - 4 * len(expected)):
        path.write_bytes(_flip(whole, position))
        try:
            split = PreparedCorpus(directory).split("dev")
        except UserError as error:
            assert str(error).startswith(f"{path} cannot be read (") and "\n" not in str(error)
        else:
            assert split.ids["sentence"].tolist() == expected


def test_a_header_that_claims_a_terabyte_allocates_nothing(directory):
    path = directory / "dev.sentence.ids.npy"
    path.write_bytes(path.read_bytes().replace(b"(4,), }".ljust(20), b"(40000000000000,), }"))
    assert f"{path} cannot be read (it is cut off or too long for <i4>[4000" in _refusal(directory)


def test_a_folder_or_a_pipe_in_place_of_an_array_is_refused(directory):
    path = directory / "dev.label.npy"
    for make in (path.mkdir, lambda: os.mkfifo(path)):
        path.rmdir() if path.is_dir() else path.unlink()
        make()
        assert f"{path} cannot be read (it is not a file)" in _refusal(directory)


def test_a_vocabulary_of_another_size_is_refused(directory):
    path = directory / "vocabulary.txt"
    path.write_text(path.read_text() + "more\n")
    assert f"{path} has " in _refusal(directory)


@pytest.mark.parametrize("content", [None, '{"classes": 3', "[]"])
def test_a_missing_or_broken_manifest_is_named(content, directory):
    path = directory / "manifest.json"
    path.unlink() if content is None else path.write_text(content)
    message = _refusal(directory)
    assert str(path) in message
    assert "--mode=prepare" in message


@pytest.mark.parametrize("number", [None, 1, FORMAT + 1])
def test_a_corpus_of_another_format_is_refused(number, directory):
    write_manifest(directory, CLASSES, (2, 1), FORMAT=number)
    assert _refusal(directory) == (
        f"{directory}/manifest.json has format {number}, and this version of disan_tf reads format "
        f"{FORMAT}: delete the directory and prepare the corpus again with --mode=prepare."
    )


def test_an_unknown_split_is_refused_with_the_known_ones(directory):
    with pytest.raises(UserError, match="has no split 'mismatched'; it has dev.$"):
        PreparedCorpus(directory).split("mismatched")


def test_genres_are_read_where_the_corpus_names_them(directory):
    np.save(directory / "dev.genre.npy", GENRES)
    assert _read(directory)[0].genres is None
    write_manifest(directory, CLASSES, (2, 1), sizes={"dev": 2}, GENRES=["fiction", "travel"])
    assert _read(directory)[0].genres.tolist() == GENRES.tolist()


def test_too_few_genres_are_refused(directory):
    np.save(directory / "dev.genre.npy", GENRES[:1])
    write_manifest(directory, CLASSES, (2, 1), sizes={"dev": 2}, GENRES=["fiction"])
    assert f"{directory}: the dev split's files disagree" in _refusal(directory)


def test_scores_are_read_as_they_are(tmp_path):
    corpus = make_score_corpus(tmp_path / "scores")
    split = corpus.split("dev")
    assert corpus.scores and corpus.fields == SCORE_FIELDS
    assert split.labels.dtype == np.float32
    assert split.labels.min() >= 1.0 and split.labels.max() <= 5.0


def test_a_missing_vocabulary_is_named(directory):
    path = directory / "vocabulary.txt"
    path.unlink()
    assert str(path) in _refusal(directory)


def test_both_sentences_of_pairs_are_read(tmp_path):
    corpus = make_pair_corpus(tmp_path / "pairs")
    split = corpus.split("dev")
    assert corpus.fields == split.fields == FIELDS
    assert split.field_lengths.shape == (40, 2)
    for column, field in zip(split.field_lengths.T, FIELDS):
        np.testing.assert_array_equal(column, np.diff(split.offsets[field]))
        assert split.offsets[field][-1] == len(split.ids[field])


def test_the_longer_sentence_is_the_length_of_a_pair(tmp_path):
    split = make_pair_corpus(tmp_path / "pairs").split("dev")
    np.testing.assert_array_equal(split.lengths, np.maximum(*split.field_lengths.T))


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_whose_files_disagree_is_refused(field, tmp_path):
    folder = make_pair_corpus(tmp_path / "pairs").directory
    name = f"dev.{field}.offsets"
    save_array(folder, name, np.load(folder / f"{name}.npy")[:-1])
    with pytest.raises(UserError, match="the dev split's files disagree"):
        PreparedCorpus(folder).split("dev")
