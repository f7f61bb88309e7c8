"""text/tokenizer_rules.py: Python's `re` gives the tokens of the graph's operations."""

import random
import sys

import pytest
import tensorflow as tf

from disan_tf.serving.export.client import tokenize
from disan_tf.text.lookup import TextToIds
from disan_tf.text.tokenizer_rules import python_steps

_SIGNS = "abcABCisn 019 .,'\"`\u2018\u2019\u201c\u201d-\u2014/*&@#%()[]{}<>:;!?\u2026$\u20ac\xb0^~"
_MARKS = "\xad\u0301\u0327\u200e\u2060\u0928\u094d\u0646"
_OTHERS = "\xa0\u200b\u2028\xe9\xdf\u0130\u03a3\u65e5\u2603\U0001f600\u200d\ufe0f\x01\x02\x03\t\n"
_PIECES = [
    "'t\u0131l ",
    "'s",
    "n't",
    "cannot",
    "Mr.",
    "U.S.",
    "rock 'n' roll",
    "-LRB-",
    "``",
    "''",
    " 1,000.5 ",
]


def _tokens_in_graph(texts, name="treebank", split=False, keep=False, version=2):
    rows = TextToIds(["a"], name, False, split, keep, version).tokens(texts).to_list()
    return [[token.decode() for token in row] for row in rows]


def _tokens_of_client(texts, name="treebank", split=False, keep=False, version=2):
    steps = python_steps(name, split, keep, version)
    return [tokenize(text, steps) for text in texts]


def _texts(count):
    generator = random.Random(1)
    pieces = [*_SIGNS, *_SIGNS, *_MARKS, *_OTHERS, *_PIECES]
    return ["".join(generator.choices(pieces, k=generator.randint(0, 20))) for _ in range(count)]


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    "name, split, keep",
    [
        ("treebank", False, False),
        ("treebank", True, True),
        ("kim", True, False),
        ("whitespace", False, False),
    ],
)
def test_random_texts_have_the_same_tokens(name, split, keep, version):
    texts, rules = _texts(500), (name, split, keep, version)
    both = zip(texts, _tokens_in_graph(texts, *rules), _tokens_of_client(texts, *rules))
    for text, in_graph, of_client in both:
        assert of_client == in_graph, text


def test_spaces_and_symbols_of_any_version_of_unicode_have_the_same_tokens():
    points = [*range(0xD800), *range(0xE000, sys.maxunicode + 1)]
    is_symbol = tf.strings.regex_full_match([*map(chr, points)], r"[\p{Z}\p{S}]").numpy()
    chosen = [n for n, symbol in zip(points, is_symbol) if symbol or n % 251 == 0]
    texts = [f"a{chr(n)}b" for n in chosen]
    pairs = zip(chosen, _tokens_in_graph(texts), _tokens_of_client(texts))
    assert len(texts) > 10_000 and [hex(n) for n, graph, client in pairs if graph != client] == []


@pytest.mark.parametrize(
    "text, tokens",
    [
        ("I love it\U0001fa77", ["I", "love", "it", "\U0001fa77"]),  # assigned by Unicode 15
        ("It'\u017f", ["It", "'\u017f"]),  # the long s is an s
        ("Smith v\u017f. 'ti\u017f", ["Smith", "v\u017f.", "`", "ti\u017f"]),
        ("T\u0131ll 't\u0131s", ["T\u0131ll", "`", "t\u0131s"]),  # the dotless i is no i
    ],
)
def test_characters_beyond_ascii_are_read_as_by_re2(text, tokens):
    assert _tokens_in_graph([text]) == _tokens_of_client([text]) == [tokens]
