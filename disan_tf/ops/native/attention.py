"""The native forms of directional attention."""

from typing import Optional

import tensorflow as tf

from disan_tf.ops.interpolation import widest
from disan_tf.ops.native.runtime import operations, unavailable
from disan_tf.ops.saving import is_saving

# Number of exact pairs that take as long as one node of a token. Measured, depending on the rank:
# 2.6 to 3.2 forward, and 2.0 to 2.5 with the gradients.
PAIRS_PER_NODE = 3
_DTYPES = (tf.float32, tf.bfloat16, tf.float64, tf.float16)


def native_attention(
    head: tf.Tensor,
    dependent: tf.Tensor,
    value: tf.Tensor,
    mask: tf.Tensor,
    *,
    direction: str,
    head_mask: Optional[tf.Tensor] = None,
    scale: float = 5.0,
) -> tf.Tensor:
    """Computes DiSAN Eq. 15 and 11; for the arguments see `directional_attention`.

    float32 and bfloat16 are computed in float32, float64 (for checking gradients) in float64, and
    float16 is converted to float32 and back. Memory: O(batch * length * dim).

    Raises:
      InvalidArgumentError: a wrong dtype or shape; the message names the argument.
      ValueError: the native form is not available, or the function is traced for a SavedModel; the
        message says why.
    """
    return _attend(
        "disan_directional_attention",
        head,
        dependent,
        value,
        mask,
        head_mask,
        direction=direction,
        scale=scale,
    )


def native_linear_attention(
    head: tf.Tensor,
    dependent: tf.Tensor,
    value: tf.Tensor,
    mask: tf.Tensor,
    *,
    direction: str,
    head_mask: Optional[tf.Tensor] = None,
    scale: float = 5.0,
) -> tf.Tensor:
    """Computes `linear_attention` in C++, with the dtypes and errors of `native_attention`.

    The kernel chooses a rank for every sentence and every vector of features. It computes exactly
    where that is faster, or where the heads lie too far apart for the largest rank.
    """
    return _attend(
        "disan_linear_attention",
        head,
        dependent,
        value,
        mask,
        head_mask,
        direction=direction,
        scale=scale,
        widest=widest(scale),
        pairs_per_node=PAIRS_PER_NODE,
    )


def _attend(name, head, dependent, value, mask, head_mask, **attributes):
    """Runs the named operation and returns the context."""
    if unavailable():
        raise ValueError(f'form="native" is not available: {unavailable()}; use form="auto".')
    if is_saving():
        raise ValueError('form="native" cannot be saved for other machines; use form="auto".')
    _check_dtypes(head, dependent, value, mask, head_mask)
    if head_mask is None:
        head_mask = tf.zeros([0, 0], tf.bool)
    inputs = [head, dependent, value]
    if value.dtype == tf.float16:
        inputs = [tf.cast(tensor, tf.float32) for tensor in inputs]
    operation = getattr(operations(), name)
    context, *_ = operation(*inputs, mask, head_mask, Real=_real(value), **attributes)
    return tf.cast(context, value.dtype)


def _real(tensor):
    return tf.float64 if tensor.dtype == tf.float64 else tf.float32


def _check_dtypes(head, dependent, value, mask, head_mask):
    masks = {"mask": mask} if head_mask is None else {"mask": mask, "head_mask": head_mask}
    expected = {name: (tensor, (tf.bool,)) for name, tensor in masks.items()}
    expected["value"] = (value, _DTYPES)
    expected["head"] = (head, (value.dtype,))
    expected["dependent"] = (dependent, (value.dtype,))
    for name, (tensor, dtypes) in expected.items():
        if tensor.dtype not in dtypes:
            known = " or ".join(dtype.name for dtype in dtypes)
            message = f"{name} has dtype {tensor.dtype.name}, expected {known}"
            raise tf.errors.InvalidArgumentError(None, None, message)
