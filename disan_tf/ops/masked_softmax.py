"""The masked softmax that the whole package uses, and the masks that it admits."""

import tensorflow as tf


def boolean_mask(mask) -> tf.Tensor:
    """Returns a mask of numbers (0 = False) as <bool>[...]; other masks are left as they are."""
    mask = tf.convert_to_tensor(mask)
    is_number = mask.dtype.is_integer or mask.dtype.is_floating
    return tf.cast(mask, tf.bool) if is_number else mask


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

    The arithmetic is float32 for every input dtype. An additive mask of -1e30 would give NaN in
    float16. A mask of -inf would give NaN in completely masked rows, in values or in gradients.
    The sequence `where`, softmax, `where` gives no NaN.

    Args:
      logits: <float>[...], any rank; the result is <float32> of this shape.
      mask: <bool or number>, broadcastable to `logits`; True = admitted.
      axis: the axis that sums to 1.
    """
    logits, mask = tf.cast(logits, tf.float32), boolean_mask(mask)
    weights = tf.nn.softmax(tf.where(mask, logits, logits.dtype.min), axis=axis)
    return tf.where(mask, weights, 0.0)
