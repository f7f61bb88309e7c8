"""The masked softmax that the whole package uses."""

import tensorflow as tf


def masked_softmax(logits: tf.Tensor, mask: tf.Tensor, axis: int) -> tf.Tensor:
    """Computes the softmax over the entries that `mask` admits; a row without any is exactly 0.

    The arithmetic is float32 for every input dtype. An additive mask of -1e30 would give NaN in
    float16. A mask of -inf would give NaN in completely masked rows, in values or in gradients.
    The sequence `where`, softmax, `where` gives no NaN.

    Args:
      logits: <float>[...], any rank.
      mask: <bool>, broadcastable to `logits`; True = admitted.
      axis: the axis that sums to 1.

    Returns:
      <float32>, the shape of `logits`.
    """
    logits = tf.cast(logits, tf.float32)
    weights = tf.nn.softmax(tf.where(mask, logits, logits.dtype.min), axis=axis)
    return tf.where(mask, weights, 0.0)
