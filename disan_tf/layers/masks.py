"""Token masks that a caller may leave out."""

from typing import Optional

import tensorflow as tf


def token_mask(x: tf.Tensor, mask: Optional[tf.Tensor] = None) -> tf.Tensor:
    """Returns `mask`, or True for all tokens if it is None.

    Args:
      x: [batch, length, ...].
      mask: <bool>[batch, length], True = real token.
    """
    if mask is not None:
        return mask
    return tf.ensure_shape(tf.ones(tf.shape(x)[:2], tf.bool), x.shape[:2])
