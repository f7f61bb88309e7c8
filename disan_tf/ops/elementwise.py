"""What stands between the matrix products: each as one native pass over memory, or portable.

A training step spends about as long on these as on its products when every arithmetic operation
reads and writes its tensors (see `disan_tf/ops/native/fused.h`). Measured with the attention native
in both cases, at lengths 40/40 and batch 64: processor time besides the products fell from 315 to
170 ms a step in float32, from 410 to 120 ms in mixed_bfloat16. Both forms agree to rounding, and
draw the same dropout masks.
"""

from typing import Callable, NamedTuple

import tensorflow as tf

from disan_tf.ops.masked_softmax import masked_softmax
from disan_tf.ops.native import runtime

_DTYPES = (tf.float32, tf.bfloat16)
_ACTIVATIONS = {
    tf.keras.activations.linear: "linear",
    tf.keras.activations.elu: "elu",
    tf.keras.activations.relu: "relu",
}
_LEVELS = 1 << 16  # a dropout mask compares 16 random bits with the rate


class LeakyReLU(NamedTuple):
    """The activation x where x > 0, else slope * x.

    Attributes:
      slope: above 0.
    """

    slope: float

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return tf.nn.leaky_relu(x, self.slope)


def keep_mask(entries: tf.Tensor, seed: tf.Tensor, rate: float) -> tf.Tensor:
    """A dropout mask: each entry is kept with probability 1 - rate, to within 2^-17.

    Entry e is kept where the e-th 16-bit word of TensorFlow's stateless Philox stream is at least
    round(2^16 rate). The least probability is 2^-16.

    Args:
      entries: <int>[], how many.
      seed: <int64>[2].
      rate: in [0, 1).

    Returns:
      <bool>[entries], or <int64>[ceil(entries / 64)] with a bit for each entry, the lowest first.
    """
    threshold = min(round(rate * _LEVELS), _LEVELS - 1)
    if runtime.is_used():
        key, counter = tf.raw_ops.StatelessRandomGetKeyCounter(seed=seed)
        return runtime.operations().disan_keep_mask(
            tf.cast(entries, tf.int64), key, counter, threshold=threshold
        )
    words = tf.random.stateless_uniform(
        [(entries + 1) // 2], seed, minval=None, maxval=None, dtype=tf.uint32, alg="philox"
    )
    halves = tf.reshape(tf.bitcast(words, tf.uint16), [-1])[:entries]
    return tf.cast(halves, tf.int32) >= threshold


def apply_mask(x: tf.Tensor, keep: tf.Tensor, rate: float) -> tf.Tensor:
    """x / (1 - rate) where `keep` (see `keep_mask`) says so, else 0."""
    factor = 1.0 / (1.0 - rate)
    if keep.dtype != tf.bool:
        if x.dtype in _DTYPES:
            return runtime.operations().disan_apply_mask(x, keep, factor=factor)
        keep = runtime.operations().disan_apply_mask(tf.ones(tf.shape(x)), keep, factor=1.0) != 0.0
    wide = tf.cast(x, tf.float32) if x.dtype.size < 4 else x  # half precision would round `factor`
    scaled = tf.cast(wide * factor, x.dtype)
    return tf.where(tf.reshape(keep, tf.shape(x)), scaled, tf.zeros([], x.dtype))


def copies(x: tf.Tensor, number: int) -> list[tf.Tensor]:
    """`number` names of one tensor, whose gradients are added in one pass.

    TensorFlow itself adds what comes back from several uses of a tensor, in bfloat16 entry by
    entry (measured: a twelfth of a training step).
    """
    if runtime.is_used() and x.dtype in _DTYPES:
        return runtime.operations().disan_copies(x, N=number)
    return [x] * number


def bias_activation(x: tf.Tensor, bias: tf.Tensor, activation: Callable) -> tf.Tensor:
    """activation(x + bias).

    Args:
      x: <float>[..., dim].
      bias: <float>[dim].
      activation: a Keras activation, or `LeakyReLU`.
    """
    bias = tf.cast(bias, x.dtype)
    leaky = isinstance(activation, LeakyReLU)
    name = "leaky_relu" if leaky else _ACTIVATIONS.get(activation)
    if runtime.is_used() and x.dtype in _DTYPES and name:
        slope = activation.slope if leaky else 0.0
        return runtime.operations().disan_bias_activation(x, bias, activation=name, slope=slope)
    return activation(x + bias)


def fusion_gate(
    token: tf.Tensor, context: tf.Tensor, bias: tf.Tensor, h: tf.Tensor, s: tf.Tensor,
    mask: tf.Tensor,
) -> tf.Tensor:  # fmt: skip
    """F * h + (1 - F) * s with F = sigmoid(token + context + bias), DiSAN Eq. 19 and 20.

    Args:
      token, context: <float>[batch, length, dim], W2 h and W1 s.
      bias: <float>[dim].
      h, s: <float>[batch, length, dim].
      mask: <bool>[batch, length]; where it is False the result is exactly 0, and nothing gets a
        gradient (in the portable form: if all numbers there are finite).
    """
    if runtime.is_used() and h.dtype in _DTYPES:
        u, _ = runtime.operations().disan_fusion_gate(token, context, bias, h, s, mask)
        return u
    gate = tf.sigmoid(token + context + bias)
    return tf.where(mask[:, :, None], gate * h + (1.0 - gate) * s, tf.zeros([], h.dtype))


def softmax_pool(logits: tf.Tensor, x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """sum_i softmax_i(logits) * x_i over the tokens, feature by feature, DiSAN Eq. 6 and 13.

    The arithmetic is float32 for every dtype.

    Args:
      logits, x: <float>[batch, length, dim].
      mask: <bool>[batch, length]; a sentence without tokens gives exactly 0. Where it is False
        x must be finite for the portable form.

    Returns:
      <float>[batch, dim], the dtype of x.
    """
    if runtime.is_used() and x.dtype in _DTYPES:
        return runtime.operations().disan_softmax_pool(logits, x, mask)
    weights = masked_softmax(logits, mask[:, :, None], axis=1)
    return tf.cast(tf.reduce_sum(weights * tf.cast(x, tf.float32), axis=1), x.dtype)


@tf.RegisterGradient("DisanApplyMask")
def _apply_mask_gradient(operation, upstream):
    factor = operation.get_attr("factor")
    bits = operation.inputs[1]
    return [runtime.operations().disan_apply_mask(upstream, bits, factor=factor), None]


@tf.RegisterGradient("DisanCopies")
def _copies_gradient(_, *upstreams):
    return runtime.operations().disan_sum(upstreams)


@tf.RegisterGradient("DisanBiasActivation")
def _bias_activation_gradient(operation, upstream):
    return runtime.operations().disan_bias_activation_gradient(
        upstream, operation.outputs[0], activation=operation.get_attr("activation"),
        slope=operation.get_attr("slope"),
    )  # fmt: skip


@tf.RegisterGradient("DisanFusionGate")
def _fusion_gate_gradient(operation, upstream, _gate):
    h, s, mask = operation.inputs[3:]
    inner, h_gradient, s_gradient, bias = runtime.operations().disan_fusion_gate_gradient(
        upstream, operation.outputs[1], h, s, mask
    )
    return [inner, inner, bias, h_gradient, s_gradient, None]


@tf.RegisterGradient("DisanSoftmaxPool")
def _softmax_pool_gradient(operation, upstream):
    gradients = runtime.operations().disan_softmax_pool_gradient(*operation.inputs, upstream)
    return [*gradients, None]
