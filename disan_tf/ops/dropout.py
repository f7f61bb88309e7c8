"""Dropout masks from TensorFlow's stateless random numbers: the same in both forms."""

import tensorflow as tf

from disan_tf.ops.native import runtime

_LEVELS = 1 << 16  # a mask compares 16 random bits with the rate


def keep_mask(entries: tf.Tensor, seed: tf.Tensor, rate: float) -> tf.Tensor:
    """A dropout mask: every entry is kept with probability 1 - rate, to within 2^-17.

    Entry e is kept where the e-th 16-bit word of TensorFlow's stateless Philox stream is at least
    round(2^16 rate). That probability is at least 2^-16.

    Args:
      entries: <int>[], how many.
      seed: <int64>[2].
      rate: in [0, 1).

    Returns:
      <bool>[entries], or in the native form <int64>[ceil(entries / 64)] with one bit per entry, the
      lowest first.
    """
    threshold = min(round(rate * _LEVELS), _LEVELS - 1)
    if runtime.is_used():
        key, counter = tf.raw_ops.StatelessRandomGetKeyCounter(seed=seed)
        return runtime.operations().disan_keep_mask(
            tf.cast(entries, tf.int64), key, counter, threshold=threshold
        )
    words = tf.random.stateless_uniform(
        [(entries + 1) // 2], seed, minval=None, maxval=None, dtype=tf.uint32, alg="philox"
    )
    halves = tf.reshape(tf.bitcast(words, tf.uint16), [-1])[:entries]
    return tf.cast(halves, tf.int32) >= threshold


def apply_mask(x: tf.Tensor, keep: tf.Tensor, rate: float) -> tf.Tensor:
    """x / (1 - rate) where the mask `keep` of `keep_mask` keeps an entry, else 0."""
    factor = 1.0 / (1.0 - rate)
    if keep.dtype != tf.bool:
        if x.dtype in runtime.DTYPES:
            return runtime.operations().disan_apply_mask(x, keep, factor=factor)
        keep = runtime.operations().disan_apply_mask(tf.ones(tf.shape(x)), keep, factor=1.0) != 0.0
    wide = tf.cast(x, tf.float32) if x.dtype.size < 4 else x  # half precision would round `factor`
    scaled = tf.cast(wide * factor, x.dtype)
    return tf.where(tf.reshape(keep, tf.shape(x)), scaled, tf.zeros([], x.dtype))
