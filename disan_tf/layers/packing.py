"""Sequences without the tokens that were not selected."""

import tensorflow as tf


def pack(x: tf.Tensor, selected: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """The selected tokens of each sentence, in their order, from the left.

    Args:
      x: <float>[batch, length, dim].
      selected: <bool>[batch, length].

    Returns:
      <float>[batch, packed length, dim], 0 on padding, and its `packed_mask`.
    """
    mask = packed_mask(selected)
    first = tf.argsort(tf.cast(~selected, tf.int32), axis=1, stable=True)[:, : tf.shape(mask)[1]]
    packed = tf.gather(x, first, batch_dims=1)
    return tf.where(mask[:, :, None], packed, tf.zeros([], x.dtype)), mask


def packed_mask(selected: tf.Tensor) -> tf.Tensor:
    """The mask of packed sequences, <bool>[batch, packed length].

    The packed length is the greatest number of selected tokens in a sentence, at least 1.
    """
    count = tf.reduce_sum(tf.cast(selected, tf.int32), axis=1)
    return tf.sequence_mask(count, tf.maximum(1, tf.reduce_max(count)))
