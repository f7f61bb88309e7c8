"""Words as the ids of their characters, in graph ops alone."""

import tensorflow as tf

AFTER_END = 0
OTHER = 1  # of characters that are not printable ASCII
FIRST_CHARACTER_ID = 2
_FIRST, _LAST = ord("!"), ord("~")
CHARACTERS = FIRST_CHARACTER_ID + _LAST - _FIRST + 1


def characters(tokens: tf.Tensor, word_length: int) -> tf.Tensor:
    """The ids of the first characters of each token.

    Id 0 stands after the end of a token, 1 for all that is not printable ASCII, invalid UTF-8
    included, and 2 to `CHARACTERS` - 1 for "!" to "~" in their order.

    Args:
      tokens: `<string>[tokens]`.
      word_length: how many characters are kept.

    Returns:
      `<int32>[tokens, word_length]`.

    Raises:
      ValueError: `word_length` is below 1.

    Example: `characters(tf.constant(["ah", "é"]), 3)` -> `[[66, 73, 0], [1, 0, 0]]`.
    """
    if word_length < 1:
        raise ValueError(f"word_length={word_length}; must be at least 1")
    points = tf.strings.unicode_decode(tokens, "UTF-8", errors="replace")
    values = points.flat_values
    printable = (values >= _FIRST) & (values <= _LAST)
    ids = tf.where(printable, values + (FIRST_CHARACTER_ID - _FIRST), OTHER)
    return points.with_flat_values(ids).to_tensor(AFTER_END, shape=[None, word_length])
