"""data_prep/sentence_tokenizer.py: batches of sentences as tuples of tokens."""

import tensorflow as tf

from data_prep.sentence_tokenizer import SentenceTokenizer
from disan_tf.text import make_tokenizer, split_words


def test_sentences_keep_their_order_and_each_is_tokenised_once():
    tokenize = SentenceTokenizer("treebank")
    found = tokenize(["A cat sat.", "", "It isn't.", "A cat sat.", " \t"])
    sat, negated = ("A", "cat", "sat", "."), ("It", "is", "n't", ".")
    assert found == [sat, (), negated, sat, ()]
    assert tokenize(["Hot tea.", "It isn't."])[1] is found[2]


def test_tokens_are_divided_on_request_and_equal_ones_are_one_object():
    assert SentenceTokenizer("whitespace", True, keep_empty=True)(["x 's"]) == [("x", "", "'", "s")]
    tokenize = SentenceTokenizer("whitespace", split=True)
    assert tokenize(["x/y 's", " "]) == [("x", "/", "y", "'", "s"), ()]
    assert tokenize(["okra-soup"])[0][0] is tokenize(["hot okra-soup"])[0][1]


def test_the_tokens_of_tokenised_text_are_those_of_the_served_graph():
    odd = "-/' \t\n\x0b\x0c\r\0\x1c\x1f\x85\u00a0\u2028\u3000\u200b\u201c\U0001f600"
    texts = [f"a{one}{two}é{one} {two}b" for one in odd for two in odd] + [odd, ""]
    words = make_tokenizer("whitespace").tokenize(tf.constant(texts, tf.string))
    for split, graph in ((False, words), (True, split_words(words))):
        theirs = [tuple(word.decode() for word in row) for row in graph.to_list()]
        assert SentenceTokenizer("whitespace", split=split)(texts) == theirs
