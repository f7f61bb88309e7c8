"""Dropout masks from TensorFlow's stateless random numbers, equal in both forms."""

from typing import Optional

import tensorflow as tf

from disan_tf.ops.native import runtime

_LEVELS = 1 << 16  # a mask compares 16 random bits with the rate
_COUNTED = 8  # entries per 128 random bits, which Philox computes from one counter


def keep_mask(
    entries: tf.Tensor, seed: tf.Tensor, rate: float, first: Optional[tf.Tensor] = None
) -> tf.Tensor:
    """Draws a dropout mask that keeps entries with probability 1 - rate, to within 2^-17.

    Entry e is kept where the e-th 16-bit word of TensorFlow's stateless Philox stream is at least
    round(2^16 rate). That probability is at least 2^-16.

    Args:
      entries: <int>[], number of entries; the result is <bool>[entries], or in the native form
        <int64>[ceil(entries / 64)] with one bit per entry, the lowest first.
      seed: <int64>[2].
      rate: in [0, 1).
      first: <int64>[], index of the first entry, if the entries are part of a larger mask.
    """
    threshold = min(round(rate * _LEVELS), _LEVELS - 1)
    if first is not None:
        return _later_entries(tf.cast(entries, tf.int64), seed, threshold, first)
    if runtime.is_used():
        key, counter = tf.raw_ops.StatelessRandomGetKeyCounter(seed=seed)
        return runtime.operations().disan_keep_mask(
            tf.cast(entries, tf.int64), key, counter, threshold=threshold
        )
    words = tf.random.stateless_uniform(
        [(entries + 1) // 2], seed, minval=None, maxval=None, dtype=tf.uint32, alg="philox"
    )
    halves = tf.reshape(tf.bitcast(words, tf.uint16), [-1])[:entries]
    return halves >= tf.constant(threshold, tf.uint16)


def _later_entries(entries, seed, threshold, first):
    """Draws the part of a `keep_mask` that begins at entry `first`."""
    key, counter = tf.raw_ops.StatelessRandomGetKeyCounter(seed=seed)
    low = counter[0] + tf.cast(first // _COUNTED, tf.uint64)
    carry = tf.cast(low < counter[0], tf.uint64)
    counter, surplus = tf.stack([low, counter[1] + carry]), first % _COUNTED
    if runtime.is_used():
        bits = runtime.operations().disan_keep_mask(
            entries + surplus, key, counter, threshold=threshold
        )
        return _shifted(bits, surplus)[: (entries + 63) // 64]
    words = tf.raw_ops.StatelessRandomUniformFullIntV2(
        shape=[(entries + surplus + 1) // 2], key=key, counter=counter, alg=1, dtype=tf.uint32
    )
    halves = tf.reshape(tf.bitcast(words, tf.uint16), [-1])[surplus:][:entries]
    return halves >= tf.constant(threshold, tf.uint16)


def _shifted(bits, count):
    """Drops the first `count` <int64>[] bits of <int64>[n]; `count` is below 63."""
    bits, count = tf.bitcast(bits, tf.uint64), tf.cast(count, tf.uint64)
    one, most = tf.constant(1, tf.uint64), tf.constant(63, tf.uint64)
    following = tf.concat([bits[1:], tf.zeros([1], tf.uint64)], axis=0)
    carried = tf.bitwise.left_shift(tf.bitwise.left_shift(following, one), most - count)
    return tf.bitcast(tf.bitwise.bitwise_or(tf.bitwise.right_shift(bits, count), carried), tf.int64)


def apply_mask(x: tf.Tensor, keep: tf.Tensor, rate: float) -> tf.Tensor:
    """Returns x / (1 - rate) where the `keep_mask` `keep` keeps an entry, else 0."""
    x, factor = tf.convert_to_tensor(x), 1.0 / (1.0 - rate)
    if keep.dtype != tf.bool:
        if x.dtype in runtime.DTYPES:
            return runtime.operations().disan_apply_mask(x, keep, factor=factor)
        keep = runtime.operations().disan_apply_mask(tf.ones(tf.shape(x)), keep, factor=1.0) != 0.0
    wide = tf.cast(x, tf.float32) if x.dtype.size < 4 else x  # half precision would round `factor`
    scaled = tf.cast(wide * factor, x.dtype)
    return tf.where(tf.reshape(keep, tf.shape(x)), scaled, tf.zeros([], x.dtype))
