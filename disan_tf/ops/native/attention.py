"""The native form of directional attention."""

import tensorflow as tf

from disan_tf.ops.native.runtime import operations, unavailable
from disan_tf.ops.tracing import is_saving

_DTYPES = (tf.float32, tf.bfloat16, tf.float64, tf.float16)


def native_attention(head, dependent, value, mask, *, direction, head_mask=None, scale=5.0):
    """Computes DiSAN Eq. 15 and 11; for the arguments see `directional_attention`.

    float32 and bfloat16 are computed in float32, float64 (for checking gradients) in float64, and
    float16 is converted to float32 and back. Memory: O(batch * length * dim).

    Raises:
      InvalidArgumentError: a wrong dtype or shape; the message names the argument.
      ValueError: the native form is not available, or the function is traced for a SavedModel; the
        message says why.
    """
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
    real = tf.float64 if value.dtype == tf.float64 else tf.float32
    context, *_ = operations().disan_directional_attention(
        *inputs, mask, head_mask, Real=real, direction=direction, scale=scale
    )
    return tf.cast(context, value.dtype)


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
