"""The native form of directional attention."""

from typing import Optional

import tensorflow as tf

from disan_tf.ops.native.runtime import operations, unavailable

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
    """DiSAN Eq. 15 and 11; the arguments are those of `directional_attention`.

    float32 and bfloat16 are computed in float32, float64 (for checking gradients) in float64, and
    float16 is converted to float32 and back. Memory: O(batch * length * dim).

    Raises:
      InvalidArgumentError: a wrong dtype or shape; the message names the argument.
      ValueError: the native form is not available; the message says why.
    """
    if unavailable():
        raise ValueError(f'form="native" is not available: {unavailable()}; use form="auto".')
    _check_dtypes(head, dependent, value, mask, head_mask)
    if value.dtype == tf.float16:
        head, dependent = (tf.cast(tensor, tf.float32) for tensor in (head, dependent))
        context = native_attention(
            head, dependent, tf.cast(value, tf.float32), mask,
            direction=direction, head_mask=head_mask, scale=scale,
        )  # fmt: skip
        return tf.cast(context, value.dtype)
    if head_mask is None:
        head_mask = tf.zeros([0, 0], tf.bool)
    context, _, _ = operations().disan_directional_attention(
        head, dependent, value, mask, head_mask,
        Real=_real(value), direction=direction, scale=scale,
    )  # fmt: skip
    return context


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
