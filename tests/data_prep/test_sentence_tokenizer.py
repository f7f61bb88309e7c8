"""data_prep/sentence_tokenizer.py: batches of sentences as tuples of tokens."""

import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from data_prep.sentence_tokenizer import SentenceTokenizer
from disan_tf.text import make_tokenizer, split_words


def test_sentences_keep_their_order_and_repetitions():
    tokenize = SentenceTokenizer("treebank")
    assert tokenize(["A cat sat.", "", "It isn't.", "A cat sat."]) == [
        ("A", "cat", "sat", "."),
        (),
        ("It", "is", "n't", "."),
        ("A", "cat", "sat", "."),
    ]


def test_a_batch_of_blank_sentences_has_no_tokens():
    assert SentenceTokenizer("treebank", split=True)(["", " \t"]) == [(), ()]


def test_tokens_are_divided_on_request():
    assert SentenceTokenizer("whitespace", split=True)(["x/y 's"]) == [("x", "/", "y", "'", "s")]
    assert SentenceTokenizer("whitespace", True, keep_empty=True)(["x 's"]) == [("x", "", "'", "s")]


def test_equal_tokens_of_two_batches_are_one_object():
    tokenize = SentenceTokenizer("whitespace")
    assert tokenize(["okra-soup"])[0][0] is tokenize(["hot okra-soup"])[0][1]


def test_equal_sentences_of_two_batches_are_tokenised_once():
    tokenize = SentenceTokenizer("treebank")
    first = tokenize(["Okra soup."])[0]
    assert tokenize(["Hot tea.", "Okra soup."])[1] is first


ODD = "a\u00e9-/' \t\n\x0b\x0c\r\0\x1c\x1f\x85\u00a0\u2028\u3000\u200b\u201c"


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.text(st.sampled_from(ODD) | st.characters(codec="utf-8"), max_size=12), max_size=30)
)
def test_the_tokens_of_tokenised_text_are_those_of_the_served_graph(texts):
    graph = split_words(make_tokenizer("whitespace").tokenize(tf.constant(texts, tf.string)))
    theirs = [tuple(word.decode() for word in row) for row in graph.to_list()]
    assert SentenceTokenizer("whitespace", split=True)(texts) == theirs
