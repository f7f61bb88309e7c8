"""Directional attention for SavedModels: portable TensorFlow alone, without a custom gradient.

A process without this package can load the model. The forward pass needs O(batch * length * dim)
memory. TensorFlow derives the gradient, whose memory grows with the length's square. Short texts
are computed head by head, exactly (`disan_tf.ops.tokenwise`), with a tanh for each pair if the
heads lie far from zero; long texts in linear time, to within 1e-4 (`disan_tf.ops.interpolation`),
unless their heads lie too far apart. XLA, whose slices have fixed sizes, computes all pairs with a
tanh.
"""

import tensorflow as tf

from disan_tf.ops.direction_mask import positional_mask, selected_rows
from disan_tf.ops.interpolation import Interpolation, interpolate
from disan_tf.ops.tokenwise import is_exact, rows_of, tokens_first, tokenwise_forward
from disan_tf.ops.tracing import is_compiled

SHORTEST = 128  # number of tokens from which on interpolation is faster


def saved_attention(head, dependent, value, mask, *, direction, head_mask=None, scale=5.0):
    """Computes DiSAN Eq. 15 and 11; for the arguments see `directional_attention`."""
    if head_mask is None:
        head_mask = tf.ones_like(mask)
    inputs = selected_rows(head, dependent, value, mask, head_mask)
    chosen = head_mask[:, :, None]
    if is_compiled():
        context = _by_heads(*inputs, mask, direction, scale)
    else:
        kernel = Interpolation(tf.stop_gradient(inputs[0]), chosen, scale)
        context = tf.cond(
            kernel.is_close & (tf.shape(head)[1] >= SHORTEST),
            lambda: interpolate(kernel, *inputs, mask, direction),
            lambda: _exactly(*inputs, mask, direction, scale),
        )
    context = tf.ensure_shape(context, value.shape)
    return tf.cast(tf.where(chosen, context, 0.0), value.dtype)


def _exactly(head, dependent, value, mask, direction, scale):
    """Computes the exact context, without a tanh for a pair if the heads lie near zero."""
    inputs = (head, dependent, value, mask, direction, scale)
    return tf.cond(
        is_exact(head, scale), lambda: tokenwise_forward(*inputs)[0], lambda: _by_heads(*inputs)
    )


def _by_heads(head, dependent, value, mask, direction, scale):
    """Computes the exact context head by head, with a tanh for each pair."""
    shape = tf.shape(head)
    length, positions = shape[1], tf.range(shape[1])
    steps = tf.maximum(length, 1)  # one, with a head of zeros, for a batch without tokens
    heads, dependents = tokens_first(head * (1 / scale)), tokens_first(dependent * (1 / scale))
    heads, values = tf.pad(heads, [[0, steps - length], [0, 0]]), tokens_first(value)
    real = tokens_first(tf.broadcast_to(tf.cast(mask, tf.float32)[:, :, None], shape))

    def body(j, contexts):
        start, end = (0, None) if is_compiled() else rows_of(j, length, direction)
        tanh = tf.tanh(dependents[start:end] + tf.gather(heads, j))
        weights = tf.exp(scale * tanh) * real[start:end]  # no maximum: |tanh| <= 1
        if is_compiled() or direction == "diagonal":
            pairs = positional_mask(tf.reshape(j, [1]), positions[start:end], direction)
            weights *= tf.cast(pairs, tf.float32)[0, :, None]
        context = tf.math.divide_no_nan(
            tf.reduce_sum(weights * values[start:end], axis=0), tf.reduce_sum(weights, axis=0)
        )
        return j + 1, contexts.write(j, context)

    options = {"parallel_iterations": 1, "maximum_iterations": steps}
    arrays = (0, tf.TensorArray(tf.float32, size=steps))
    _, contexts = tf.while_loop(lambda j, _: j < steps, body, arrays, **options)
    contexts = tf.reshape(contexts.stack()[:length], tf.gather(shape, [1, 0, 2]))
    return tf.transpose(contexts, [1, 0, 2])
