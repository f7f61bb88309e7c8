"""The (head, dependent) pairs that a direction, a mask and a selection allow."""

from typing import Optional

import tensorflow as tf

DIRECTIONS = ("forward", "backward", "diagonal")
MAX_SCALE = 40.0


def check_scale(scale: float) -> float:
    """Returns `scale`, or raises ValueError: exp(scale) must stay far inside float32."""
    if not 0.0 < scale <= MAX_SCALE:
        raise ValueError(f"scale={scale} must be above 0 and at most {MAX_SCALE:g}.")
    return float(scale)


def positional_mask(heads: tf.Tensor, dependents: tf.Tensor, direction: str) -> tf.Tensor:
    """Returns DiSAN Eq. 16 to 18 as booleans, True where M_ij is 0.

    Args:
      heads: <int32>[h], positions j of the tokens that receive context.
      dependents: <int32>[d], positions i of the tokens that are attended to.
      direction: "forward" (i < j), "backward" (i > j) or "diagonal" (i != j).

    Returns:
      <bool>[h, d]
    """
    compare = {"forward": tf.less, "backward": tf.greater, "diagonal": tf.not_equal}
    return compare[direction](dependents[None, :], heads[:, None])


def admissible_pairs(
    mask: tf.Tensor, direction: str, head_mask: Optional[tf.Tensor] = None
) -> tf.Tensor:
    """Returns whether each head of a sentence may attend to each dependent.

    Args:
      mask: <bool>[batch, length], True = may be attended to.
      direction: see `positional_mask`.
      head_mask: <bool>[batch, length], True = receives context; None = all tokens do.

    Returns:
      <bool>[batch, head, dependent]
    """
    positions = tf.range(tf.shape(mask)[1])
    pairs = positional_mask(positions, positions, direction)[None] & mask[:, None, :]
    return pairs if head_mask is None else pairs & head_mask[:, :, None]
