"""data_prep/sentence_tokenizer.py: batches of sentences as tuples of tokens."""

from data_prep.sentence_tokenizer import SentenceTokenizer


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
