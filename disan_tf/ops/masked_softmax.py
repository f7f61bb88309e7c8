"""The masked softmax that the whole package uses, and the masks of tokens and of their pairs."""

from typing import Any, Literal, Optional, get_args

import tensorflow as tf

Direction = Literal["forward", "backward", "diagonal"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
MAX_SCALE = 40.0


def boolean_mask(mask: Any, name: str = "mask") -> tf.Tensor:
    """Returns a mask of the numbers 0 (False) and 1 (True) as <bool>[...].

    Masks of booleans are left as they are. Other numbers raise a ValueError, because they suggest
    an additive mask, which has 0 at real tokens. In a graph, values are not known yet, and other
    numbers count as True.
    """
    mask = tf.convert_to_tensor(mask)
    if mask.dtype == tf.bool:
        return mask
    if not (mask.dtype.is_integer or mask.dtype.is_floating):
        raise ValueError(f"{name} has the dtype {mask.dtype.name}; it must hold booleans, or 0/1.")
    values = tf.get_static_value(mask)
    if values is not None and not ((values == 0) | (values == 1)).all():
        other = values[(values != 0) & (values != 1)].flat[0]
        raise ValueError(
            f"{name}={other:g} must be 0 (padding) or 1 (a real token); for an additive mask, "
            f"which has 0 at real tokens, give {name} == 0."
        )
    return tf.cast(mask, tf.bool)


def wide_dtype(dtype: Any) -> tf.DType:
    """Returns the dtype of softmaxes and their sums: float64 for float64, otherwise float32."""
    return tf.float64 if tf.as_dtype(dtype) == tf.float64 else tf.float32


def at_least_float32(x: Any) -> tf.Tensor:
    """Casts <float>[...] to its `wide_dtype`."""
    return tf.cast(x, wide_dtype(x.dtype))


def check_mask(name: str, mask: tf.Tensor, x: tf.Tensor) -> None:
    """Raises ValueError unless `mask` [batch, length] fits x [batch, length, dim].

    Sizes that are not known before a graph runs fit.
    """
    expected = tf.TensorShape(x.shape)[:2]
    if not expected.is_compatible_with(mask.shape):
        raise ValueError(
            f"{name} has the shape {tuple(mask.shape)}; it must be [batch, length], and is "
            f"{list(expected)} for these vectors."
        )


def masked_softmax(logits: tf.Tensor, mask: tf.Tensor, axis: int) -> tf.Tensor:
    """Computes the softmax over the entries that `mask` admits; a row without any is exactly 0.

    The arithmetic is float32, or float64 for float64. An additive mask of -1e30 would give NaN in
    float16. A mask of -inf would give NaN in completely masked rows, in values or in gradients.
    The sequence `where`, softmax, `where` gives no NaN.

    Args:
      logits: <float>[...], any rank; the result is <float32 or float64> of this shape.
      mask: <bool or number>, broadcastable to `logits`; True = admitted.
      axis: the axis that sums to 1.
    """
    logits, mask = at_least_float32(tf.convert_to_tensor(logits)), boolean_mask(mask)
    weights = tf.nn.softmax(tf.where(mask, logits, logits.dtype.min), axis=axis)
    return tf.where(mask, weights, 0.0)


def check_scale(scale: float) -> float:
    """Returns `scale`, or raises ValueError: exp(scale) must stay far inside float32."""
    if not 0.0 < scale <= MAX_SCALE:
        raise ValueError(f"scale={scale} must be above 0 and at most {MAX_SCALE:g}.")
    return float(scale)


def positional_mask(heads: tf.Tensor, dependents: tf.Tensor, direction: str) -> tf.Tensor:
    """Returns DiSAN Eq. 16 to 18 as booleans <bool>[h, d], True where M_ij is 0.

    Args:
      heads: <int32>[h], positions j of the tokens that receive context.
      dependents: <int32>[d], positions i of the tokens that are attended to.
      direction: "forward" (i < j), "backward" (i > j) or "diagonal" (i != j).
    """
    compare = {"forward": tf.less, "backward": tf.greater, "diagonal": tf.not_equal}
    return compare[direction](dependents, tf.expand_dims(heads, 1))


def admissible_pairs(
    mask: tf.Tensor, direction: str, head_mask: Optional[tf.Tensor] = None
) -> tf.Tensor:
    """Returns whether each head may attend to each dependent, <bool>[batch, head, dependent].

    Args:
      mask: <bool>[batch, length], True = may be attended to.
      direction: see `positional_mask`.
      head_mask: <bool>[batch, length], True = receives context; None = all tokens do.
    """
    positions = tf.range(tf.shape(mask)[1])
    pairs = positional_mask(positions, positions, direction) & tf.expand_dims(mask, 1)
    return pairs if head_mask is None else pairs & tf.expand_dims(head_mask, 2)


def selected_rows(
    head: tf.Tensor,
    dependent: tf.Tensor,
    value: tf.Tensor,
    mask: tf.Tensor,
    head_mask: Optional[tf.Tensor] = None,
) -> list[tf.Tensor]:
    """Returns the inputs of `directional_attention` in at least float32, with 0 elsewhere.

    A weight of 0 does not remove what lies there: 0 times infinity is no number.
    """
    tensors = (tf.cast(tensor, wide_dtype(value.dtype)) for tensor in (head, dependent, value))
    return [
        tensor if rows is None else tf.where(tf.expand_dims(rows, 2), tensor, 0.0)
        for tensor, rows in zip(tensors, (head_mask, mask, mask))
    ]
