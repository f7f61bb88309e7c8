"""The attention core as a function, in forms that agree: `plain` and memory-`lean`."""

from typing import Optional

import tensorflow as tf

from disan_tf.ops.lean import lean_attention
from disan_tf.ops.masking import masked_softmax
from disan_tf.ops.pairs import DIRECTIONS, check_direction, check_scale
from disan_tf.ops.plain import attention_weights, plain_attention

__all__ = ["DIRECTIONS", "FORMS", "attention_weights", "directional_attention", "masked_softmax"]

FORMS = {"plain": plain_attention, "lean": lean_attention}


def directional_attention(
    head: tf.Tensor,
    dependent: tf.Tensor,
    value: tf.Tensor,
    mask: tf.Tensor,
    *,
    direction: str,
    head_mask: Optional[tf.Tensor] = None,
    scale: float = 5.0,
    form: str = "lean",
) -> tf.Tensor:
    """Multi-dimensional token2token attention with a positional mask, DiSAN Eq. 15 and 11.

    s_j = sum_i softmax_i(scale * tanh((dependent_i + head_j) / scale)) * value_i, feature by
    feature, over the dependents i that `mask` and `direction` allow. A head that may attend to
    nothing gets exactly 0. The arithmetic is float32 for every input dtype.

    Args:
      head: <float>[batch, length, dim], W2 h_j (+ b1).
      dependent: <float>[batch, length, dim], W1 h_i.
      value: <float>[batch, length, dim], h_i.
      mask: <bool>[batch, length], True = may be attended to.
      direction: "forward" (i < j), "backward" (i > j) or "diagonal" (i != j).
      head_mask: <bool>[batch, length], True = receives context; None = every token does.
      scale: c of Eq. 15, at most 40, so that no maximum need be subtracted.
      form: "lean" (memory O(batch * length * dim)) or "plain" (dense, for exports and tests).

    Returns:
      <float>[batch, length, dim], the dtype of `value`. All three inputs receive gradients.

    Raises:
      ValueError: an unknown direction or form, or a scale outside (0, 40].
    """
    check_direction(direction)
    if form not in FORMS:
        raise ValueError(f"form={form!r}; known forms are {', '.join(FORMS)}.")
    return FORMS[form](
        head,
        dependent,
        value,
        mask,
        direction=direction,
        head_mask=head_mask,
        scale=check_scale(scale),
    )
