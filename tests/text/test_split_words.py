"""disan_tf.text.split_words, alone and in the look-up."""

import re

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.text import TextToIds, split_words

JOINTS = "-\u2212\u2014\u2013/~\"'\u201c\u2019\u201d\u2018\u00b0"
TOKENS = [
    "well-known",
    "'s",
    "-",
    "--",
    "-LRB-",
    "``",
    "''",
    "x/y",
    "été",
    "20\u00b0C",
    "a",
    ".",
    "",
]


def ragged(*rows):
    return tf.ragged.constant([list(row) for row in rows], ragged_rank=1, dtype=tf.string)


@pytest.mark.parametrize(
    ("token", "pieces"),
    [
        ("well-known", ["well", "-", "known"]),
        ("'s", ["'", "s"]),
        ("n't", ["n", "'", "t"]),
        ("-LRB-", ["-", "LRB", "-"]),
        ("-", ["-"]),
        ("``", ["``"]),
        ("20\u00b0C", ["20", "\u00b0", "C"]),
        ("film", ["film"]),
    ],
)
def test_a_token_is_divided_at_hyphens_quotes_and_signs(token, pieces):
    divided = split_words(ragged([token])).to_list()[0]
    assert [piece.decode() for piece in divided] == pieces


@pytest.mark.parametrize("token", [*TOKENS, *JOINTS])
def test_with_empty_strings_it_is_a_capturing_regular_expression_split(token):
    divided = split_words(ragged([token]), keep_empty=True).to_list()[0]
    assert [piece.decode() for piece in divided] == re.split(f"([{JOINTS}])", token)


def test_the_look_up_divides_the_tokens_of_raw_text():
    module = TextToIds(["n", "'", "t", "", "well"], "treebank", lowercase=True, split=True)
    np.testing.assert_array_equal(module(["Isn't well-'"]), [[1, 2, 3, 4, 6, 1, 3]])


def test_the_look_up_in_a_graph_knows_the_empty_string():
    module = TextToIds(["'", "s", "", "it"], "treebank", True, split=True, keep_empty=True)
    spec = tf.TensorSpec([None], tf.string)
    traced = tf.function(module, input_signature=[spec], autograph=False)
    np.testing.assert_array_equal(traced(tf.constant(["It's"])), [[5, 4, 2, 3]])
