"""Raw text to tokens: our own sentences, and what holds for any text."""

import os
import subprocess
import sys
import unicodedata

import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from disan_tf.common.errors import UserError
from disan_tf.text import tokenizer


def escaped(text, name="treebank"):
    tokens = tokenizer.make_tokenizer(name).tokenize(tf.constant([text]))
    return [token.decode("utf-8") for token in tokens[0].numpy()]


SENTENCES = [
    # clitics and possessives
    ("I don't, can't and WON'T.", "I do n't , ca n't and WO N'T ."),
    ("It's IT'S fine", "It 's IT 'S fine"),
    ("I'm sure they're late; we've eaten", "I 'm sure they 're late ; we 've eaten"),
    ("She'll stay, he'd go, I'd've run", "She 'll stay , he 'd go , I 'd 've run"),
    ("It’s what I don’t like", "It 's what I do n't like"),
    ("the dogs' bowl", "the dogs ' bowl"),
    ("O'Hara o'clock d'etre", "O'Hara o'clock d'etre"),
    ("We cannot. Cannot we?", "We can not . Can not we ?"),
    ("rock 'n' roll of the '80s, get 'em", "rock 'n' roll of the '80s , get 'em"),
    # numbers
    ("3.5 or 1,000 at 10:30, 2.", "3.5 or 1,000 at 10:30 , 2 ."),
    ("-5 and .5 and 1,2:3.4-5,6", "-5 and .5 and 1,2:3.4-5,6"),
    ("$10 is 20% off #1", "$ 10 is 20 % off # 1"),
    ("pre-1,000 pages", "pre-1,000 pages"),
    # periods
    ("A good film. A bad end", "A good film . A bad end"),
    ("Mr. and Mrs. Poe, Dr. Ox", "Mr. and Mrs. Poe , Dr. Ox"),
    ("J. K. Poe Jr. vs. St. Ives etc.", "J. K. Poe Jr. vs. St. Ives etc."),
    ("the U.S. and U.S.-led, e.g. a.b.com.", "the U.S. and U.S.-led , e.g. a.b.com ."),
    ("He and I. Drama. Plan b.", "He and I . Drama . Plan b ."),
    ("Well...no -- yes--maybe", "Well ... no -- yes -- maybe"),
    # words that stay whole, marks that do not
    ("a well-known and/or R&B act", r"a well-known and\/or R&B act"),
    ("5 * 3 / *so* f***ing", r"5 \* 3 \/ \* so \* f\*\*\*ing"),
    ("[a] {b} (c) <d>", "-LSB- a -RSB- -LCB- b -RCB- -LRB- c -RRB- < d >"),
    ("What?! No!!", "What ? ! No ! !"),
    ("film- -end", "film - - end"),
    # quotes
    ('"Yes," he said ("no").', "`` Yes , '' he said -LRB- `` no '' -RRB- ."),
    ("'Yes,' he said ('no').", "` Yes , ' he said -LRB- ` no ' -RRB- ."),
    ("\"'Yes' or '\"No\"'\"", "`` ` Yes ' or ` `` No '' ' ''"),
    ('"Ran"\'s ""', "`` Ran '' 's `` ''"),
    ("“Yes,” ‘no’ … – —", "`` Yes , '' ` no ' ... -- --"),
    # text that is escaped or tokenised already keeps its tokens
    ("-LRB- it 's n't `` x '' -RRB-", "-LRB- it 's n't `` x '' -RRB-"),
    (r"and\/or \/ \* \*\*", r"and\/or \/ \* \*\*"),
    ("the dogs ' bowl", "the dogs ' bowl"),
    # beyond ASCII
    ("Café naïve Ödön", "Café naïve Ödön"),
    ("great😀👍🏽 👨‍👩‍👧", "great 😀 👍🏽 👨‍👩‍👧"),
    ("a\u00a0b\u3000c\u200bd\ufeffe", "a b cde"),
    ("a\x00b\x01c\x02d\x03e\x07f\x85g", "a b c d e f g"),
    ("?!...()", "? ! ... -LRB- -RRB-"),
]


@pytest.mark.parametrize("text, expected", SENTENCES)
def test_treebank_tokens_of_a_sentence(text, expected):
    assert escaped(text) == expected.split(" ")


@pytest.mark.parametrize("text", ["", " ", "\t\n\x00"])
@pytest.mark.parametrize("name", ["treebank", "whitespace"])
def test_a_blank_string_has_no_tokens(name, text):
    assert escaped(text, name) == []


