"""Prepared corpora: what is in the files is read, what is damaged is named."""

import json
import pickle

import numpy as np
import pytest

from disan_tf.common.errors import UserError
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.input_pipeline.corpus_format import FORMAT
from tests.support.corpora.manifests import save_array, write_manifest
from tests.support.corpora.pairs import FIELDS, SCORE_FIELDS, make_pair_corpus, make_score_corpus
from tests.support.corpora.two_examples import ARRAYS, CLASSES, GENRES, read, refusal
from tests.support.errors import user_error


def test_what_was_prepared_isread(directory):
    corpus = PreparedCorpus(directory)
    assert (corpus.classes, corpus.words) == (CLASSES, (2, 1))
    split, vectors, vocabulary = read(directory)
    assert corpus.fields == split.fields == ("sentence",)
    np.testing.assert_array_equal(split.ids["sentence"], ARRAYS["dev.sentence.ids"])
    assert split.lengths.tolist() == [3, 1]
    assert split.labels.tolist() == [2, 0]
    assert split.example_ids.tolist() == [b"dev:1", b"dev:2"]
    assert corpus.splits == ("dev",) and not corpus.scores and split.genres is None
    np.testing.assert_array_equal(vectors, ARRAYS["embeddings"])
    assert vocabulary == ["fine", "cold\u2028ish", "naïve"]


@pytest.mark.parametrize("name", [*ARRAYS, "dev.genre"])
def test_a_missing_array_is_named(name, directory):
    np.save(directory / "dev.genre.npy", GENRES)
    write_manifest(directory, CLASSES, (2, 1), sizes={"dev": 2}, GENRES=["fiction", "travel"])
    (directory / f"{name}.npy").unlink()
    message = refusal(directory)
    assert f"{directory}/{name}.npy cannot be read" in message and "--mode=prepare" in message


@pytest.mark.parametrize("kept", [0, 5, 60, -1])  # nothing, inside the header, and inside the data
def test_a_truncated_array_is_named(kept, directory):
    path = directory / "dev.sentence.ids.npy"
    path.write_bytes(path.read_bytes()[:kept])
    assert str(path) in refusal(directory)


@pytest.mark.parametrize("wrapped", [True, False])
def test_pickled_objects_are_refused(wrapped, directory):
    path = directory / "dev.example_id.npy"
    content = np.array([{"not": "numbers"}], object)
    if wrapped:
        np.save(path, content, allow_pickle=True)
    else:
        path.write_bytes(pickle.dumps(content))
    assert str(path) in refusal(directory)


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
    assert f"{directory}: the dev split's files disagree" in refusal(directory)


@pytest.mark.parametrize("content", [None, '{"classes": 3', "[]"])
def test_a_missing_or_broken_manifest_is_named(content, directory):
    path = directory / "manifest.json"
    path.unlink() if content is None else path.write_text(content)
    message = refusal(directory)
    assert str(path) in message
    assert "--mode=prepare" in message


@pytest.mark.parametrize(
    "key, value",
    [
        ("classes", 3),
        ("splits", {"dev": []}),
        ("trainable_words", "2"),
        ("genres", None),
        ("fields", []),
        ("splits", {}),
        ("classes", []),
    ],
)
def test_an_entry_of_another_type_is_named(key, value, directory):
    path = directory / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    assert refusal(directory).startswith(f"{path}: {key}")


@pytest.mark.parametrize("number", [None, 1, FORMAT + 1])
def test_a_corpus_of_another_format_is_refused(number, directory):
    write_manifest(directory, CLASSES, (2, 1), FORMAT=number)
    assert refusal(directory) == (
        f"{directory}/manifest.json has format {number}, and this version of disan_tf reads format "
        f"{FORMAT}: delete the directory and prepare the corpus again with --mode=prepare."
    )


def test_an_unknown_split_is_refused_with_the_known_ones(directory):
    with pytest.raises(UserError, match="has no split 'mismatched'; it has dev.$"):
        PreparedCorpus(directory).split("mismatched")


def test_genres_are_read_where_the_corpus_names_them(directory):
    np.save(directory / "dev.genre.npy", GENRES)
    assert read(directory)[0].genres is None
    write_manifest(directory, CLASSES, (2, 1), sizes={"dev": 2}, GENRES=["fiction", "travel"])
    assert read(directory)[0].genres.tolist() == GENRES.tolist()


def test_scores_are_read_as_they_are(tmp_path):
    corpus = make_score_corpus(tmp_path / "scores")
    split = corpus.split("dev")
    assert corpus.scores and corpus.fields == SCORE_FIELDS
    assert split.labels.dtype == np.float32
    assert split.labels.min() >= 1.0 and split.labels.max() <= 5.0


def test_one_flipped_bit_in_the_vocabulary_is_named(directory):
    path = directory / "vocabulary.txt"
    content = bytearray(path.read_bytes())
    content[content.index(b"\n")] ^= 1
    path.write_bytes(content)
    assert "vocabulary.txt changed since it was written; delete the directory" in refusal(directory)


def test_a_vocabulary_of_another_length_than_the_manifest_says_is_refused(tmp_path):
    corpus = make_pair_corpus(tmp_path / "corpus")
    path = corpus.directory / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["trainable_words"] += 1
    path.write_text(json.dumps(manifest))
    with pytest.raises(UserError, match="vocabulary.txt has"):
        PreparedCorpus(corpus.directory).vocabulary  # noqa: B018


def test_both_sentences_of_pairs_areread(tmp_path):
    corpus = make_pair_corpus(tmp_path / "pairs")
    split = corpus.split("dev")
    assert corpus.fields == split.fields == FIELDS
    assert split.field_lengths.shape == (40, 2)
    for column, field in zip(split.field_lengths.T, FIELDS):
        np.testing.assert_array_equal(column, np.diff(split.offsets[field]))
        assert split.offsets[field][-1] == len(split.ids[field])


def test_a_split_of_a_later_preparation_is_refused(directory):
    corpus = PreparedCorpus(directory)
    save_array(directory, "dev.label", ARRAYS["dev.label"][::-1])
    message = user_error(corpus.split, "dev")
    assert message.startswith(f"{directory} was prepared again, from other data, since it was ")
    assert PreparedCorpus(directory).split("dev").labels.tolist() == [0, 2]
