"""Words as the ids of their bytes, as the official biLM reads them, in graph ops alone.

A word is its begin marker, the bytes of its UTF-8 form, its end marker, and padding; the begin and
the end of a sentence are words of one marker each. The official vocabulary numbers bytes from 0;
here, as in its batches, every id is greater by one, so that 0 stands where there is no word.
"""

import tensorflow as tf

from disan_tf.errors import UserError

CHARACTERS = 261  # ids 1 to 261
_BEGIN_SENTENCE, _END_SENTENCE, _BEGIN_WORD, _END_WORD, _PADDING = range(257, 262)


def character_ids(tokens: tf.Tensor, word_length: int = 50) -> tf.Tensor:
    """The ids of each token's bytes; those of long tokens are cut off before the end marker.

    Args:
      tokens: `<string>[tokens]`.
      word_length: characters of a word, markers included; the official models have 50.

    Returns:
      `<int32>[tokens, word_length]`, without 0.

    Raises:
      UserError: `word_length` is below 3.

    Example: `character_ids(tf.constant(["ah"]), 6)` -> `[[259, 98, 105, 260, 261, 261]]`.
    """
    if word_length < 3:
        raise UserError(f"A word of {word_length} characters has no room beside its two markers.")
    pieces = tf.strings.bytes_split(tokens)[:, : word_length - 2]
    values = tf.reshape(tf.io.decode_raw(pieces.flat_values, tf.uint8), [-1])  # a byte each
    ids = pieces.with_flat_values(tf.cast(values, tf.int32) + 1)
    count = ids.nrows()
    begin, end = (
        tf.RaggedTensor.from_tensor(tf.fill([count, 1], tf.constant(marker)))
        for marker in (_BEGIN_WORD, _END_WORD)
    )
    return tf.concat([begin, ids, end], axis=1).to_tensor(_PADDING, shape=[None, word_length])


def sentence_markers(word_length: int) -> tuple[tf.Tensor, tf.Tensor]:
    """The words that begin and end a sentence, `<int32>[word_length]` each."""
    begin, end = (
        tf.pad(
            tf.constant([_BEGIN_WORD, marker, _END_WORD]),
            [[0, word_length - 3]],
            constant_values=_PADDING,
        )
        for marker in (_BEGIN_SENTENCE, _END_SENTENCE)
    )
    return begin, end


def real_length(ids: tf.Tensor) -> tf.Tensor:
    """The most characters, markers included, that a word of `<int32>[words, word_length]` has."""
    return tf.reduce_max(tf.reduce_sum(tf.cast((ids != _PADDING) & (ids != 0), tf.int32), axis=1))
