"""The compiled look-up gives what the plain one gives, with one trace for all batches."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.text import (
    TextToCharacters,
    TextToIds,
    TextToPairFeatures,
    TracedTextToIds,
    WordForms,
)
from disan_tf.text.tokenizer import make_tokenizer

WORDS = ["a", "dog", "plays", "."]
BATCHES = [["A dog plays."], [], ["", "Zyx \xa0 (dogs)", "a dog isn't a dog ."], ["plays"] * 5]


@pytest.fixture(params=["ids", "pair features"])
def plain(request):
    if request.param == "ids":
        return TextToIds(WORDS, "treebank", lowercase=True)
    forms = WordForms([("dogs", "dog", "dog")])
    return TextToPairFeatures(WORDS, "treebank", lowercase=True, forms=forms, word_length=3)


def test_it_equals_the_plain_look_up_with_one_trace(plain):
    traced = TracedTextToIds(plain)
    for batch in BATCHES:
        strings = tf.constant(batch, tf.string)
        tokens, ragged = traced.tokens(batch), plain.tokens(strings)
        expected = make_tokenizer("treebank").tokenize(strings).to_list()
        assert tokens == [[token.decode() for token in text] for text in expected]
        pair = (tokens, tokens[::-1]), (ragged, ragged[::-1])
        for fields in (1, 2):
            ours, theirs = (it[:fields] for it in pair)
            for actual, expected in zip(traced.inputs(*ours), plain.inputs(*theirs)):
                np.testing.assert_array_equal(actual, expected)
    for function in traced.look_up.values():
        assert function.experimental_get_tracing_count() == 1
    text = tf.TensorSpec([None], tf.string)
    graph = tf.function(plain.tokens, autograph=False).get_concrete_function(text).graph
    assert len(graph.get_operations()) < 10  # it calls the graph that all look-ups share


def test_one_empty_token_is_no_token():
    for plain in (
        TextToIds(["", "a"], "whitespace", lowercase=True),
        TextToCharacters(["a"], "whitespace", lowercase=True, word_length=5),
    ):
        strings = tf.constant(["", "a"])
        expected = plain.inputs(plain.tokens(strings))
        for actual, wanted in zip(TracedTextToIds(plain).inputs([[""], ["a"]]), expected):
            np.testing.assert_array_equal(actual, wanted)
