"""Words as character ids."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.errors import UserError
from disan_tf.text.character_ids import character_ids, real_length, sentence_markers
from tests.support.small_bilm import official_ids

WORDS = ["a", "word", "", "naïve", "日本", "x" * 47, "x" * 48, "x" * 49, "é" * 30]


def test_ids_are_bytes_between_markers_with_padding_after():
    ids = character_ids(tf.constant(["ah"]), 6)
    np.testing.assert_array_equal(ids, [[259, 98, 105, 260, 261, 261]])


@pytest.mark.parametrize("word_length", [3, 10, 50])
def test_every_word_has_the_ids_of_the_official_vocabulary(word_length):
    expected = [official_ids(word, word_length) for word in WORDS]
    np.testing.assert_array_equal(character_ids(tf.constant(WORDS), word_length), expected)


def test_no_word_gives_no_row():
    assert character_ids(tf.constant([], tf.string)).shape == [0, 50]


def test_sentences_begin_and_end_with_words_of_one_marker():
    begin, end = sentence_markers(50)
    np.testing.assert_array_equal([begin, end], [official_ids(256), official_ids(257)])


def test_the_real_length_counts_markers_and_no_padding():
    assert real_length(character_ids(tf.constant(["a", "four"]))) == 6
    assert real_length(tf.zeros([2, 50], tf.int32)) == 0


def test_a_word_without_room_for_a_character_is_refused():
    with pytest.raises(UserError, match="2 characters"):
        character_ids(tf.constant(["a"]), 2)
