"""Dropout masks: Philox' stream, native bits and portable booleans."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.ops import portable
from disan_tf.ops.dropout import apply_mask, keep_mask
from disan_tf.ops.native import runtime
from tests.support.ops.backends import BACKENDS, needs_native

LOW = np.uint64(0xFFFFFFFF)
RATES = (0.0, 0.25, 0.999)
DTYPES = ("float32", "bfloat16", "float16", "float64")


def _philox(key, counter, blocks):
    """Philox 4x32-10 of Salmon et al. (2011): <uint32>[blocks, 4], a row for every counter."""
    numbers = [(counter + block) % 2**128 for block in range(blocks)]
    words = [
        np.array([n >> shift & 0xFFFFFFFF for n in numbers], np.uint64) for shift in (0, 32, 64, 96)
    ]
    keys = [key & 0xFFFFFFFF, key >> 32]
    for _ in range(10):
        a, b = words[0] * np.uint64(0xD2511F53), words[2] * np.uint64(0xCD9E8D57)
        words = [
            (b >> np.uint64(32)) ^ words[1] ^ np.uint64(keys[0]),
            b & LOW,
            (a >> np.uint64(32)) ^ words[3] ^ np.uint64(keys[1]),
            a & LOW,
        ]
        keys = [(keys[0] + 0x9E3779B9) % 2**32, (keys[1] + 0xBB67AE85) % 2**32]
    return np.stack(words, axis=1).astype(np.uint32)


def _sixteens(words):
    return np.ascontiguousarray(words.reshape(-1)).astype("<u4").view("<u2")


def _booleans(bits, entries):
    """A native mask as the portable one."""
    packed = np.asarray(bits).astype("<i8").view(np.uint8)
    return np.unpackbits(packed, bitorder="little")[:entries].astype(bool)


def _masks(entries, seed, rate):
    """The native mask and the portable one."""
    seed = tf.constant(seed, tf.int64)
    bits = keep_mask(tf.constant(entries), seed, rate)
    with portable():
        return _booleans(bits, entries), keep_mask(tf.constant(entries), seed, rate).numpy()


@pytest.mark.parametrize("entries", [7, 1001])
def test_xla_draws_the_same_mask(entries):
    seed = tf.constant([3, 5], tf.int64)
    draw = tf.function(lambda seed: keep_mask(tf.constant(entries), seed, 0.25), jit_compile=True)
    with portable():
        np.testing.assert_array_equal(draw(seed), keep_mask(tf.constant(entries), seed, 0.25))


@needs_native
@pytest.mark.parametrize("entries", [0, 1, 63, 64, 65, 100003])
def test_native_bits_are_the_portable_booleans(entries):
    for seed, rate in zip(([3, 1], [2**31 - 1, 2**40], [-7, -1]), RATES):
        native_mask, portable_mask = _masks(entries, seed, rate)
        assert portable_mask.shape == (entries,)
        np.testing.assert_array_equal(native_mask, portable_mask)


@needs_native
@pytest.mark.parametrize(
    "low,high",
    [(2**64 - 1, 5), (2**64 - 5, 2**32 - 1), (2**64 - 8, 2**64 - 1), (2**32 - 3, 5)],
)
def test_a_counter_that_overflows_carries(low, high):
    key, entries, threshold = 0x0123456789ABCDEF, 1003, 30000
    bits = runtime.operations().disan_keep_mask(
        tf.constant(entries, tf.int64),
        tf.constant([key], tf.uint64),
        tf.constant([low, high], tf.uint64),
        threshold=threshold,
    )
    words = _sixteens(_philox(key, low + (high << 64), 126))
    np.testing.assert_array_equal(_booleans(bits, entries), words[:entries] >= threshold)


@pytest.mark.parametrize("rate", [0.25, 1 / 3, 1e-6])
def test_a_mask_compares_sixteen_bits_with_the_rate(rate):
    seed = tf.constant([3, 4], tf.int64)
    words = _sixteens(tf.random.stateless_uniform([1 << 19], seed, None, None, tf.uint32).numpy())
    with portable():
        kept = words[keep_mask(tf.constant(1 << 20), seed, rate).numpy()]
    assert abs(kept.min() / 2**16 - rate) <= 2.0**-17  # all 2^16 words are among so many


def _dropped(x, rate, seed=(5, 6)):
    """Dropout of x, and the gradient of sum(dropout(x) * noise)."""
    noise = tf.cast(tf.constant(np.random.default_rng(1).normal(size=x.shape)), x.dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        dropped = apply_mask(x, keep_mask(tf.size(x), tf.constant(seed, tf.int64), rate), rate)
        total = tf.reduce_sum(dropped * noise)
    results = dropped, tape.gradient(total, x), noise
    return [tf.cast(tensor, tf.float64).numpy() for tensor in results]


def _numbers(shape, dtype):
    return tf.cast(tf.constant(1.0 + np.random.default_rng(2).random(shape)), dtype)


@needs_native
@pytest.mark.parametrize("dtype", DTYPES)
def test_native_and_portable_drop_the_same_to_the_last_bit(dtype):
    for shape in ([0], [4, 0, 3], [5, 13], [3, 1, 300]):
        x = _numbers(shape, dtype)
        native_results = _dropped(x, 0.3)
        with portable():
            portable_results = _dropped(x, 0.3)
        for ours, expected in zip(native_results, portable_results):
            np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_kept_entries_are_divided_by_the_exact_share_and_rounded_once(dtype, backend):
    x, rate = _numbers([40, 50], dtype), 0.1  # 1 / 0.9 has no short form
    with backend():
        dropped, gradient, noise = _dropped(x, rate)
    kept = dropped != 0
    assert 0.05 < 1 - kept.mean() < 0.15
    rounding = {"float32": 2.0**-23, "bfloat16": 2.0**-8, "float16": 2.0**-11, "float64": 2.0**-52}
    for actual, source in ((dropped, x), (gradient, noise)):
        expected = np.asarray(source, np.float64)[kept] / (1 - rate)
        np.testing.assert_allclose(actual[kept], expected, rtol=1.0001 * rounding[dtype])
        assert not np.any(actual[~kept])


@needs_native
def test_wrong_arguments_are_refused_by_name():
    invalid, operations = tf.errors.InvalidArgumentError, runtime.operations()
    stream = {"key": tf.zeros([1], tf.uint64), "counter": tf.zeros([2], tf.uint64)}
    for name, size in (("key", 2), ("counter", 1)):
        wrong = {**stream, name: tf.zeros([size], tf.uint64)}
        with pytest.raises(invalid, match=f"{name} has shape"):
            operations.disan_keep_mask(tf.constant(3, tf.int64), **wrong, threshold=3)
    with pytest.raises(invalid, match="entries is -1, expected at least 0"):
        operations.disan_keep_mask(tf.constant(-1, tf.int64), **stream, threshold=3)
    with pytest.raises(invalid, match="entries has shape"):
        operations.disan_keep_mask(tf.constant([3], tf.int64), **stream, threshold=3)
    for threshold in (-1, 2**16):
        with pytest.raises(invalid, match="threshold="):
            operations.disan_keep_mask(tf.constant(3, tf.int64), **stream, threshold=threshold)
    for groups in (0, 1, 3):
        with pytest.raises(invalid, match="bits has shape"):
            operations.disan_apply_mask(tf.ones([65]), tf.zeros([groups], tf.int64), factor=1.0)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("first, entries", [(1, 200), (8, 1), (63, 64), (1001, 200)])
def test_a_later_part_of_a_mask_is_what_the_whole_mask_has_there(first, entries, backend):
    seed = tf.constant([2**31 - 1, 2**40], tf.int64)
    with backend():
        whole = keep_mask(tf.constant(first + entries), seed, 0.25)
        part = keep_mask(tf.constant(entries), seed, 0.25, tf.constant(first, tf.int64))
    if whole.dtype != tf.bool:
        whole, part = _booleans(whole, first + entries), _booleans(part, entries)
    np.testing.assert_array_equal(part, whole[first:])
