"""Stems and lemmas of words, and flags for tokens that share them in a pair, in graph ops."""

from collections.abc import Mapping, Sequence

import tensorflow as tf

from disan_tf.common.atomic import write_atomically
from disan_tf.common.errors import UserError
from disan_tf.common.files import read_lines
from disan_tf.common.paths import PathLike
from disan_tf.text.tokenizer import lower

WORD_FORMS = "forms.tsv"  # in prepared corpora and bundles


def write_forms(path: PathLike, forms: Mapping[str, tuple[str, str]]) -> None:
    """Writes a line for each word: the word, its stem and its lemma, with tabs between them."""
    lines = (f"{word}\t{stem}\t{lemma}\n" for word, (stem, lemma) in forms.items())
    write_atomically(path, "".join(lines))


def read_forms(path: PathLike) -> list[tuple[str, str, str]]:
    """Reads the rows that `write_forms` wrote, or raises UserError: word, stem and lemma."""
    rows: dict[str, tuple[str, str, str]] = {}
    for number, line in read_lines(path, gzipped=False):
        word, *forms = line.split("\t")
        problem = f"duplicate word {word!r}" if word in rows else ""
        if len(forms) != 2:
            problem = f"{1 + len(forms)} columns instead of word, stem and lemma"
        if problem:
            raise UserError(
                f"{path}, line {number}: {problem}; prepare the corpus again or restore the file."
            )
        rows[word] = word, forms[0], forms[1]
    return list(rows.values())


class WordForms(tf.Module):
    """The match flag of DRCN (Sec. 3.2.2): a stem or a lemma that the other sentence has too.

    Tokens are compared in lower case. A SavedModel that holds this module as an attribute holds its
    tables.

    Args:
      rows: word, stem and lemma, in lower case, without repetitions, at least one; other words are
        their own stems and lemmas.

    Example:
      >>> forms = WordForms([("dogs", "dog", "dog"), ("mice", "mice", "mouse")])
      >>> first = tf.ragged.constant([["Dogs", "chase", "mice"], ["no"]])
      >>> second = tf.ragged.constant([["a", "mouse"], ["No", "dog"]])
      >>> [flags.numpy().tolist() for flags in forms.matches(first, second)]
      [[[0, 0, 1], [1, 0, 0]], [[0, 1], [1, 0]]]
    """

    def __init__(self, rows: Sequence[tuple[str, str, str]]):
        super().__init__()
        if not rows:
            raise UserError("The table of word forms has no row; prepare the corpus again.")
        words, stems, lemmas = zip(*rows)
        initializers = (
            tf.lookup.KeyValueTensorInitializer(
                tf.constant(words, tf.string), tf.constant(forms, tf.string)
            )
            for forms in (stems, lemmas)
        )
        self._tables = [tf.lookup.StaticHashTable(it, default_value="") for it in initializers]

    def matches(
        self, first: tf.RaggedTensor, second: tf.RaggedTensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Flags the tokens that match.

        Args:
          first, second: `<string>[batch, tokens]`.

        Returns:
          Two `<int32>[batch, length]`: 1 where the other sentence has a token with the same stem
          or lemma, else 0. An empty token matches none.
        """
        words = lower(tf.concat([first.flat_values, second.flat_values], 0))
        pairs = tf.concat([first.value_rowids(), second.value_rowids()], 0)
        is_first = tf.range(tf.size(words)) < tf.size(first.flat_values)
        shared = tf.zeros_like(words, tf.bool)
        for table in self._tables:
            forms = table.lookup(words)
            forms = tf.where(forms == "", words, forms)
            shared |= _is_shared(forms, tf.cast(pairs, tf.int64), is_first)
        flags = tf.cast(shared & (words != ""), tf.int32)
        return (
            first.with_flat_values(flags[: tf.size(first.flat_values)]).to_tensor(0),
            second.with_flat_values(flags[tf.size(first.flat_values) :]).to_tensor(0),
        )


def _is_shared(forms: tf.Tensor, pairs: tf.Tensor, is_first: tf.Tensor) -> tf.Tensor:
    """Returns whether both sentences of a token's pair have its form, `<bool>[tokens]`.

    The number `pairs` <int64>[tokens] of a token's pair and its form make one number, so that the
    cost is linear in the number of tokens. `is_first` tells whether a token is in the first
    sentence.
    """
    distinct, numbers = tf.unique(forms, tf.int64)
    keys, places = tf.unique(pairs * tf.size(distinct, tf.int64) + numbers)
    sides = [
        tf.math.unsorted_segment_max(tf.cast(side, tf.int32), places, tf.size(keys))
        for side in (is_first, ~is_first)
    ]
    return tf.gather(sides[0] + sides[1] == 2, places)
