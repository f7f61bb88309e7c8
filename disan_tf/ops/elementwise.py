"""Operations between matrix products, as one native pass over memory or portable TensorFlow.

If every arithmetic operation reads and writes its tensors, a training step spends about as long on
these operations as on the products. Both forms agree to rounding.
"""

from typing import Callable, NamedTuple

import tensorflow as tf

from disan_tf.ops.masked_softmax import masked_softmax
from disan_tf.ops.native import runtime

_ACTIVATIONS = {
    tf.keras.activations.linear: "linear",
    tf.keras.activations.elu: "elu",
    tf.keras.activations.relu: "relu",
}


class LeakyReLU(NamedTuple):
    """The activation x where x > 0, else slope * x, with a slope above 0."""

    slope: float

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return tf.nn.leaky_relu(x, self.slope)


def copies(x: tf.Tensor, number: int) -> list[tf.Tensor]:
    """Returns one tensor `number` times; adds the gradients in one pass.

    TensorFlow itself adds the gradients of a tensor with several uses entry by entry in bfloat16
    (measured: a twelfth of a training step).
    """
    x = tf.convert_to_tensor(x)
    if _is_native(x):
        return runtime.operations().disan_copies(x, N=number)
    return [x] * number


def bias_activation(x: tf.Tensor, bias: tf.Tensor, activation: Callable) -> tf.Tensor:
    """Computes activation(x + bias), for x <float>[..., dim] and bias <float>[dim].

    The activation is one of Keras, or `LeakyReLU`.
    """
    x = tf.convert_to_tensor(x)
    bias = tf.cast(bias, x.dtype)
    is_leaky = isinstance(activation, LeakyReLU)
    name = "leaky_relu" if is_leaky else _ACTIVATIONS.get(activation)
    if name and _is_native(x):
        slope = activation.slope if is_leaky else 0.0
        return runtime.operations().disan_bias_activation(x, bias, activation=name, slope=slope)
    return activation(x + bias)


def fusion_gate(
    token: tf.Tensor,
    context: tf.Tensor,
    bias: tf.Tensor,
    h: tf.Tensor,
    s: tf.Tensor,
    mask: tf.Tensor,
) -> tf.Tensor:
    """Computes F * h + (1 - F) * s with F = sigmoid(token + context + bias), DiSAN Eq. 19 and 20.

    `token` and `context` are W2 h and W1 s, <float>[batch, length, dim] as h and s. Where the mask
    <bool>[batch, length] is False the result is exactly 0 and no input gets a gradient (in the
    portable form, provided that all inputs are finite there).
    """
    token, context, bias, h, s, mask = map(tf.convert_to_tensor, (token, context, bias, h, s, mask))
    if _is_native(h):
        u, _ = runtime.operations().disan_fusion_gate(token, context, bias, h, s, mask)
        return u
    gate = tf.sigmoid(token + context + bias)
    return tf.where(tf.expand_dims(mask, -1), gate * h + (1.0 - gate) * s, tf.zeros([], h.dtype))


def softmax_pool(logits: tf.Tensor, x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Computes sum_i softmax_i(logits) * x_i over the tokens, per feature, DiSAN Eq. 9 and 13.

    The arithmetic is at least float32, for logits and x <float>[batch, length, dim]. The result
    <float>[batch, dim] has the dtype of x; a sentence without tokens gives exactly 0.
    """
    logits, x, mask = map(tf.convert_to_tensor, (logits, x, mask))
    if _is_native(x):
        return runtime.operations().disan_softmax_pool(logits, x, mask)
    weights = masked_softmax(logits, tf.expand_dims(mask, -1), axis=1)
    real = tf.where(tf.expand_dims(mask, -1), tf.cast(x, weights.dtype), 0.0)  # 0 times NaN is NaN
    # With `keepdims`, the gradient needs no shape that a GPU would compute and the host would read.
    pooled = tf.squeeze(tf.reduce_sum(weights * real, axis=1, keepdims=True), axis=1)
    return tf.cast(pooled, x.dtype)


def _is_native(x):
    return runtime.is_used() and x.dtype in runtime.DTYPES
