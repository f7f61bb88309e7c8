"""The compiled look-up gives what the plain one gives, with one trace for all batches."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.text import TextToIds, TextToPairFeatures, TracedTextToIds, WordForms

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
        tokens, ragged = traced.tokens(batch), plain.tokens(tf.constant(batch, tf.string))
        assert tokens == [[token.decode() for token in text] for text in ragged.to_list()]
        pair = (tokens, tokens[::-1]), (ragged, ragged[::-1])
        for fields in (1, 2):
            ours, theirs = (it[:fields] for it in pair)
            for actual, expected in zip(traced.inputs(*ours), plain.inputs(*theirs)):
                np.testing.assert_array_equal(actual, expected)
    for function in (traced.split, *traced.look_up.values()):
        assert function.experimental_get_tracing_count() == 1
