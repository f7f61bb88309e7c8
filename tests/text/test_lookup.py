"""Text to ids, eagerly and in a traced graph."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.text import TextToIds

WORDS = ["the", "film", "is", "n't", "-lrb-", ".", "été", "\ufffd"]


@pytest.fixture(scope="module")
def text_to_ids():
    return TextToIds(WORDS, "treebank", lowercase=True)


def test_word_k_has_id_k_plus_2_and_the_rest_is_1_with_zeros_after(text_to_ids):
    ids = text_to_ids(tf.constant(["The film ISN'T new.", "(été", "ÉTÉ"]))
    assert ids.dtype == tf.int32
    np.testing.assert_array_equal(ids, [[2, 3, 4, 5, 1, 7], [6, 8, 0, 0, 0, 0], [8, 0, 0, 0, 0, 0]])


def test_an_empty_line_is_one_unknown_token(text_to_ids):
    np.testing.assert_array_equal(text_to_ids(["", "the film", " \t"]), [[1, 0], [2, 3], [1, 0]])
    np.testing.assert_array_equal(text_to_ids([""]), [[1]])


def test_case_is_kept_in_tokens_and_in_a_cased_look_up(text_to_ids):
    assert text_to_ids.tokens(["The (FILM)"]).to_list() == [[b"The", b"-LRB-", b"FILM", b"-RRB-"]]
    cased = TextToIds(["the", "The"], "treebank", lowercase=False)
    np.testing.assert_array_equal(cased(["The the THE"]), [[3, 2, 1]])


@pytest.mark.parametrize("name", ["treebank", "whitespace"])
def test_tokens_of_invalid_utf8_are_valid_and_have_ids(name):
    module = TextToIds(WORDS, name, lowercase=True)
    tokens = module.tokens([b"the \xff film"])
    assert [token.decode("utf-8") for token in tokens[0].numpy()] == ["the", "\ufffd", "film"]
    np.testing.assert_array_equal(module([b"the \xff film"]), [[2, 9, 3]])


def test_an_empty_vocabulary_is_refused():
    with pytest.raises(UserError, match="no word"):
        TextToIds([], "treebank", lowercase=True)


def test_a_word_that_stands_twice_is_refused_with_both_lines():
    with pytest.raises(UserError, match="'b' twice, in lines 2 and 4"):
        TextToIds(["a", "b", "c", "b"], "treebank", lowercase=True)
