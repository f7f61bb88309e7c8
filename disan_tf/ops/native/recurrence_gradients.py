"""The first and second derivatives of the native recurrence.

The operation returns the gates of each token and the states before it, which only its gradients
use. A second derivative reaches the arguments through these outputs too; it is computed in portable
TensorFlow, token by token.
"""

import tensorflow as tf

from disan_tf.ops.native.gradients import is_used, vector_jacobian_product
from disan_tf.ops.native.runtime import operations


@tf.RegisterGradient("DisanRecurrence")
def _recurrence(operation, upstream, *saved_upstreams):
    """Returns the gradients of the inputs."""
    product, bias, mask, kernel = operation.inputs
    _, gates, old_h, old_c = operation.outputs
    options = _options(operation)
    exact = operations().disan_recurrence_gradient(
        upstream, mask, tf.transpose(kernel), gates, old_c, **options
    )
    units, wide = kernel.shape
    rows = tf.reshape(exact, [-1, wide])
    to_kernel = tf.matmul(tf.reshape(old_h, [-1, units]), rows, transpose_a=True)
    _, to_bias = operations().disan_bias_activation_gradient(rows, rows, activation="linear")
    gradients = [tf.cast(exact, product.dtype), to_bias, to_kernel]
    if any(map(is_used, saved_upstreams)):
        through_saved = vector_jacobian_product(
            lambda *inputs: _saved(*inputs, mask, **options),
            [product, bias, kernel],
            saved_upstreams,
        )
        gradients = [sum(pair) for pair in zip(gradients, through_saved)]
    to_product, to_bias, to_kernel = gradients
    return to_product, to_bias, None, to_kernel


@tf.RegisterGradient("DisanRecurrenceGradient")
def _recurrence_gradient(operation, upstream):
    mask = operation.inputs[1]
    options = _options(operation)
    inputs = [operation.inputs[k] for k in (0, 2, 3, 4)]
    to_upstream, *others = vector_jacobian_product(
        lambda *inputs: _product_gradient(*inputs, mask, **options), inputs, upstream
    )
    return [to_upstream, None, *others]


def _options(operation):
    return {
        "cell": operation.get_attr("cell").decode(),
        "backward": operation.get_attr("backward"),
    }


def _saved(product, bias, kernel, mask, cell, backward):
    """Computes the outputs gates, old_h and old_c of the operation."""
    sums = _sentences(tf.cast(product, tf.float32), mask) + bias
    zeros = tf.zeros([tf.shape(mask)[0], kernel.shape[0]])

    def advance(states, token):
        old_h, old_c, *_ = states
        sums, real = token
        gates, h, c = _step(sums + tf.matmul(old_h, kernel), old_c, cell)
        return tf.where(real, h, old_h), tf.where(real, c, old_c), gates, old_h, old_c

    first = (zeros, zeros, tf.zeros_like(sums[:, 0]), zeros, zeros)
    _, _, *saved = _scan(advance, (sums, mask[:, :, None]), first, backward)
    return [_rows(output, product, mask) for output in saved]


def _step(sums, c, cell):
    """Computes the gates, h and c of a token."""
    if cell == "rnn":
        h = tf.tanh(sums)
        return h, h, c
    i, j, f, o = tf.split(sums, 4, axis=-1)
    i, j, f, o = tf.sigmoid(i), tf.tanh(j), tf.sigmoid(f + 1.0), tf.sigmoid(o)
    c = f * c + i * j
    return tf.concat([i, j, f, o], axis=-1), o * tf.tanh(c), c


def _product_gradient(upstream, transposed, gates, old_c, mask, cell, backward):
    """Computes the output of the operation's gradient."""
    inputs = tf.cast(upstream, tf.float32), _sentences(gates, mask), _sentences(old_c, mask)
    zeros = tf.zeros([tf.shape(mask)[0], transposed.shape[1]])

    def advance(states, token):
        to_h, to_c, _ = states
        upstream, gates, old_c, real = token
        to_sums, to_old_c = _step_gradient(to_h + upstream, to_c, gates, old_c, cell)
        to_old_h = tf.matmul(to_sums, transposed)
        return tf.where(real, to_old_h, to_h), tf.where(real, to_old_c, to_c), to_sums

    first = (zeros, zeros, tf.zeros_like(inputs[1][:, 0]))
    *_, to_sums = _scan(advance, (*inputs, mask[:, :, None]), first, not backward)
    return _rows(to_sums, gates, mask)


def _step_gradient(to_h, to_c, gates, old_c, cell):
    """Computes the gradients of a token's sums and of c before it."""
    if cell == "rnn":
        return to_h * (1.0 - tf.square(gates)), to_c
    i, j, f, o = tf.split(gates, 4, axis=-1)
    tanh = tf.tanh(f * old_c + i * j)
    to_c += to_h * o * (1.0 - tf.square(tanh))
    to_sums = [
        to_c * j * i * (1.0 - i),
        to_c * i * (1.0 - tf.square(j)),
        to_c * old_c * f * (1.0 - f),
        to_h * tanh * o * (1.0 - o),
    ]
    return tf.concat(to_sums, axis=-1), to_c * f


def _scan(advance, tokens, first, reverse):
    """Calls `advance` for one token after another; tokens and results are [batch, length, ...]."""
    tokens = [tf.transpose(tensor, [1, 0, 2]) for tensor in tokens]
    results = tf.scan(advance, tuple(tokens), first, reverse=reverse)
    return [tf.transpose(result, [1, 0, 2]) for result in results]


def _sentences(rows, mask):
    """Returns [batch, length, dim], 0 on padding; `rows` may be those of the real tokens."""
    if rows.shape.rank == 3:
        return tf.where(mask[:, :, None], rows, 0.0)
    places = tf.where(mask)
    shape = tf.concat([tf.shape(mask, tf.int64), [rows.shape[-1]]], axis=0)
    return tf.scatter_nd(places, rows[: tf.shape(places)[0]], shape)


def _rows(sentences, like, mask):
    """Returns [batch, length, dim] in the layout of `like`, with 0 on padding."""
    if like.shape.rank == 3:
        return tf.where(mask[:, :, None], sentences, 0.0)
    tokens = tf.gather_nd(sentences, tf.where(mask))
    return tf.pad(tokens, [[0, tf.shape(like)[0] - tf.shape(tokens)[0]], [0, 0]])
