"""Masks of tokens, means over tokens, and sequences without padding."""

from typing import Optional

import tensorflow as tf

from disan_tf.ops import masked_softmax
from disan_tf.ops.batch_share import all_rows
from disan_tf.ops.masked_softmax import at_least_float32, boolean_mask
from disan_tf.ops.tracing import ensure_shape, is_compiled, is_jit_compiled, on_host

# Sizes are rounded up to these multiples, so that oneDNN compiles products for fewer shapes.
ROWS_MULTIPLE = 128
LENGTH_MULTIPLE = 8


def token_mask(x: tf.Tensor, mask: Optional[tf.Tensor] = None) -> tf.Tensor:
    """Returns `mask` as booleans, or True for all tokens if it is None.

    Args:
      x: [batch, length, ...].
      mask: <bool or number>[batch, length], True = real token.

    Raises:
      ValueError: there is no mask, and x has no axis of tokens.
    """
    if mask is not None:
        return boolean_mask(mask)
    if tf.TensorShape(x.shape).rank in (0, 1, 2):
        raise ValueError(
            f"the tokens' vectors have the shape {x.shape}; it must be [batch, length, dim]"
        )
    return ensure_shape(tf.ones(tf.shape(x)[:2], tf.bool), x.shape[:2])


def average_tokens(logits: tf.Tensor, x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Computes sum_i softmax_i(logits) x_i over the tokens that `mask` admits, DiSAN Eq. 2 to 4.

    The arithmetic is at least float32, for logits <float>[batch, length, 1],
    x <float>[batch, length, dim] and mask <bool>[batch, length]. The result
    <float>[batch, dim] has the dtype of x, and is exactly 0 for a sentence without tokens.
    """
    weights = masked_softmax(logits, tf.expand_dims(mask, -1), axis=1)
    real = tf.where(tf.expand_dims(mask, -1), tf.cast(x, weights.dtype), 0.0)  # 0 times NaN is NaN
    average = tf.matmul(weights, real, transpose_a=True)  # [batch, 1, dim]
    return tf.cast(average[:, 0], x.dtype)


def weighted_sums(weights: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    """Computes s_j = sum_i weights_ji x_i in the weights' dtype; returns the dtype of x.

    The weights are <float32>[batch, heads, dependents], x is <float>[batch, dependents, dim].
    """
    return tf.cast(tf.matmul(weights, tf.cast(x, weights.dtype)), x.dtype)


def masked_mean(x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Computes the mean of the tokens that `mask` admits, <float>[batch, dim]; 0 without tokens."""
    real = tf.where(tf.expand_dims(mask, -1), at_least_float32(x), 0.0)
    counts = tf.cast(tf.expand_dims(token_counts(mask), 1), real.dtype)
    return tf.cast(tf.reduce_sum(real, axis=1) / counts, x.dtype)


def token_counts(mask: tf.Tensor) -> tf.Tensor:
    """Returns the number of True in each row, at least 1, <float32>[batch]."""
    return tf.maximum(1.0, tf.reduce_sum(tf.cast(mask, tf.float32), axis=1))


def pack(x: tf.Tensor, selected: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Moves the selected tokens of each sentence to its beginning, in their order.

    Returns:
      x <float>[batch, packed length, dim], 0 on padding, and its `packed_mask`.
    """
    mask = packed_mask(selected)
    rows, length = tf.unstack(tf.shape(selected))
    # For top_k without tokens, and for the gradient of gather without rows.
    more = [[0, tf.maximum(1 - rows, 0)], [0, tf.maximum(1 - length, 0)]]
    numbers = tf.pad(tf.cast(selected, tf.float32), more)  # TFLite pads no booleans
    _, first = tf.math.top_k(numbers, tf.shape(mask)[1])  # the first of equals come first
    packed = tf.gather(tf.pad(x, [*more, [0, 0]]), tf.cast(first, tf.int64), batch_dims=1)[:rows]
    return tf.where(tf.expand_dims(mask, -1), packed, tf.zeros([], x.dtype)), mask


def packed_mask(selected: tf.Tensor) -> tf.Tensor:
    """Returns the mask of packed sentences, <bool>[batch, packed length].

    The packed length is the greatest number of selected tokens in a sentence, at least 1.
    """
    # As floats, because a GPU leaves the arithmetic of 32-bit integers to the host.
    count = tf.reduce_sum(tf.cast(selected, tf.float32), axis=1)
    longest = tf.maximum(1, tf.cast(tf.reduce_max(all_rows(count)), tf.int32))
    return tf.cast(tf.range(longest), tf.float32) < count[:, None]


def real_tokens(x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Joins the tokens of all sentences into one sequence without padding.

    A map that treats tokens independently then costs nothing for padding.

    Returns:
      <float>[rows, dim], one row for every token, and then repetitions of a token up to a multiple
      of `ROWS_MULTIPLE`, which `scatter_tokens` and `recurrence` ignore.
    """
    if is_compiled():  # XLA knows no number of rows that depends on the data
        return tf.reshape(x, [-1, x.shape[-1]])
    with on_host():
        places = tf.where(mask)
        places = tf.pad(places, [[0, surplus(tf.shape(places)[0], ROWS_MULTIPLE)], [0, 0]])
    return tf.gather_nd(x, places)


def scatter_tokens(tokens: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Inverts `real_tokens`: <float>[rows, dim] -> [batch, length, dim], 0 on padding."""
    if is_compiled():
        shape = tf.concat([tf.shape(mask), [tokens.shape[-1]]], axis=0)
        return tf.where(
            tf.expand_dims(mask, -1), tf.reshape(tokens, shape), tf.zeros([], tokens.dtype)
        )
    with on_host():
        places = tf.where(mask)
        shape = tf.concat([tf.shape(mask, tf.int64), [tokens.shape[-1]]], axis=0)
    scattered = tf.scatter_nd(places, tokens[: tf.shape(places)[0]], shape)
    return ensure_shape(scattered, [*mask.shape, tokens.shape[-1]])


def unique_words(words: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns distinct words <int32>[distinct, characters], and each word's number <int32>[words].

    Under XLA, which knows no number of words that depends on the data, all words are returned.
    """
    if is_jit_compiled():
        return words, tf.range(tf.shape(words)[0])
    return tf.raw_ops.UniqueV2(x=words, axis=[0])


def pad_length(x: tf.Tensor) -> tf.Tensor:
    """Pads [batch, length, ...] with 0 or False to a multiple of `LENGTH_MULTIPLE`."""
    x = tf.convert_to_tensor(x)
    more = surplus(tf.shape(x)[1], LENGTH_MULTIPLE)
    return tf.pad(x, [[0, 0], [0, more], *[[0, 0]] * (x.shape.rank - 2)])


def surplus(size: tf.Tensor, multiple: int) -> tf.Tensor:
    """Returns the distance to the next multiple; in ONNX, `-size % multiple` would be different."""
    return (multiple - size % multiple) % multiple
