"""Text to word ids, in graph ops alone: preparation, prediction and export share this graph."""

from collections.abc import Sequence

import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.text.tokenizer import lower, make_tokenizer, split_words

PADDING_ID = 0
UNKNOWN_ID = 1
FIRST_WORD_ID = 2


def fill_empty_rows(rows: tf.RaggedTensor, filler) -> tf.RaggedTensor:
    """Puts one value, `filler`, into each empty row of `[batch, values]`."""
    empty = tf.cast(rows.row_lengths() == 0, rows.row_splits.dtype)
    fillers = tf.fill([tf.reduce_sum(empty)], tf.constant(filler, rows.dtype))
    return tf.concat([rows, tf.RaggedTensor.from_row_lengths(fillers, empty)], axis=1)


def _check_vocabulary(words: Sequence[str]) -> None:
    if not words:
        raise UserError("The vocabulary holds no word; prepare the corpus again.")
    seen = {}
    for line, word in enumerate(words, start=1):
        if word in seen:
            raise UserError(
                f"The vocabulary holds the word {word!r} twice, in lines {seen[word]} and {line}; "
                "prepare the corpus again."
            )
        seen[word] = line


class TextToIds(tf.Module):
    """Word ids of raw text: 0 is padding, 1 the unknown word, `words[k]` has id k + 2.

    A SavedModel that holds this module as an attribute holds the vocabulary too; the process that
    loads it needs `import tensorflow_text`.

    Args:
      words: the vocabulary, lower-cased by `tokenizer.lowercase` if `lowercase` is set.
      tokenizer: a key of `tokenizer.VERSIONS`.
      lowercase: whether tokens are looked up in lower case.
      split: whether tokens are divided by `tokenizer.split_words`.
      keep_empty: the option of `tokenizer.split_words`.

    Raises:
      UserError: `words` is empty or holds a word twice, or there is no such tokenizer.
    """

    def __init__(
        self,
        words: Sequence[str],
        tokenizer: str,
        lowercase: bool,
        split: bool = False,
        keep_empty: bool = False,
    ):
        super().__init__()
        _check_vocabulary(words)
        self._tokenizer = make_tokenizer(tokenizer)
        self._lowercase = lowercase
        self._split = split
        self._keep_empty = keep_empty
        keys = tf.constant(list(words), tf.string)
        ids = tf.range(FIRST_WORD_ID, FIRST_WORD_ID + len(words), dtype=tf.int32)
        self._table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(keys, ids), default_value=UNKNOWN_ID
        )

    def tokens(self, strings: tf.Tensor) -> tf.RaggedTensor:
        """Tokenises `<string>[batch]` -> `<string>[batch, tokens]`: escaped, case kept, UTF-8."""
        tokens = self._tokenizer.tokenize(strings)
        if self._split:
            tokens = split_words(tokens, self._keep_empty)
        valid = tf.strings.unicode_transcode(tokens.flat_values, "UTF-8", "UTF-8", errors="replace")
        return tokens.with_flat_values(valid)

    def from_tokens(self, tokens: tf.RaggedTensor) -> tf.Tensor:
        """Looks up `<string>[batch, tokens]` -> `<int32>[batch, length]`, see `__call__`."""
        words = tokens.flat_values
        ids = self._table.lookup(lower(words) if self._lowercase else words)
        return fill_empty_rows(tokens.with_flat_values(ids), UNKNOWN_ID).to_tensor(PADDING_ID)

    def inputs(self, *tokens: tf.RaggedTensor) -> list[tf.Tensor]:
        """Returns the model's inputs: the ids of each field, in the order of the arguments."""
        return [self.from_tokens(field) for field in tokens]

    def __call__(self, strings: tf.Tensor) -> tf.Tensor:
        """Looks up `<string>[batch]` -> `<int32>[batch, length]`, zero-padded to the longest line.

        A line without tokens is one unknown word, so that every line has a prediction.
        """
        return self.from_tokens(self.tokens(strings))
