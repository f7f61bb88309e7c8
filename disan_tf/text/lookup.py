"""Text to word ids and other inputs of models, in graph ops that exports share."""

import functools
from collections.abc import Sequence
from typing import Any, Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.text.characters import ascii_ids, byte_ids
from disan_tf.text.tokenizer import VERSIONS, lower, make_tokenizer, split_words
from disan_tf.text.word_forms import WordForms

PADDING_ID = 0
UNKNOWN_ID = 1
FIRST_WORD_ID = 2
VOCABULARY = "vocabulary.txt"  # line k, from 0, is the word of id FIRST_WORD_ID + k
_FLAT = [tf.TensorSpec([None], tf.string), tf.TensorSpec([None], tf.int64)]  # values, row splits


def fill_empty_rows(rows: tf.RaggedTensor, filler: Any) -> tf.RaggedTensor:
    """Puts one value, `filler`, into each empty row of `[batch, values]`."""
    empty = tf.cast(rows.row_lengths() == 0, rows.row_splits.dtype)
    fillers = tf.fill([tf.reduce_sum(empty)], tf.constant(filler, rows.dtype))
    return tf.concat([rows, tf.RaggedTensor.from_row_lengths(fillers, empty)], axis=1)


@functools.cache
def _graph_of(tokenizer: str, split: bool, keep_empty: bool, version: int) -> Any:
    """Returns the `tf.function` of `TextToIds.tokens`: <string>[batch] -> tokens, row splits.

    A process traces it once for each combination of options, for all vocabularies and exports.
    """
    splitter = make_tokenizer(tokenizer, version)

    def tokenize(strings: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        tokens = splitter.tokenize(strings)
        if split:
            tokens = split_words(tokens, keep_empty)
        valid = tf.strings.unicode_transcode(tokens.flat_values, "UTF-8", "UTF-8", errors="replace")
        return valid, tokens.row_splits

    return tf.function(tokenize, input_signature=_FLAT[:1], autograph=False)


class TextToIds(tf.Module):
    """Word ids of raw text: 0 is padding, 1 the unknown word, `words[k]` has id k + 2.

    A SavedModel that holds this module as an attribute holds the vocabulary too; the process that
    loads it needs `import tensorflow_text`. Wrong arguments are UserErrors.

    Args:
      words: the distinct words, lower-cased by `tokenizer.lowercase` if `lowercase` is set.
      tokenizer: a key of `tokenizer.VERSIONS`.
      lowercase: whether tokens are looked up in lower case.
      split, keep_empty: whether `tokenizer.split_words` divides tokens, and its option.
      version: the version of the tokenizer; None = the newest.

    Attributes:
      tokenizer: the arguments `tokenizer`, `split`, `keep_empty` and `version`.
    """

    def __init__(
        self,
        words: Sequence[str],
        tokenizer: str,
        lowercase: bool,
        split: bool = False,
        keep_empty: bool = False,
        version: Optional[int] = None,
    ) -> None:
        super().__init__()
        if not words:
            raise UserError("The vocabulary contains no word; prepare the corpus again.")
        seen: dict[str, int] = {}
        for line, word in enumerate(words, start=1):
            if (first := seen.setdefault(word, line)) < line:
                raise UserError(
                    f"The vocabulary holds the word {word!r} twice, in lines {first} and {line}; "
                    "prepare the corpus again."
                )
        version = VERSIONS.get(tokenizer, 1) if version is None else version
        self.tokenizer = (tokenizer, split, keep_empty, version)
        _graph_of(*self.tokenizer)  # created before threads run
        self._lowercase = lowercase
        keys = tf.constant(list(words), tf.string)
        ids = tf.range(FIRST_WORD_ID, FIRST_WORD_ID + len(words), dtype=tf.int32)
        self._table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(keys, ids), default_value=UNKNOWN_ID
        )

    def tokens(self, strings: tf.Tensor) -> tf.RaggedTensor:
        """Tokenises `<string>[batch]` -> `<string>[batch, tokens]`: escaped, case kept, UTF-8."""
        with tf.init_scope():  # so that the graph captures no tensor of the caller
            graph = _graph_of(*self.tokenizer).get_concrete_function()
        flat, splits = graph(tf.convert_to_tensor(strings, tf.string))
        return tf.RaggedTensor.from_row_splits(flat, splits, validate=False)

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


