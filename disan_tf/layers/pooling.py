"""Means and weighted sums of tokens, in float32 for every dtype."""

import tensorflow as tf

from disan_tf.ops import masked_softmax


def average_tokens(logits: tf.Tensor, x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Computes sum_i softmax_i(logits) x_i over the tokens that `mask` admits, DiSAN Eq. 2 to 4.

    Args:
      logits: <float>[batch, length, 1].
      x: <float>[batch, length, dim].
      mask: <bool>[batch, length].

    Returns:
      <float>[batch, dim], the dtype of x; exactly 0 for a sentence without tokens.
    """
    weights = masked_softmax(logits, tf.expand_dims(mask, -1), axis=1)
    real = tf.where(tf.expand_dims(mask, -1), tf.cast(x, tf.float32), 0.0)  # 0 times NaN is NaN
    average = tf.matmul(weights, real, transpose_a=True)  # [batch, 1, dim]
    return tf.cast(average[:, 0], x.dtype)


def weighted_sums(weights: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    """Computes s_j = sum_i weights_ji x_i.

    Args:
      weights: <float32>[batch, heads, dependents].
      x: <float>[batch, dependents, dim].

    Returns:
      <float>[batch, heads, dim], the dtype of x.
    """
    return tf.cast(tf.matmul(weights, tf.cast(x, tf.float32)), x.dtype)


def masked_mean(x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Computes the mean of the tokens that `mask` admits, <float>[batch, dim]; 0 without tokens."""
    real = tf.where(tf.expand_dims(mask, -1), tf.cast(x, tf.float32), 0.0)
    return tf.cast(tf.reduce_sum(real, axis=1) / tf.expand_dims(token_counts(mask), 1), x.dtype)


def token_counts(mask: tf.Tensor) -> tf.Tensor:
    """Returns the number of True in each row, at least 1, <float32>[batch]."""
    return tf.maximum(1.0, tf.reduce_sum(tf.cast(mask, tf.float32), axis=1))
