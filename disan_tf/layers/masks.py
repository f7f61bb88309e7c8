"""Masks of tokens that a caller may leave out."""

from typing import Optional

import tensorflow as tf


def token_mask(x: tf.Tensor, mask: Optional[tf.Tensor] = None) -> tf.Tensor:
    """`mask`, or where it is None, True for all tokens.

    Args:
      x: [batch, length, ...].
      mask: <bool>[batch, length], True = real token.
    """
    if mask is not None:
        return mask
    return tf.ensure_shape(tf.ones(tf.shape(x)[:2], tf.bool), x.shape[:2])
