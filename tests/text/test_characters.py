"""disan_tf/text/characters.py: words as the ids of their ASCII characters, or of their bytes."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.text.characters import (
    ASCII_CHARACTERS,
    ascii_ids,
    byte_ids,
    real_length,
    sentence_markers,
)
from tests.support.models.bilm import official_ids


def of_ascii(*tokens, word_length=3):
    return ascii_ids(tf.constant(tokens, tf.string), word_length).numpy().tolist()


def test_printable_ascii_has_ids_from_2_in_its_order():
    printable = "".join(map(chr, range(ord("!"), ord("~") + 1)))
    assert of_ascii(printable, word_length=94) == [list(range(2, ASCII_CHARACTERS))]


def test_words_are_cut_or_filled_with_0_on_the_right_and_keep_their_case():
    ids = of_ascii("a", "abc", "Abcdef", "")
    assert ids == [[66, 0, 0], [66, 67, 68], [34, 67, 68], [0, 0, 0]]


@pytest.mark.parametrize("token", ["é", "\u65e5", "\U0001f600", " ", "\t", "\x00", "\x7f", b"\xff"])
def test_any_other_character_is_1(token):
    assert of_ascii(token) == [[1, 0, 0]]


@pytest.mark.parametrize("token", [b"\xc3", b"a\xe2\x82", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80"])
def test_invalid_utf8_is_1_and_never_raises(token):
    (ids,) = of_ascii(token, word_length=8)
    assert set(ids) <= {0, 1, 66} and 1 in ids


def test_words_without_length_are_refused():
    with pytest.raises(ValueError, match="word_length=0; must be at least 1"):
        ascii_ids(tf.constant(["a"]), 0)


# Bytes

WORDS = ["a", "word", "", "naïve", "日本", "x" * 47, "x" * 48, "x" * 49, "é" * 30]


def test_ids_are_bytes_between_markers_with_padding_after():
    ids = byte_ids(tf.constant(["ah"]), 6)
    np.testing.assert_array_equal(ids, [[259, 98, 105, 260, 261, 261]])


@pytest.mark.parametrize("word_length", [3, 10, 50])
def test_every_word_has_the_ids_of_the_official_vocabulary(word_length):
    expected = [official_ids(word, word_length) for word in WORDS]
    np.testing.assert_array_equal(byte_ids(tf.constant(WORDS), word_length), expected)


def test_the_real_length_counts_markers_and_no_padding():
    assert real_length(byte_ids(tf.constant(["a", "four"]))) == 6
    assert real_length(tf.zeros([2, 50], tf.int32)) == 0


def test_a_word_without_room_for_a_character_is_refused():
    with pytest.raises(UserError, match="2 characters"):
        byte_ids(tf.constant(["a"]), 2)


def test_sentences_begin_and_end_with_words_of_one_marker():
    begin, end = sentence_markers(50)
    np.testing.assert_array_equal([begin, end], [official_ids(256), official_ids(257)])
