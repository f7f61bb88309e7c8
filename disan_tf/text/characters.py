"""Words as the ids of their characters, in graph ops alone: ASCII for DRCN, bytes for biLMs.

`ascii_ids` numbers the printable ASCII characters:

    0                 after the end of a word, or no word
    1                 any other character, invalid UTF-8 included
    2 to 95           "!" to "~"

`byte_ids` numbers bytes and markers as the official biLM's vocabulary does, plus 1, as its batches
do. A word is its begin marker, the bytes of its UTF-8 form, its end marker, and padding; the begin
and the end of a sentence are words of a single marker:

    0                 no word
    1 to 256          the bytes
    257, 258          the begin and the end of a sentence
    259, 260          the begin and the end of a word
    261               padding inside a word
"""

import tensorflow as tf

from disan_tf.common.errors import UserError

_OTHER, _FIRST_PRINTABLE_ID = 1, 2
_FIRST, _LAST = ord("!"), ord("~")
ASCII_CHARACTERS = _FIRST_PRINTABLE_ID + _LAST - _FIRST + 1  # ids, 0 included

_BEGIN_SENTENCE, _END_SENTENCE, _BEGIN_WORD, _END_WORD, _PADDING = range(257, 262)
BYTE_CHARACTERS = 261  # ids, 0 not included
LONGEST_WORD = 1000  # most characters of a word, or bytes and markers; official biLMs have 50


def ascii_ids(tokens: tf.Tensor, word_length: int) -> tf.Tensor:
    """Returns the ids of each token's first characters, below `ASCII_CHARACTERS`.

    Args:
      tokens: `<string>[tokens]`.
      word_length: the number of characters to keep, at least 1.

    Returns:
      `<int32>[tokens, word_length]`.

    Example: `ascii_ids(tf.constant(["ah", "é"]), 3)` -> `[[66, 73, 0], [1, 0, 0]]`.
    """
    if word_length < 1:
        raise ValueError(f"word_length={word_length}; must be at least 1")
    points = tf.strings.unicode_decode(tokens, "UTF-8", errors="replace")
    values = points.flat_values
    printable = (values >= _FIRST) & (values <= _LAST)
    ids = tf.where(printable, values + (_FIRST_PRINTABLE_ID - _FIRST), _OTHER)
    return points.with_flat_values(ids).to_tensor(0, shape=[None, word_length])


def byte_ids(tokens: tf.Tensor, word_length: int = 50) -> tf.Tensor:
    """Returns the ids of each token's bytes; long tokens are cut before the end marker.

    Args:
      tokens: `<string>[tokens]`.
      word_length: characters of a word, markers included, at least 3; the official models have 50.

    Returns:
      `<int32>[tokens, word_length]`, without 0.

    Example: `byte_ids(tf.constant(["ah"]), 6)` -> `[[259, 98, 105, 260, 261, 261]]`.
    """
    if word_length < 3:
        raise UserError(
            f"A word of {word_length} characters holds no character beside its two markers; allow "
            "3 or more."
        )
    pieces = tf.strings.bytes_split(tokens)[:, : word_length - 2]
    values = tf.reshape(tf.io.decode_raw(pieces.flat_values, tf.uint8), [-1])  # one per byte
    ids = pieces.with_flat_values(tf.cast(values, tf.int32) + 1)
    count = ids.nrows()
    begin, end = (
        tf.RaggedTensor.from_tensor(tf.fill([count, 1], tf.constant(marker)))
        for marker in (_BEGIN_WORD, _END_WORD)
    )
    return tf.concat([begin, ids, end], axis=1).to_tensor(_PADDING, shape=[None, word_length])


def sentence_markers(word_length: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns `byte_ids` of the words that begin and end a sentence, `<int32>[word_length]`."""
    padding = [_PADDING] * (word_length - 3)
    begin, end = (
        tf.constant([_BEGIN_WORD, marker, _END_WORD, *padding])
        for marker in (_BEGIN_SENTENCE, _END_SENTENCE)
    )
    return begin, end


def real_length(ids: tf.Tensor) -> tf.Tensor:
    """Returns the longest word's length, markers included, in `<int32>[words, word_length]`."""
    return tf.reduce_max(tf.reduce_sum(tf.cast((ids != _PADDING) & (ids != 0), tf.int32), axis=1))
