r"""Tokenizers made of TensorFlow graph ops only, so that a SavedModel can hold them.

`treebank` reads raw text and follows the Penn Treebank (https://catalog.ldc.upenn.edu/docs/
LDC99T42/tokenization.html) and the escapes of its Stanford descendants, the Sentiment Treebank
among them. `kim` cleans the same tokens as Kim (2014) cleaned his sentiment corpora. `whitespace`
reads corpora that are tokenised already.

RE2, the engine of the ops, has no look-around. Three properties replace it:

- `regex_split_with_offsets` consumes its input match by match, so an alternation of token
  patterns whose matches are kept is a lexer: a pattern starts only where the last token ended.
- Within the alternation the first alternative that matches wins, as in Perl.
- What depends on the preceding character (is a quote opening?) is first written into a copy of the
  text: a control character replaces the character that it marks, so no offset moves.

Two bugs of tensorflow-text 2.15 are worked around: `regex_split_with_offsets` drops whatever
follows a NUL, and `WhitespaceTokenizer` leaves the first bytes of a multi-byte space in the
preceding token.
"""

from collections.abc import Sequence
from typing import Optional

import tensorflow as tf
import tensorflow_text

from disan_tf.common.errors import UserError
from disan_tf.text import tokenizer_rules as rules

# The newest version of each tokenizer: raise it when the tokens of any text change, and keep the
# older ones, which prepared corpora and models record. Version 2 cleans texts, see `clean`.
VERSIONS = {"whitespace": 2, "treebank": 2, "kim": 2}


# Letters that become others in Turkish or Lithuanian locales (Unicode, SpecialCasing.txt).
_BY_LOCALE = [("İ", "i\u0307"), ("Ì", "ì"), ("Í", "í"), ("Ĩ", "ĩ"), ("Į", "į")]


