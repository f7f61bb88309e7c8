"""Characters of words as ids."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.text.spelling import CHARACTERS, characters


def ids(*tokens, word_length=3):
    return characters(tf.constant(tokens, tf.string), word_length).numpy().tolist()


def test_printable_ascii_has_ids_from_2_in_its_order():
    printable = "".join(map(chr, range(ord("!"), ord("~") + 1)))
    assert ids(printable, word_length=94) == [list(range(2, CHARACTERS))]


def test_words_are_cut_or_filled_with_0_at_the_right():
    assert ids("a", "abc", "abcdef", "") == [[66, 0, 0], [66, 67, 68], [66, 67, 68], [0, 0, 0]]


def test_case_is_kept():
    assert ids("Aa") == [[34, 66, 0]]


@pytest.mark.parametrize("token", ["é", "\u65e5", "\U0001f600", " ", "\t", "\x00", "\x7f", b"\xff"])
def test_any_other_character_is_1(token):
    assert ids(token) == [[1, 0, 0]]


@pytest.mark.parametrize("token", [b"\xc3", b"a\xe2\x82", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80"])
def test_invalid_utf8_is_1_and_never_raises(token):
    (found,) = ids(token, word_length=8)
    assert set(found) <= {0, 1, 66} and 1 in found


def test_no_tokens_have_no_rows():
    found = characters(tf.constant([], tf.string), 4)
    assert found.shape == (0, 4) and found.dtype == tf.int32


def test_a_graph_knows_the_length_of_words():
    traced = tf.function(characters).get_concrete_function(tf.TensorSpec([None], tf.string), 4)
    assert traced.output_shapes.as_list() == [None, 4]
    np.testing.assert_array_equal(traced(tf.constant(["a~"])), [[66, 95, 0, 0]])


def test_words_without_length_are_refused():
    with pytest.raises(ValueError, match="word_length=0; must be at least 1"):
        characters(tf.constant(["a"]), 0)
