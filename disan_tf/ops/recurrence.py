"""A recurrent layer as one native operation for all steps of a batch.

The operation has a native form alone; the portable form is the loop of `disan_tf.layers.recurrent`.
"""

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
        units] of the `real_tokens`.
      bias: <float32>[gates * units].
      mask: <bool>[batch, length].
      kernel: <float32>[units, gates * units].
      cell: "lstm" (4 gates) or "rnn" (1).
      backward: whether the last token is read first.

    Returns:
      <float>[batch, length, units], the dtype of `product`.

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
