"""Texts are read as a person sees them: the same in Python, in the graph and in the client."""

import time
import unicodedata

import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from data_prep.sentence_tokenizer import SentenceTokenizer
from disan_tf.serving.export.client import tokenize
from disan_tf.text import TextToIds
from disan_tf.text.tokenizer import clean
from disan_tf.text.tokenizer_rules import clean_text, python_steps

INVISIBLE = (
    "\u00ad\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064"
    "\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff"
)
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"  # three emoji with joiners
PERSIAN = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"  # "I want", with a non-joiner
HINDI = "\u0915\u094d\u200d\u0937"  # a joiner keeps two consonants apart
GREEK = "\u03b1\u200d\u03b2"

SEEN = [
    *(pytest.param(f"su{mark}perb", "superb", id=f"U+{ord(mark):04X}") for mark in INVISIBLE),
    *((f"{mark}superb{mark}", "superb") for mark in "\u200c\u200d\u200e\ufeff"),
    ("caf\u0065\u0301", "caf\u00e9"),
    ("cafe\u200e\u0301", "caf\u00e9"),  # the mark separates a letter and its accent
    ("e\u200d\u0301 \u0301", "\u00e9 \u0301"),
    ("A\u0301\u200c\u200d!", "\u00c1!"),
    ("\u212b\u200dm", "\u00c5m"),  # the sign of the angstrom is a letter
    ("\u1e9b\u0323", "\u1e9b\u0323"),
    ("\u2764\ufe0f", "\u2764"),
    ("1\ufe0f\u20e3", "1\u20e3"),
    (FAMILY, FAMILY),
    (f"a\u200d{FAMILY}", f"a{FAMILY}"),
    (PERSIAN, PERSIAN),
    (HINDI, HINDI),
    (GREEK, GREEK),
    ("\u1100\u1161", "\uac00"),
    ("plain text\tand\x00more ", "plain text\tand\x00more "),
    ("\u200e\ufeff", ""),
]


@pytest.mark.parametrize("text, seen", SEEN)
def test_a_text_is_read_as_a_person_sees_it(text, seen):
    assert clean_text(text) == seen
    assert clean(tf.constant([text, "x"])).numpy().tolist() == [seen.encode(), b"x"]


def test_the_time_is_linear_in_a_run_of_joiners():
    text = "\u200c\u200d" * 100_000
    start = time.process_time()
    assert clean_text(f"{text}!{text}a") == f"{text}!a"
    assert time.process_time() - start < 5  # quadratic time would be minutes


def test_bytes_that_are_no_unicode_pass():
    assert clean(tf.constant([b"\xff\xc3\xa9", b"\x80a"])).numpy().tolist() == [
        b"\xff\xc3\xa9",
        b"\x80a",
    ]


# Letters of several scripts, composed and decomposed, beside what is dropped or kept near them.
PIECES = st.sampled_from(
    [*INVISIBLE, *"\u200c\u200d", *"aIn't.,\"( \t\u00e9\u00c5\u0301\u0327\u030a\u0323\u1e69\uff21"]
    + [*"\u0645\u06cc\u064e\u0915\u094d\u03b1\u0451\u0e01\u4e2d\uac00\u1100", FAMILY, PERSIAN]
    + [HINDI, "\U0001f44d\U0001f3fd", "\u2764\ufe0f", "1\ufe0f\u20e3", "superb", "cannot", "n't"]
)
TEXTS = st.lists(st.lists(PIECES).map("".join), min_size=1, max_size=20)


@settings(deadline=None, max_examples=40)
@given(TEXTS)
def test_the_graph_reads_what_python_reads(texts):
    found = clean(tf.constant(texts, tf.string)).numpy()
    assert [text.decode() for text in found] == [clean_text(text) for text in texts]


@settings(deadline=None, max_examples=40)
@given(st.lists(PIECES).map("".join))
def test_composed_and_decomposed_texts_are_read_alike(text):
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert clean_text(composed) == clean_text(decomposed)
    assert not {*INVISIBLE} & {*clean_text(text)}


@settings(deadline=None, max_examples=15)
@pytest.mark.parametrize("name", ["whitespace", "treebank", "kim"])
@given(texts=TEXTS)
def test_preparation_prediction_and_the_client_have_the_same_tokens(name, texts):
    prepared = SentenceTokenizer(name)(texts)
    steps = python_steps(name, False, False, 2)
    rows = TextToIds(["a"], name, False).tokens(texts).to_list()
    for text, theirs, row in zip(texts, prepared, rows):
        assert list(theirs) == tokenize(text, steps) == [token.decode() for token in row]


def test_version_1_reads_texts_as_they_are():
    text = "su\u200eperb cafe\u0301"
    for version, tokens in ((1, ["su\u200eperb", "cafe\u0301"]), (2, ["superb", "caf\u00e9"])):
        row = TextToIds(["a"], "treebank", True, version=version).tokens([text]).to_list()[0]
        assert [token.decode() for token in row] == tokens
        assert tokenize(text, python_steps("treebank", False, False, version)) == tokens
        assert SentenceTokenizer("whitespace", version=version)([text]) == [tuple(tokens)]