def _wide(strings: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the strings with characters beyond ASCII, `<string>[strings]`, and their indices."""
    is_wide = tf.strings.length(strings) != tf.strings.length(strings, "UTF8_CHAR")
    places = tf.where(is_wide)
    return tf.gather_nd(strings, places), places


def lower(strings: tf.Tensor) -> tf.Tensor:
    """Lower-cases `<string>[...]` by Unicode's rules; the only lower-casing of the project."""
    # The Unicode op depends on the locale, so ASCII and `_BY_LOCALE` come before it.
    strings = tf.strings.lower(strings)
    wide, places = _wide(strings)
    wide = tf.strings.lower(_replace(wide, _BY_LOCALE), encoding="utf-8")
    return tf.tensor_scatter_nd_update(strings, places, wide)


def lowercase(words: Sequence[str]) -> list[str]:
    """Lower-cases `words` with the ops of exported graphs, so that look-ups agree."""
    return [word.decode("utf-8") for word in lower(tf.constant(list(words), tf.string)).numpy()]


def clean(strings: tf.Tensor) -> tf.Tensor:
    """Returns texts `<string>[...]` as a person sees them, see `tokenizer_rules.clean_text`.

    Only texts with characters beyond ASCII are processed, since others need no cleaning.
    """
    strings = tf.convert_to_tensor(strings, tf.string)
    texts, places = _wide(strings)
    texts = _replace(texts, rules.DROPPED)
    normal = tensorflow_text.normalize_utf8(texts, rules.NORMAL_FORM)
    return tf.tensor_scatter_nd_update(strings, places, normal)


def split_words(tokens: tf.RaggedTensor, keep_empty: bool = False) -> tf.RaggedTensor:
    """Divides tokens before and after each hyphen, dash, slash, tilde, quote and degree sign.

    `well-known` -> `well - known`, `'s` -> `' s`, `-LRB-` -> `- LRB -`.

    Args:
      tokens: `<string>[batch, tokens]` without NUL; all tokenizers return such tokens.
      keep_empty: keeps the empty strings that the authors' split leaves between two such characters
        or beside one at an end: `'s` -> `"" ' s`.
    """
    marked = tf.strings.regex_replace(tokens.flat_values, rules.JOINTS, "\x00\\1\x00")
    pieces = tf.strings.split(marked, "\x00")
    if not keep_empty:
        pieces = tf.ragged.boolean_mask(pieces, pieces != "")
    return _join(pieces, tokens)


def _join(pieces: tf.RaggedTensor, tokens: tf.RaggedTensor) -> tf.RaggedTensor:
    """Joins the pieces of all tokens of a row, `<string>[batch, pieces]`."""
    splits = tf.gather(pieces.row_splits, tokens.row_splits)
    return tf.RaggedTensor.from_row_splits(pieces.values, splits, validate=False)


def for_raw_text(name: str, corpus: str) -> str:
    """Returns the name of the tokenizer that gives raw text the tokens of a model's corpus.

    Official corpora of `whitespace` follow the rules of a treebank, so raw text does too. The rules
    of a user's table (the corpus "table") are not known, so raw text is only split at spaces.
    """
    return "treebank" if name == "whitespace" and corpus != "table" else name


def check_version(name: str, version: int) -> int:
    """Returns a version of a tokenizer; UserError if there is no such tokenizer or version."""
    if name not in VERSIONS:
        raise UserError(f"There is no tokenizer {name!r}; choose one of {', '.join(VERSIONS)}.")
    if not 1 <= version <= VERSIONS[name]:
        raise UserError(
            f"The tokenizer {name} has no version {version}, only 1 to {VERSIONS[name]}; a newer "
            "version of disan_tf may read it."
        )
    return version


def make_tokenizer(name: str, version: Optional[int] = None) -> tensorflow_text.Tokenizer:
    """Returns the tokenizer `name`, or raises UserError.

    Since version 2, tokenizers read texts cleaned by `clean`. None is the newest version.
    """
    version = check_version(name, VERSIONS.get(name, 1) if version is None else version)
    kinds = {"treebank": TreebankTokenizer, "kim": KimTokenizer, "whitespace": WhitespaceTokenizer}
    return kinds[name]() if version == 1 else _CleaningTokenizer(kinds[name]())


def _replace(strings: tf.Tensor, table: Sequence[tuple[str, str]]) -> tf.Tensor:
    for pattern, rewrite in table:
        strings = tf.strings.regex_replace(strings, pattern, rewrite)
    return strings


def _split_clitic(
    tokens: tf.RaggedTensor, starts: tf.RaggedTensor
) -> tuple[tf.RaggedTensor, tf.RaggedTensor, tf.RaggedTensor]:
    """Splits the last clitic off each token, `I'd've` -> `I'd 've`: tokens, starts, ends."""
    pieces, begins, stops = tensorflow_text.regex_split_with_offsets(
        tokens.flat_values, rules.CLITIC, rules.CLITIC
    )
    origin = tf.repeat(starts.flat_values, pieces.row_lengths())
    splits = tf.gather(pieces.row_splits, tokens.row_splits)
    ragged = tf.RaggedTensor.from_row_splits(pieces.values, splits, validate=False)
    offsets = (ragged.with_values(origin + places.values) for places in (begins, stops))
    return (ragged, *offsets)  # they share one partition: a check of it costs an `If`


class _CleaningTokenizer(tensorflow_text.TokenizerWithOffsets):
    """Cleans texts before another tokenizer reads them; offsets count bytes of the clean text."""

    def __init__(self, tokenizer: tensorflow_text.Tokenizer):
        super().__init__()
        self._tokenizer = tokenizer

    def tokenize(self, input: tf.Tensor) -> tf.RaggedTensor:
        return self._tokenizer.tokenize(clean(input))

    def tokenize_with_offsets(
        self, input: tf.Tensor
    ) -> tuple[tf.RaggedTensor, tf.RaggedTensor, tf.RaggedTensor]:
        return self._tokenizer.tokenize_with_offsets(clean(input))


class WhitespaceTokenizer(tensorflow_text.TokenizerWithOffsets):
    """Splits text that is tokenised already at ASCII white space.

    A no-break space belongs to its token: the Sentiment Treebank has such tokens (`2\u00a01\\/2`),
    and tokens joined by spaces must come back as they were. Offsets are as in `TreebankTokenizer`.
    """

    def tokenize(self, input: tf.Tensor) -> tf.RaggedTensor:
        """Tokenises `<string>[batch]` -> `<string>[batch, tokens]`; none from blank strings."""
        return self.tokenize_with_offsets(input)[0]

    def tokenize_with_offsets(
        self, input: tf.Tensor
    ) -> tuple[tf.RaggedTensor, tf.RaggedTensor, tf.RaggedTensor]:
        """Tokenises, with `<int64>[batch, tokens]` byte offsets: starts, exclusive ends."""
        text = tf.strings.regex_replace(tf.convert_to_tensor(input), r"\x00", " ")
        return tensorflow_text.regex_split_with_offsets(text, r"[\t-\r ]+")


class TreebankTokenizer(tensorflow_text.TokenizerWithOffsets):
    r"""Splits raw text into Penn-Treebank tokens.

    Separates punctuation, quotes, clitics (`do n't`, `it 's`, `dogs '`) and `can not`; numbers,
    abbreviations, initials, hyphenated words and words with a slash stay whole. A double quote
    opens at the start of a white-space word or after an opening bracket, and closes elsewhere.

    Only the escapes change characters: brackets to `-LRB-` and so on, quotes to ``` `` '' ` ' ```,
    dashes to `--`, ellipses to `...`, slash and star to `\/` and `\*`. Bytes that are not UTF-8
    pass through. Without `escape`, a token is the slice of the text at its offsets.

    Example: `"(It isn't bad.)"` -> `-LRB- It is n't bad . -RRB-`.
    """

    def __init__(self, escape: bool = True):
        super().__init__()
        self._table = rules.ESCAPES if escape else rules.MARKS

    def tokenize(self, input: tf.Tensor) -> tf.RaggedTensor:
        """Tokenises `<string>[batch]` -> `<string>[batch, tokens]`; none from blank strings."""
        return self.tokenize_with_offsets(input)[0]

    def tokenize_with_offsets(
        self, input: tf.Tensor
    ) -> tuple[tf.RaggedTensor, tf.RaggedTensor, tf.RaggedTensor]:
        """Tokenises, with `<int64>[batch, tokens]` byte offsets: starts, exclusive ends.

        The offsets count bytes of the raw string, whether a token is escaped or not. Each distinct
        white-space word of a batch is split once: 64 texts take 2/5 of the time, 16,000 a seventh.
        """
        text = _replace(tf.convert_to_tensor(input), rules.MARKING)
        words, word_starts, _ = tensorflow_text.regex_split_with_offsets(
            text, f"[{rules.TREEBANK_SPACE}]+"
        )
        distinct, indices = tf.unique(words.flat_values, tf.int64)
        tokens, starts, _ = tensorflow_text.regex_split_with_offsets(
            distinct, "|".join(rules.TOKENS), rf"[^{rules.TREEBANK_SPACE}](?s:.*)"
        )
        tokens, starts, _ = _split_clitic(tokens, starts)
        tokens, starts, ends = _split_clitic(tokens, starts)
        escaped = tokens.with_flat_values(_replace(tokens.flat_values, self._table))
        escaped, starts, ends = (tf.gather(rows, indices) for rows in (escaped, starts, ends))
        origins = tf.repeat(word_starts.flat_values, escaped.row_lengths())
        starts, ends = (
            rows.with_flat_values(origins + rows.flat_values) for rows in (starts, ends)
        )
        return tuple(_join(rows, words) for rows in (escaped, starts, ends))


class KimTokenizer(tensorflow_text.Tokenizer):
    """Splits raw text into Penn-Treebank tokens and cleans them as Kim (2014) did for sentiment.

    Kim's code (`clean_str_sst`) writes a space in place of each character outside
    ``A-Za-z0-9(),!?'` `` and lower-cases; here the look-up lower-cases. So the tokens of a
    treebank lose periods, hyphens and accents: `A well-made film ... -LRB- 1999 -RRB-` ->
    `A well made film LRB 1999 RRB`.
    """

    def __init__(self) -> None:
        super().__init__()
        self._treebank = TreebankTokenizer()

    def tokenize(self, input: tf.Tensor) -> tf.RaggedTensor:
        """Tokenises `<string>[batch]` -> `<string>[batch, tokens]`; none where nothing is kept."""
        tokens = self._treebank.tokenize(input)
        valid = tf.strings.unicode_transcode(tokens.flat_values, "UTF-8", "UTF-8")  # for RE2
        pieces = tf.strings.split(
            tf.strings.regex_replace(valid, f"[^{rules.KIM_CHARACTERS}]", " ")
        )
        return _join(pieces, tokens)
