"""The one way in which this package does a masked softmax."""

import tensorflow as tf


def masked_softmax(logits: tf.Tensor, mask: tf.Tensor, axis: int) -> tf.Tensor:
    """Softmax over the entries that `mask` admits; a row that admits nothing is exactly 0.

    The arithmetic is float32 for every input dtype. An additive mask of -1e30 would give NaN in
    float16, and one of -inf would give NaN in rows that are masked completely, in values or in
    gradients; `where`, softmax, `where` gives neither.

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
