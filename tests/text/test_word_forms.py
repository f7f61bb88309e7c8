"""Match flags of pairs of tokenised sentences."""

import pytest
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.text import WordForms
from disan_tf.text.word_forms import read_forms

ROWS = [
    ("plays", "play", "play"),
    ("playing", "play", "playe"),
    ("mice", "mice", "mouse"),
    ("mouses", "mous", "mouses"),
    ("better", "better", "good"),
    ("été", "ét", "être"),
]


@pytest.fixture(scope="module")
def forms():
    return WordForms(ROWS)


def ragged(*lines):
    return tf.ragged.constant([line.split() for line in lines], tf.string, ragged_rank=1)


def flags(forms, first, second):
    """Of one pair."""
    return [array.numpy()[0].tolist() for array in forms.matches(ragged(first), ragged(second))]


def test_tokens_match_by_their_stem(forms):
    assert flags(forms, "she plays", "playing it") == [[0, 1], [1, 0]]


def test_tokens_match_by_their_lemma(forms):
    assert flags(forms, "better mice", "a good mouse") == [[1, 1], [0, 1, 1]]


def test_words_that_the_table_lacks_match_themselves(forms):
    assert flags(forms, "zyx . abc", "zyxs abc") == [[0, 0, 1], [0, 1]]


def test_tokens_match_their_own_pair_alone(forms):
    first, second = forms.matches(ragged("a b", "c"), ragged("c", "b c"))
    assert first.numpy().tolist() == [[0, 0], [1, 0]]
    assert second.numpy().tolist() == [[0, 0], [0, 1]]


def test_a_token_that_repeats_in_its_own_sentence_matches_nothing(forms):
    assert flags(forms, "a a", "b b") == [[0, 0], [0, 0]]


def test_padding_and_empty_tokens_match_nothing(forms):
    first = tf.ragged.constant([["", "a"], [""]])
    second = tf.ragged.constant([[""], ["", "", "b"]])
    actual = [array.numpy().tolist() for array in forms.matches(first, second)]
    assert actual == [[[0, 0], [0, 0]], [[0, 0, 0], [0, 0, 0]]]


def test_sentences_without_tokens_have_no_flags(forms):
    first, second = forms.matches(ragged("", "a"), ragged("a", ""))
    assert first.numpy().tolist() == [[0], [0]] and second.numpy().tolist() == [[0], [0]]
    assert first.dtype == second.dtype == tf.int32
    first, second = forms.matches(ragged(""), ragged(""))
    assert first.shape == second.shape == (1, 0)


def test_a_table_without_rows_is_refused():
    with pytest.raises(UserError, match="no row; prepare the corpus again"):
        WordForms([])


def test_rows_of_a_file_are_read_as_they_are(tmp_path):
    path = tmp_path / "forms.tsv"
    path.write_bytes("été\tét\têtre\na\u2028b\ta\tb\n".encode())
    assert read_forms(path) == [("été", "ét", "être"), ("a\u2028b", "a", "b")]


@pytest.mark.parametrize("line", ["mice\tmice", "a\tb\tc\td", ""])
def test_a_line_that_is_no_row_is_named(tmp_path, line):
    path = tmp_path / "forms.tsv"
    path.write_text(f"mice\tmice\tmouse\n{line}\n")
    with pytest.raises(UserError, match=r"forms\.tsv, line 2: \d columns instead of word, stem"):
        read_forms(path)


def test_a_word_that_stands_twice_is_named(tmp_path):
    path = tmp_path / "forms.tsv"
    path.write_text("a\tb\tc\nb\tb\tc\na\tx\tc\n")
    with pytest.raises(UserError, match="forms.tsv, line 3: duplicate word 'a'; prepare"):
        read_forms(path)
