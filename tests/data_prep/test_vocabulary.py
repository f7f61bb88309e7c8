"""data_prep/vocabulary.py: order, look-up rule, matrix, and the authors' SST vocabulary."""

from collections import Counter

import numpy as np
import pytest

from data_prep import vocabulary as vocabularies
from disan_tf.text.lookup import UNKNOWN_ID
from tests.support.golden.official import golden_json

VECTORS = {
    word: np.float32([number, -number])
    for number, word in enumerate(["tea", "Tea", "soup", "Paris", "rice", "HBO"], start=1)
}


def test_training_words_come_first_in_order_of_appearance_then_fixed_words():
    training = ["soup", "gruel", "soup", "tea"]
    vocabulary = vocabularies.build(training, ["rice", "tea", "millet", "paris"], VECTORS)
    assert vocabulary.words == ("soup", "gruel", "tea", "rice", "paris")
    assert vocabulary.trainable == 3 and vocabulary.training_words_found() == 2
    assert vocabulary.ids() == {"soup": 2, "gruel": 3, "tea": 4, "rice": 5, "paris": 6}
    assert vocabulary.coverage(Counter(training)) == 0.75


@pytest.mark.parametrize(
    "word, expected",
    [
        ("Tea", "Tea"),
        ("tea", "tea"),
        ("SOUP", "soup"),
        ("TEA", "tea"),
        ("paris", "Paris"),
        ("hbo", None),
    ],
)
def test_a_vector_is_looked_up_exactly_then_lower_cased_then_capitalised(word, expected):
    assert vocabularies.source(word, VECTORS) == expected


@pytest.mark.parametrize("dim", [2, 5])
def test_the_matrix_holds_vectors_perhaps_padded_and_draws_the_rest(dim):
    vocabulary = vocabularies.build(["paris", "gruel", "tea"], ["rice"], VECTORS)
    matrix = vocabularies.embeddings(vocabulary, VECTORS, dim, "uniform", seed=1)
    assert matrix.dtype == np.float32
    np.testing.assert_array_equal(matrix[[0, 2, 3], :2], [[4, -4], [1, -1], [5, -5]])
    padding = matrix[[0, 2, 3], 2:]
    assert np.all(np.abs(padding) <= 0.05) and len(np.unique(padding)) == 3 * (dim - 2)
    expected = np.random.default_rng(1).uniform(-0.05, 0.05, [1, dim])  # the seed's first numbers
    np.testing.assert_array_equal(matrix[1:2], np.float32(expected))


@pytest.mark.parametrize("oov, deviation", [("uniform", 0.05 / np.sqrt(3)), ("normal", 1.0)])
def test_words_without_a_vector_follow_the_asked_distribution(oov, deviation):
    vocabulary = vocabularies.build([f"w{number}" for number in range(500)], [], {})
    matrix = vocabularies.embeddings(vocabulary, {}, 50, oov, seed=3)
    assert np.std(matrix) == pytest.approx(deviation, rel=0.02)
    assert abs(np.mean(matrix)) < 0.03 * deviation
    assert (np.abs(matrix).max() <= 0.05) == (oov == "uniform")


def test_extra_words_are_fixed_and_prefer_their_own_spellings():
    extra = {"tea": "TEA", "hbo": "HBO", "soup": "soup", "paris": "PARIS"}
    vectors = {**VECTORS, "TEA": np.float32([9, 9]), "PARIS": np.float32([8, 8])}
    vocabulary = vocabularies.build(["soup"], [], vectors, extra)
    assert vocabulary.words == ("soup", "tea", "hbo", "paris")
    assert vocabulary.trainable == 1
    assert vocabulary.sources == ("soup", "tea", "HBO", "Paris")


@pytest.fixture(scope="module")
def golden():
    return golden_json("sst_data")


@pytest.fixture(scope="module")
def authors_vocabulary(golden):
    """Our vocabulary of the authors' toy data, keeping the whole vector file as they do."""
    training = [word.lower() for node in golden["train_all_nodes"] for word in node["tokens"]]
    extra = {}
    for word in golden["glove"]:
        extra.setdefault(word.lower(), word)
    return vocabularies.build(training, [], golden["glove"], extra)


def test_trainable_and_fixed_words_equal_the_authors(golden, authors_vocabulary):
    words, trainable = authors_vocabulary.words, authors_vocabulary.trainable
    assert sorted(words[:trainable]) == golden["token_vocab_trainable_sorted"]
    assert sorted(words[trainable:]) == golden["glove_fixed_vocab_sorted"]


def test_the_same_tokens_are_unknown_as_in_the_authors_ids(golden, authors_vocabulary):
    ids = authors_vocabulary.ids()
    for node in golden["train_all_nodes"] + golden["dev"] + golden["test"]:
        ours = [ids.get(word.lower(), UNKNOWN_ID) for word in node["tokens"]]
        assert [number == 1 for number in ours] == [number == 1 for number in node["ids"]]


def test_rows_equal_the_authors_where_one_spelling_has_a_vector(golden, authors_vocabulary):
    """Of several spellings they keep the last one of the file, we the exact one."""
    vectors = {word: np.float32(vector) for word, vector in golden["glove"].items()}
    dim = len(next(iter(vectors.values())))
    matrix = vocabularies.embeddings(authors_vocabulary, vectors, dim, "normal", seed=0)
    lowered = [word.lower() for word in vectors]
    compared = 0
    for row, word in zip(matrix, authors_vocabulary.words[: authors_vocabulary.trainable]):
        if lowered.count(word) == 1:
            np.testing.assert_array_equal(row, np.float32(golden["emb_rows"][word]))
            compared += 1
        elif word in vectors:
            np.testing.assert_array_equal(row, vectors[word])
    assert compared
