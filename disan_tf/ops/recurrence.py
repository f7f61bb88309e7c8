"""A recurrent layer as one native operation for all steps of a batch.

The operation has a native form alone; the portable form is the loop of `disan_tf.layers.recurrent`.
"""

import tensorflow as tf

from disan_tf.ops.native import runtime


def recurrence(
    product: tf.Tensor, mask: tf.Tensor, kernel: tf.Tensor, *, cell: str, backward: bool
) -> tf.Tensor:
    """Returns the state h after every token; where the mask is False, states stay and h is 0.

    "lstm": [i; j; f; o] = product_t + h_(t-1) kernel, c_t = sigmoid(f + 1) * c_(t-1) + sigmoid(i) *
    tanh(j), h_t = sigmoid(o) * tanh(c_t); "rnn": h_t = tanh(product_t + h_(t-1) kernel). A sigmoid
    is within 1e-7 and a tanh within 2e-7 of the exact one. The kernel's gradient is one product for
    all steps.

    Args:
      product: <float32>[batch, length, gates * units], W x + b of every token.
      mask: <bool>[batch, length].
      kernel: <float32>[units, gates * units].
      cell: "lstm" (4 gates) or "rnn" (1).
      backward: whether the last token is read first.

    Returns:
      <float32>[batch, length, units].

    Raises:
      InvalidArgumentError: a wrong shape; the message names the argument.
    """
    h, *_ = runtime.operations().disan_recurrence(
        product, mask, kernel, cell=cell, backward=backward
    )
    return h
