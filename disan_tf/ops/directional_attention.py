"""Directional attention, DiSAN Eq. 15 and 11, in several forms."""

from typing import Any, Callable, Literal, Optional

import tensorflow as tf

from disan_tf.common.checks import check_choice
from disan_tf.ops.blockwise import fits_one_block, lean_attention
from disan_tf.ops.masked_softmax import (
    DIRECTIONS,
    Direction,
    admissible_pairs,
    at_least_float32,
    boolean_mask,
    check_mask,
    check_scale,
    masked_softmax,
    selected_rows,
)
from disan_tf.ops.native.runtime import is_used, operations, unavailable
from disan_tf.ops.saved_attention import saved_attention
from disan_tf.ops.tokenwise import tokenwise_attention
from disan_tf.ops.tracing import is_compiled, is_jit_compiled, is_on_gpu, is_saving

_NATIVE_DTYPES = (tf.float32, tf.bfloat16, tf.float64, tf.float16)


def attention_weights(
    head: tf.Tensor,
    dependent: tf.Tensor,
    mask: tf.Tensor,
    *,
    direction: Direction,
    head_mask: Optional[tf.Tensor] = None,
    scale: float = 5.0,
) -> tf.Tensor:
    """Computes p(z_k = i | x, x_j), DiSAN Eq. 15, <float32>[batch, head, dependent, feature]."""
    mask, head_mask = _boolean_masks(mask, head_mask)
    head = tf.expand_dims(at_least_float32(head), 2)  # [batch, head, 1, feature]
    dependent = tf.expand_dims(at_least_float32(dependent), 1)  # [batch, 1, dependent, feature]
    logits = scale * tf.tanh((dependent + head) / scale)
    pairs = admissible_pairs(mask, direction, head_mask)
    return masked_softmax(logits, tf.expand_dims(pairs, -1), axis=2)


def _boolean_masks(
    mask: tf.Tensor, head_mask: Optional[tf.Tensor]
) -> tuple[tf.Tensor, Optional[tf.Tensor]]:
    if head_mask is not None:
        head_mask = boolean_mask(head_mask, "head_mask")
    return boolean_mask(mask), head_mask


def plain_attention(
    head: tf.Tensor,
    dependent: tf.Tensor,
    value: tf.Tensor,
    mask: tf.Tensor,
    *,
    direction: Direction,
    head_mask: Optional[tf.Tensor] = None,
    scale: float = 5.0,
) -> tf.Tensor:
    """Computes DiSAN Eq. 15 and 11 densely, with several [batch, length, length, dim] tensors."""
    heads, dependents, values = selected_rows(head, dependent, value, mask, head_mask)
    weights = attention_weights(
        heads, dependents, mask, direction=direction, head_mask=head_mask, scale=scale
    )
    context = tf.reduce_sum(weights * tf.expand_dims(values, 1), axis=2)
    return tf.cast(context, value.dtype)


def _lean_attention(*args: Any, **options: Any) -> tf.Tensor:
    """Calls `tokenwise_attention`, or `lean_attention` under XLA, on GPUs and in float64.

    `lean_attention` has fewer operations; `tokenwise_attention` is not exact to float64.
    """
    few = is_compiled() or is_on_gpu() or args[2].dtype == tf.float64
    return (lean_attention if few else tokenwise_attention)(*args, **options)


def native_attention(
    head: tf.Tensor,
    dependent: tf.Tensor,
    value: tf.Tensor,
    mask: tf.Tensor,
    *,
    direction: Direction,
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
    if unavailable():
        raise ValueError(f'form="native" is not available: {unavailable()}; use form="auto".')
    if is_saving():
        raise ValueError('form="native" cannot be saved for other machines; use form="auto".')
    masks = {"mask": mask} if head_mask is None else {"mask": mask, "head_mask": head_mask}
    expected: dict[str, tuple] = {name: (tensor, (tf.bool,)) for name, tensor in masks.items()}
    expected["value"] = (value, _NATIVE_DTYPES)
    expected["head"] = (head, (value.dtype,))
    expected["dependent"] = (dependent, (value.dtype,))
    for name, (tensor, dtypes) in expected.items():
        if tensor.dtype not in dtypes:
            known = " or ".join(dtype.name for dtype in dtypes)
            message = f"{name} has dtype {tensor.dtype.name}, expected {known}"
            raise tf.errors.InvalidArgumentError(None, None, message)
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


def _auto_attention(*args: Any, **options: Any) -> tf.Tensor:
    """Calls this machine's fastest form.

    Exports for XLA have the plain form. On CPUs under XLA the plain form computes what fits into
    one block, where the lean form would be no faster.
    """
    if is_used() and args[2].dtype != tf.float64:  # the native operation's `scale` is a float32
        return native_attention(*args, **options)
    is_plain = is_compiled()
    if is_jit_compiled():
        is_plain = not is_on_gpu() and fits_one_block(args[0])
    return (plain_attention if is_plain else _lean_attention)(*args, **options)


Form = Literal["auto", "plain", "lean", "saved", "native"]
FORMS: dict[Form, Callable] = {
    "auto": _auto_attention,
    "plain": plain_attention,
    "lean": _lean_attention,
    "saved": saved_attention,
    "native": native_attention,
}


def available_forms() -> list[str]:
    """Returns the distinct exact forms that can train on this machine."""
    return ["plain", "lean"] if unavailable() else ["plain", "lean", "native"]


def directional_attention(
    head: tf.Tensor,
    dependent: tf.Tensor,
    value: tf.Tensor,
    mask: tf.Tensor,
    *,
    direction: Direction,
    head_mask: Optional[tf.Tensor] = None,
    scale: float = 5.0,
    form: Form = "auto",
) -> tf.Tensor:
    """Multi-dimensional token2token attention with a positional mask, DiSAN Eq. 15 and 11.

    s_j = sum_i softmax_i(scale tanh((dependent_i + head_j) / scale)) * value_i       (11, 15)

    The softmax is over the dependents i that `mask` and `direction` allow, for every feature. A
    head that may attend to nothing gets exactly 0. The arithmetic is float32, or float64 for
    float64.

    Args:
      head: <float>[batch, length, dim], W2 h_j (+ b1).
      dependent: <float>[batch, length, dim], W1 h_i.
      value: <float>[batch, length, dim], h_i.
      mask: <bool or number>[batch, length], True = may be attended to.
      direction: "forward" (i < j), "backward" (i > j) or "diagonal" (i != j).
      head_mask: <bool or number>[batch, length], True = receives context; None = all tokens do.
      scale: c of Eq. 15, above 0 and at most 40, so that no maximum has to be subtracted.
      form: "native" (C++ for this CPU), "lean" (portable, memory O(batch * length * dim)), "saved"
        (for SavedModels: as lean, or in time O(length), to within 1e-4, for long texts), "plain"
        (dense, for tests), or "auto": native if available, plain for short sentences under XLA,
        else lean.

    Returns:
      <float>[batch, length, dim], the dtype of `value`. All three inputs receive gradients.

    Raises:
      ValueError: an unknown direction or form, a scale outside (0, 40], a mask of another shape, or
        form "native" if it is not available.
    """
    check_choice("direction", direction, DIRECTIONS)
    head, dependent, value = map(tf.convert_to_tensor, (head, dependent, value))
    mask, head_mask = _boolean_masks(mask, head_mask)
    check_mask("mask", mask, head)
    if head_mask is not None:
        check_mask("head_mask", head_mask, head)
    return FORMS[check_choice("form", form, FORMS)](
        head,
        dependent,
        value,
        mask,
        direction=direction,
        head_mask=head_mask,
        scale=check_scale(scale),
    )