def test_offsets_count_bytes_of_the_raw_text_before_escapes():
    text = "“é” (can't)"
    tokens, starts, ends = tokenizer.TreebankTokenizer().tokenize_with_offsets([text])
    assert tokens[0].numpy().tolist() == [
        b"``",
        "é".encode(),
        b"''",
        b"-LRB-",
        b"ca",
        b"n't",
        b"-RRB-",
    ]
    assert starts[0].numpy().tolist() == [0, 3, 5, 9, 10, 12, 15]
    assert ends[0].numpy().tolist() == [3, 5, 8, 10, 12, 15, 16]


# Strings dense in what the tokenizer treats specially, beside arbitrary ones.
PIECES = st.sampled_from(
    list("aIn19.,:;!?-_/\\*&@#$%'\"`()[]{}<> \t\x00\x01\x02\x03\x85\u00a0“”‘’…—–\ufeff\u200bé😀")
    + ["n't", "'s", "'em", "cannot", "U.S.", "Mr.", "--", "...", "''", "``", "-LRB-", "etc."]
)
TEXTS = st.lists(st.one_of(st.text(), st.lists(PIECES).map("".join)), min_size=1, max_size=20)


def is_space(character):
    category = unicodedata.category(character)
    return category[0] == "Z" or category == "Cc" or character in "\u200b\ufeff"


@settings(deadline=None, max_examples=15)
@given(TEXTS)
def test_unescaped_tokens_are_the_slices_and_lose_only_white_space(texts):
    split = tokenizer.TreebankTokenizer(escape=False).tokenize_with_offsets(tf.constant(texts))
    for text, tokens, starts, ends in zip(texts, *(part.to_list() for part in split)):
        raw = text.encode("utf-8")
        assert tokens == [raw[start:end] for start, end in zip(starts, ends)]
        assert all(start < end for start, end in zip(starts, ends))
        assert all(end <= start for end, start in zip(ends, starts[1:]))
        kept = "".join(character for character in text if not is_space(character))
        assert b"".join(tokens) == kept.encode("utf-8")


@settings(deadline=None, max_examples=15)
@given(st.lists(st.binary(max_size=30), min_size=1, max_size=20))
def test_any_bytes_pass_and_keep_their_offsets(raws):
    split = tokenizer.TreebankTokenizer(escape=False).tokenize_with_offsets(raws)
    for raw, tokens, starts, ends in zip(raws, *(part.to_list() for part in split)):
        assert tokens == [raw[start:end] for start, end in zip(starts, ends)]


@pytest.mark.parametrize(
    "text, tokens",
    [
        ("A well-made film, isn't it?", "A well made film , is n't it ?"),
        ("So... (1999) 3.5 * U.S. -- naïve", "So LRB 1999 RRB 3 5 U S na ve"),
        ('"Yes," he said', "`` Yes , '' he said"),
        ("...", ""),
    ],
)
def test_kim_keeps_letters_digits_and_a_few_marks(text, tokens):
    assert escaped(text, "kim") == tokens.split()


def test_whitespace_tokens_joined_by_spaces_come_back():
    words = ["2\u00a01\\/2", "``", "it's", "déjà", "à", "...", "\u3000"]
    assert escaped(" ".join(words), "whitespace") == words
    assert escaped("\ta  b\r\nc\x00d ", "whitespace") == ["a", "b", "c", "d"]


def test_whitespace_offsets_are_bytes():
    split = tokenizer.make_tokenizer("whitespace").tokenize_with_offsets(["é  b"])
    assert [part.to_list() for part in split] == [[["é".encode(), b"b"]], [[0, 4]], [[2, 5]]]


def test_an_unknown_name_or_version_is_told_the_known_ones():
    with pytest.raises(UserError, match="'spacy'; choose one of whitespace, treebank, kim"):
        tokenizer.make_tokenizer("spacy")
    for version in (0, 3):
        with pytest.raises(UserError, match=f"treebank has no version {version}, only 1 to 2"):
            tokenizer.make_tokenizer("treebank", version)


def test_lowercase_does_not_depend_on_the_locale():
    code = "from disan_tf.text.tokenizer import lowercase; print(ascii(lowercase(%r)))"
    command = [sys.executable, "-c", code % ["İI", "ÌÍĨ", "Į\u0300"]]
    for locale in ("C.UTF-8", "tr_TR.UTF-8", "lt_LT.UTF-8"):
        environment = {**os.environ, "LC_ALL": locale, "LANG": locale}
        outcome = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert outcome.stdout == "['i\\u0307i', '\\xec\\xed\\u0129', '\\u012f\\u0300']\n"


def test_lowercase_knows_unicode_and_the_empty_list():
    assert tokenizer.lowercase(["ÉTÉ", "McX", "'S", "straße"]) == ["été", "mcx", "'s", "straße"]
    assert tokenizer.lowercase([]) == []