class TextToCharacters(TextToIds):
    """The inputs of biLM-fed models: word ids and the ids of the words' bytes.

    `word_length`: see `byte_ids`; for other arguments and errors see `TextToIds`.
    """

    def __init__(self, *arguments: Any, word_length: int, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._word_length = word_length

    def inputs(self, *tokens: tf.RaggedTensor) -> list[tf.Tensor]:
        """Returns the model's inputs for tokenised sentences, `<string>[batch, tokens]` each.

        Characters keep their case. A line without tokens is one unknown word without characters.
        The ids of each field, `<int32>[batch, length]`, come before the characters of each field,
        `<int32>[batch, length, word_length]`, 0 after the end of a sentence.
        """
        ids, characters = super().inputs(*tokens), []
        for sentences, padded in zip(tokens, ids):
            spelling = byte_ids(sentences.flat_values, self._word_length)
            shape = [*tf.unstack(tf.shape(padded, tf.int64)), self._word_length]
            characters.append(sentences.with_flat_values(spelling).to_tensor(0, shape=shape))
        return [*ids, *characters]


class TextToPairFeatures(TextToIds):
    """The inputs of pair models that need more than word ids (DRCN Sec. 3.1.1 and 3.2.2).

    `forms` are the stems and lemmas; the first `word_length` characters of a word are kept. For
    other arguments and errors see `TextToIds`.
    """

    def __init__(self, *arguments: Any, forms: WordForms, word_length: int, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._forms = forms
        self._word_length = word_length

    def inputs(self, *tokens: tf.RaggedTensor) -> list[tf.Tensor]:
        """Returns the model's inputs for tokenised pairs, `<string>[batch, tokens]` each.

        Words that the vocabulary lacks have characters and flags too. A line without tokens is one
        unknown word without characters that matches nothing. Single sentences match nothing.

        Returns:
          [ids of first, ids of second, characters of first, characters of second, match of first,
          match of second]: ids and match `<int32>[batch, length]`, characters
          `<int32>[batch, length, word_length]`, 0 after the end of a sentence.
        """
        ids = super().inputs(*tokens)
        filled = [fill_empty_rows(sentences, "") for sentences in tokens]
        spellings = [
            sentences.with_flat_values(ascii_ids(sentences.flat_values, self._word_length))
            for sentences in filled
        ]
        matches = self._forms.matches(*filled) if len(filled) == 2 else map(tf.zeros_like, ids)
        return [*ids, *(spelling.to_tensor(0) for spelling in spellings), *matches]


class TracedTextToIds:
    """A `TextToIds` for lists of Python, traced once for all batch sizes and lengths.

    Values and row splits go in as plain tensors: TensorFlow 2.15 keeps 1.3 kB for each ragged
    tensor that is made of row lengths outside a graph.
    """

    def __init__(self, text_to_ids: TextToIds) -> None:
        def look_up(*flat: tf.Tensor) -> list[tf.Tensor]:
            ragged = tf.RaggedTensor.from_row_splits
            pairs = zip(flat[::2], flat[1::2])
            return text_to_ids.inputs(*(ragged(*pair, validate=False) for pair in pairs))

        self._text_to_ids = text_to_ids
        self.look_up = {
            fields: tf.function(look_up, input_signature=_FLAT * fields, autograph=False)
            for fields in (1, 2)
        }

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """Returns the tokens of each text."""
        ragged = self._text_to_ids.tokens(texts)
        words = [token.decode() for token in ragged.flat_values.numpy().tolist()]
        splits = ragged.row_splits.numpy()
        return [words[start:end] for start, end in zip(splits, splits[1:])]

    def inputs(self, *sentences: Sequence[Sequence[str]]) -> Sequence[tf.Tensor]:
        """Returns a model's inputs for the tokens of each field; see `TextToIds.inputs`.

        A sentence of one empty token counts as one without tokens.
        """
        flat = []  # the tokens <string>[tokens], where sentences begin <int64>[sentences + 1]
        for field in sentences:
            field = [() if len(tokens) == 1 and not tokens[0] else tokens for tokens in field]
            flat.append(tf.constant([token for tokens in field for token in tokens], tf.string))
            flat.append(tf.constant(np.cumsum([0, *map(len, field)], dtype=np.int64)))
        return self.look_up[len(sentences)](*flat)
