"""Tokenises raw sentences exactly as the graph of a served model does."""

import re
import sys
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Optional

import numpy as np
import tensorflow as tf

from disan_tf.text import VERSIONS, make_tokenizer, split_words
from disan_tf.text.tokenizer_rules import clean_text

_WORDS = re.compile("[^\t-\r \0]+")  # words of `WhitespaceTokenizer`


class SentenceTokenizer:
    """A tokenizer for batches of sentences that tokenises every distinct sentence only once.

    Large batches are faster. If text is tokenised already, only distinct words go through
    TensorFlow, which is ten times faster. Equal tokens share one object, and so do equal sentences,
    which saves memory.

    Args:
      name: a key of `disan_tf.text.VERSIONS`.
      split: whether `disan_tf.text.split_words` divides tokens.
      keep_empty: the option of `split_words`.
      version: the version of the tokenizer; None = the newest.
    """

    def __init__(
        self,
        name: str,
        split: bool = False,
        keep_empty: bool = False,
        version: Optional[int] = None,
    ):
        self._tokenizer = make_tokenizer(name, version)
        self._cleans = (version or VERSIONS[name]) > 1
        self._is_tokenised = name == "whitespace"
        self._split = split
        self._keep_empty = keep_empty
        self._pieces: dict[str, tuple[str, ...]] = {}  # by word
        self._sentences: dict[str, tuple[str, ...]] = {}  # SNLI repeats most premises three times

    @classmethod
    def of(cls, options) -> "SentenceTokenizer":
        """Makes the tokenizer that a corpus' options name; see `data_prep.corpora.Reader`."""
        names = ("split_words", "empty_tokens", "tokenizer_version")
        given = (getattr(options, name, None) for name in names)
        return cls(options.tokenizer, *given)

    def __call__(self, sentences: Sequence[str]) -> list[tuple[str, ...]]:
        """Returns each sentence's tokens; a blank sentence has none."""
        new = [text for text in dict.fromkeys(sentences) if text not in self._sentences]
        words = self._words(new)
        self._divide(set(chain.from_iterable(words)).difference(self._pieces))
        pieces = self._pieces.__getitem__
        for text, row in zip(new, words):
            self._sentences[text] = tuple(chain.from_iterable(map(pieces, row)))
        return [self._sentences[text] for text in sentences]

    def _words(self, sentences: Sequence[str]) -> list[list[str]]:
        if self._is_tokenised:
            texts = map(clean_text, sentences) if self._cleans else sentences
            return list(map(_whitespace_words, texts))
        tokens = self._tokenizer.tokenize(tf.constant(sentences, tf.string))
        return _rows(_strings(tokens.flat_values), tokens.row_splits)

    def _divide(self, words: Iterable[str]) -> None:
        """Stores the pieces of `words`."""
        words = list(map(sys.intern, words))
        pieces = [[word] for word in words]
        if self._split:
            column = tf.reshape(tf.constant(words, tf.string), [-1, 1])
            divided = split_words(tf.RaggedTensor.from_tensor(column), self._keep_empty)
            pieces = _rows(_strings(divided.flat_values), divided.row_splits)
        self._pieces.update(zip(words, map(tuple, pieces)))


def _whitespace_words(text: str) -> list[str]:
    """Splits a sentence as `WhitespaceTokenizer` does, without TensorFlow."""
    if text.isascii() and text.isprintable():  # no white space but spaces: a fifth of the time
        return text.split()
    return _WORDS.findall(text)


def _rows(words: Sequence[str], row_splits: tf.Tensor) -> list[list[str]]:
    ends = row_splits.numpy().tolist()
    return [words[start:end] for start, end in zip(ends, ends[1:])]


def _strings(tokens: tf.Tensor) -> list[str]:
    """Decodes `<string>[tokens]`, each distinct token once."""
    distinct, numbers = tf.unique(tokens)
    words = [sys.intern(token.decode("utf-8")) for token in distinct.numpy()]
    return np.array(words, object)[numbers.numpy()].tolist()
