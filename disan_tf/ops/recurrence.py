"""Loops over tokens, and a recurrent layer as one native operation for all steps of a batch.

The operation has a native form alone; the portable form is the loop of `disan_tf.layers.recurrent`.
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


def scan_tokens(advance: Callable, tokens: tuple, first: tuple, backward: bool) -> tuple:
    """Calls `advance` for one token after another, as `tf.scan` does.

    Args:
      advance: (states before the token, the token's tensors) -> states after it.
      tokens: tensors [length, ...], as the result: the states after each token, in their order.
      first: states before the first token that is read.
      backward: whether the last token is read first. `tf.scan` would count down, and converters to
        ONNX read such a loop wrongly.
    """
    if not backward:
        return tf.scan(advance, tokens, first)
    reversed_tokens = tuple(tf.reverse(tensor, [0]) for tensor in tokens)
    return tuple(tf.reverse(state, [0]) for state in tf.scan(advance, reversed_tokens, first))
