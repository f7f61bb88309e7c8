"""Token masks that a caller may leave out."""

from typing import Optional

import tensorflow as tf

from disan_tf.ops.masked_softmax import boolean_mask
from disan_tf.ops.xla import ensure_shape


def token_mask(x: tf.Tensor, mask: Optional[tf.Tensor] = None) -> tf.Tensor:
    """Returns `mask` as booleans, or True for all tokens if it is None.

    Args:
      x: [batch, length, ...].
      mask: <bool or number>[batch, length], True = real token.

    Raises:
      ValueError: there is no mask, and x has no axis of tokens.
    """
    if mask is not None:
        return boolean_mask(mask)
    if x.shape.rank is not None and x.shape.rank < 3:
        raise ValueError(
            f"the tokens' vectors have the shape {x.shape}; it must be [batch, length, dim]"
        )
    return ensure_shape(tf.ones(tf.shape(x)[:2], tf.bool), x.shape[:2])
