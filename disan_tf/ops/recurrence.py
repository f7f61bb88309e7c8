"""Loops over tokens, and recurrent layers as one native operation, or as two short loops.

`recurrence` is native, `looped_recurrence` is for GPUs; the portable form is the loop of
`disan_tf.layers.recurrent`, through which TensorFlow differentiates.
"""

from typing import Callable

import tensorflow as tf

from disan_tf.ops.native import runtime


def recurrence(
    product: tf.Tensor,
    bias: tf.Tensor,
    mask: tf.Tensor,
    kernel: tf.Tensor,
    *,
    cell: str,
    backward: bool,
) -> tf.Tensor:
    """Returns the state h after every token; where the mask is False, states stay and h is 0.

    "lstm": [i; j; f; o] = product_t + bias + h_(t-1) kernel, c_t = sigmoid(f + 1) * c_(t-1) +
    sigmoid(i) * tanh(j), h_t = sigmoid(o) * tanh(c_t); "rnn": h_t = tanh(product_t + bias + h_(t-1)
    kernel). The arithmetic is float32; a sigmoid is within 1e-7 and a tanh within 2e-7 of the exact
    one. The kernel's gradient is one product for all steps.

    Args:
      product: <float>[batch, length, gates * units], W x of every token, or <float>[rows, gates *
        units] of the `real_tokens`; the result <float>[batch, length, units] has its dtype.
      bias: <float32>[gates * units].
      mask: <bool>[batch, length].
      kernel: <float32>[units, gates * units].
      cell: "lstm" (4 gates) or "rnn" (1).
      backward: whether the last token is read first.

    Raises:
      InvalidArgumentError: a wrong shape; the message names the argument.
    """
    product = tf.convert_to_tensor(product)
    dtype = product.dtype
    if dtype not in runtime.DTYPES:
        product = tf.cast(product, tf.float32)
    h, *_ = runtime.operations().disan_recurrence(
        product, bias, mask, kernel, cell=cell, backward=backward
    )
    return tf.cast(h, dtype)


FORGET_BIAS = 1.0  # added at run time, as in BasicLSTMCell: b itself is initialised to 0


def lstm_cell(states: tuple, gates: tf.Tensor) -> tuple:
    """Returns c, h <float32>[batch, units] after a token, from those before it and [i; j; f; o]."""
    i, j, f, o = tf.split(gates, 4, axis=-1)
    c = tf.sigmoid(f + FORGET_BIAS) * states[0] + tf.sigmoid(i) * tf.tanh(j)
    return c, tf.sigmoid(o) * tf.tanh(c)


def rnn_cell(states: tuple, gates: tf.Tensor) -> tuple:
    """Returns h_t = tanh(gates) <float32>[batch, units]; `gates` contain the effect of h_(t-1)."""
    return (tf.tanh(gates),)


CELLS = {"lstm": lstm_cell, "rnn": rnn_cell}  # elementwise, from the states and the products


def looped_recurrence(
    product: tf.Tensor, real: tf.Tensor, kernel: tf.Tensor, *, cell: str, backward: bool
) -> tf.Tensor:
    """Computes h as `recurrence` does, in two loops with one product a token: for h, and backward.

    The gates of all tokens are one product from the saved states, and so is the kernel's gradient.
    TensorFlow's gradient of a loop has three products a token and saves each intermediate result.

    Args:
      product: W x_t + b, <float32>[length, batch, gates * units].
      real: the mask, <bool>[length, batch, 1].
      kernel, cell, backward: see `recurrence`.

    Returns:
      h, <float32>[length, batch, units].
    """
    compute = CELLS[cell]
    units, gates = kernel.shape
    zeros = tf.zeros([tf.shape(product)[1], units], product.dtype)
    first = (zeros,) * (2 if cell == "lstm" else 1)

    @tf.custom_gradient
    def all_states(product, kernel):
        def advance(old, token):
            product, real = token
            new = compute(old, product + tf.matmul(old[-1], kernel))
            return tuple(tf.where(real, *pair) for pair in zip(new, old))

        states = scan_tokens(advance, (product, real), first, backward)

        def gradient(upstream):
            before = [_shift(state, backward) for state in states]
            h = tf.reshape(before[-1], [-1, units])
            sums = product + tf.reshape(tf.matmul(h, kernel), tf.shape(product))

            def retreat(later, token):
                """Returns the gradients of the states before a token, and of its gates."""
                sums, real, upstream, *old = token
                of_new = [*later[:-2], later[-2] + upstream]
                with tf.GradientTape() as tape:
                    tape.watch([sums, *old])
                    new = compute(old, sums)
                options = {"output_gradients": of_new, "unconnected_gradients": "zero"}
                of_sums, *of_old = tape.gradient(new, [sums, *old], **options)
                of_sums = tf.where(real, of_sums, 0.0)
                of_old = [tf.where(real, *pair) for pair in zip(of_old, of_new)]
                of_old[-1] += tf.matmul(of_sums, kernel, transpose_b=True)
                return (*of_old, of_sums)

            steps = sums, real, upstream, *before
            last = *first, tf.zeros([tf.shape(product)[1], gates], product.dtype)
            *_, of_sums = scan_tokens(retreat, steps, last, not backward)
            return of_sums, tf.matmul(h, tf.reshape(of_sums, [-1, gates]), transpose_a=True)

        return states[-1], gradient

    return all_states(product, kernel)


def _shift(states: tf.Tensor, backward: bool) -> tf.Tensor:
    """Returns the states before each token, from the states after each token, [length, ...]."""
    first = tf.zeros_like(states[:1])
    return tf.concat([states[1:], first] if backward else [first, states[:-1]], axis=0)


def scan_tokens(advance: Callable, tokens: tuple, first: tuple, backward: bool) -> tuple:
    """Calls `advance` for one token after another, as `tf.scan` does.

    Args:
      advance: (states before the token, the token's tensors) -> states after it.
      tokens: tensors [length, ...], as the result: the states after each token, in their order;
        the length may be 0, which `tf.scan` refuses.
      first: states before the first token that is read.
      backward: whether the last token is read first. `tf.scan` would count down, and converters to
        ONNX read such a loop wrongly.
    """
    length = tf.shape(tokens[0])[0]
    tokens = tuple(
        tf.pad(tensor, [[0, tf.maximum(1 - length, 0)], *[[0, 0]] * (tensor.shape.rank - 1)])
        for tensor in tokens
    )
    if backward:
        tokens = tuple(tf.reverse(tensor, [0]) for tensor in tokens)
    states = tf.scan(advance, tokens, first)
    if backward:
        states = tuple(tf.reverse(state, [0]) for state in states)
    return tuple(state[:length] for state in states)
