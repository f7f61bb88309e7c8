"""text/tokenizer_rules.py: Python's `re` gives the tokens of the graph's operations."""

import random

import pytest

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
    texts, steps = _texts(500), python_steps(name, split, keep, version)
    rows = TextToIds(["a"], name, False, split, keep, version).tokens(texts).to_list()
    for text, row in zip(texts, rows):
        assert tokenize(text, steps) == [token.decode() for token in row], text
