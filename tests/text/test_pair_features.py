"""Ids, characters and match flags of pairs of raw sentences."""

import pytest
import tensorflow as tf

from disan_tf.text import TextToPairFeatures, WordForms

WORDS = ["a", "dog", "plays", "."]
ROWS = [("plays", "play", "play"), ("playing", "play", "playe"), ("dogs", "dog", "dog")]
FIRST = ["A dog plays.", "", "Zyx \xa0 dogs"]
SECOND = ["Playing", "a", "A dog is a dog"]


@pytest.fixture(scope="module")
def text():
    forms = WordForms(ROWS)
    return TextToPairFeatures(WORDS, "treebank", lowercase=True, forms=forms, word_length=3)


def inputs(text, first, second):
    return text.inputs(
        *(text.tokens(tf.convert_to_tensor(array, tf.string)) for array in (first, second))
    )


def test_characters_and_flags_stand_beside_the_ids(text):
    actual = inputs(text, FIRST, SECOND)
    assert all(array.dtype == tf.int32 for array in actual)
    for ids, characters, match in (actual[0::2], actual[1::2]):
        assert characters.shape == (*ids.shape, 3) and match.shape == ids.shape
    assert actual[4].numpy().tolist() == [[0, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0]]
    assert actual[5].numpy().tolist() == [[1, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 1, 0, 0, 1]]


def test_unknown_words_have_characters_in_their_case_and_match(text):
    ids, _, characters, _, match, _ = inputs(text, ["Zyx"], ["zyx"])
    assert ids.numpy().tolist() == [[1]] and match.numpy().tolist() == [[1]]
    assert characters.numpy().tolist() == [[[59, 90, 89]]]


def test_a_line_without_tokens_is_one_word_without_characters_that_matches_nothing(text):
    for lines in ([""], ["", " \t"]):
        shape = [len(lines), 1]
        first, second, *features = inputs(text, lines, lines)
        assert first.numpy().tolist() == second.numpy().tolist() == [[1]] * len(lines)
        assert [array.shape.as_list() for array in features] == [[*shape, 3]] * 2 + [shape] * 2
        assert not any(array.numpy().any() for array in features)


def test_invalid_utf8_has_characters_of_its_replacement(text):
    _, _, characters, _, match, _ = inputs(text, [b"\xff"], [b"\xfe"])
    assert characters.numpy().tolist() == [[[1, 0, 0]]] and match.numpy().tolist() == [[1]]
