"""Recurrent layers as one native operation for all steps of a batch."""

import tensorflow as tf

from disan_tf.ops.native import runtime


def recurrence(
    product: tf.Tensor, mask: tf.Tensor, kernel: tf.Tensor, *, cell: str, backward: bool
) -> tf.Tensor:
    """h of each token; where the mask is False the states stay as they were and h is 0.

    "lstm": [i; j; f; o] = product_t + h_(t-1) kernel, c_t = sigmoid(f + 1) * c_(t-1) + sigmoid(i) *
    tanh(j), h_t = sigmoid(o) * tanh(c_t); "rnn": h_t = tanh(product_t + h_(t-1) kernel). A sigmoid
    is within 1e-7 and a tanh within 2e-7 of the exact ones.

    It needs native operations. The kernel's gradient is one product for all steps.

    Args:
      product: <float32>[batch, length, gates * units], W x + b of each token.
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


@tf.RegisterGradient("DisanRecurrence")
def _gradient(operation, upstream, *_):
    """Of the product and the kernel; the other outputs are only for this function."""
    _, mask, kernel = operation.inputs
    _, gates, old_h, old_c = operation.outputs
    product_gradient = runtime.operations().disan_recurrence_gradient(
        upstream, mask, tf.transpose(kernel), gates, old_c,
        cell=operation.get_attr("cell"), backward=operation.get_attr("backward"),
    )  # fmt: skip
    units, wide = kernel.shape
    rows = tf.reshape(product_gradient, [-1, wide])
    kernel_gradient = tf.matmul(tf.reshape(old_h, [-1, units]), rows, transpose_a=True)
    return product_gradient, None, kernel_gradient
