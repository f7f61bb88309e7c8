"""data_prep/vocabulary.py: order, look-up rule, matrix, and the authors' SST vocabulary."""

from collections import Counter

import numpy as np
import pytest

from data_prep import vocabulary as vocabularies
from data_prep.prepare import prepare
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.text.tokenizer import make_tokenizer
from disan_tf.text.tokenizer_rules import ESCAPED_SIGNS, unescape
from disan_tf.text.word_vectors import source
from tests.support.runs.training import load_config

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
    assert source(word, VECTORS) == expected


@pytest.mark.parametrize(
    "word, expected",
    [("-lrb-", "("), ("-RRB-", ")"), (r"\/", "/"), (r"Tea\/soup", "tea/soup"), (r"\*", None)],
)
def test_a_vector_is_looked_up_without_escapes_on_request(word, expected):
    vectors = {*VECTORS, "(", ")", "/", "tea/soup"}
    assert source(word, vectors) is None
    assert source(word, vectors, unescaped=True) == expected
    assert source("-lrb-", {*vectors, "-lrb-"}, unescaped=True) == "-lrb-"


def test_the_tokenizer_writes_each_escaped_sign():
    tokens = make_tokenizer("treebank").tokenize([*ESCAPED_SIGNS.values()])
    assert [token.decode() for token in tokens.flat_values.numpy()] == [*ESCAPED_SIGNS]
    assert [*map(unescape, ESCAPED_SIGNS)] == [*ESCAPED_SIGNS.values()]


@pytest.mark.parametrize("lowercase", [True, False])
def test_a_table_and_later_texts_have_the_vectors_of_plain_signs(lowercase, tmp_path):
    (tmp_path / "table.csv").write_text("text,label\n" + "a (film,good\na plot,bad\n" * 10)
    rows = [f"{word} {number} {number}\n" for number, word in enumerate("a(/", start=1)]
    (tmp_path / "vectors.txt").write_text("".join(rows))
    data = load_config("own_table").data
    data.update(vectors="vectors.txt", embedding_dim=2, fixed_words="all", lowercase=lowercase)
    found = {}
    for data.unescaped in (True, False):
        corpus = PreparedCorpus(prepare(data, tmp_path, tmp_path / "prepared"))
        found[data.unescaped] = dict(zip(corpus.vocabulary, corpus.vectors.tolist()))
    bracket = "-lrb-" if lowercase else "-LRB-"
    assert found[True][bracket] == [2, 2] and found[True][r"\/"] == [3, 3]  # no / in the table
    assert max(found[False][bracket]) <= 0.05 and r"\/" not in found[False]


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
