"""The gradients of the native gradients, in portable TensorFlow, for second derivatives.

A native gradient reads the operation's arguments, the upstream gradient and often the operation's
results, which are functions of the arguments too. If it reads all arguments, its derivatives by
them are complete, and the results get none. Otherwise (activations, the fusion gate, recurrences)
the derivatives by the results reach the arguments through the operation's first gradient.
"""

import tensorflow as tf

from disan_tf.ops.blockwise import pair_weights
from disan_tf.ops.co_attention_scores import additive_scores
from disan_tf.ops.direction_mask import admissible_pairs, selected_rows
from disan_tf.ops.elementwise import softmax_pool
from disan_tf.ops.linear_attention import SHORTEST, Interpolation, interpolate
from disan_tf.ops.native.gradients import vector_jacobian_product
from disan_tf.ops.native.runtime import operations, portable


@tf.RegisterGradient("DisanSum")
def _sum(operation, upstream):
    return operations().disan_copies(upstream, N=len(operation.inputs))


@tf.RegisterGradient("DisanDirectionalAttentionGradient")
def _directional_attention(operation, *upstreams):
    return _of_attention(operation, upstreams, _attention)


@tf.RegisterGradient("DisanLinearAttentionGradient")
def _linear_attention(operation, *upstreams):
    """Returns gradients in time linear in the length, where the portable form is linear too."""
    head, mask, scale = operation.inputs[0], operation.inputs[3], operation.get_attr("scale")
    head_mask = _head_mask(operation)[:, :, None]
    head = tf.where(head_mask, tf.cast(head, tf.float32), 0.0)
    kernel = Interpolation(tf.stop_gradient(head), head_mask, scale)

    def interpolated(*inputs, mask, direction, head_mask, scale):
        del scale  # the kernel has it
        rows = selected_rows(*inputs, mask, head_mask)
        return tf.cast(interpolate(kernel, *rows, mask, direction)[0], inputs[-1].dtype)

    # A gradient of `tf.cond` would take a minute to trace.
    *gradients, to_upstream = tf.cond(
        kernel.is_close & (tf.shape(mask)[1] >= SHORTEST),
        lambda: _present(_of_attention(operation, upstreams, interpolated)),
        lambda: _present(_of_attention(operation, upstreams, _attention)),
    )
    return [*gradients, None, None, to_upstream, *([None] * len(operation.inputs[6:]))]


@tf.RegisterGradient("DisanSoftmaxPoolGradient")
def _softmax_pool(operation, *upstreams):
    logits, x, mask, upstream = operation.inputs
    to_logits, to_x, to_upstream = _twice(
        lambda logits, x: softmax_pool(logits, x, mask), [logits, x], upstream, upstreams
    )
    return to_logits, to_x, None, to_upstream


@tf.RegisterGradient("DisanAdditiveScoresGradient")
def _additive_scores(operation, *upstreams):
    *inputs, upstream = operation.inputs
    return _twice(additive_scores, inputs, upstream, upstreams)


@tf.RegisterGradient("DisanBiasActivationGradient")
def _bias_activation(operation, to_x, to_bias):
    """Returns the gradients of the upstream gradient and of y, whose slope is a function of y."""
    upstream, y = operation.inputs
    activation, slope = operation.get_attr("activation").decode(), operation.get_attr("slope")
    to_rows = to_x + to_bias
    if activation == "linear":
        return to_rows, None
    if activation == "elu":
        below = y <= 0
        return (
            to_rows * tf.where(below, y + 1, 1),
            tf.where(below, to_rows * upstream, 0),
        )
    return to_rows * tf.where(y > 0, tf.ones([], y.dtype), slope), None  # relu has a slope of 0


@tf.RegisterGradient("DisanFusionGateGradient")
def _fusion_gate(operation, *upstreams):
    *inputs, mask = operation.inputs
    mask = mask[..., None]

    def gradients(upstream, gate, h, s):
        upstream, gate, h, s = (
            tf.where(mask, tf.cast(tensor, tf.float32), 0.0) for tensor in (upstream, gate, h, s)
        )
        to_h = upstream * gate
        to_s = upstream - to_h
        inner = to_s * gate * (h - s)
        to_bias = tf.reduce_sum(tf.reshape(inner, [-1, inner.shape[-1]]), axis=0)
        return [
            tf.cast(tensor, operation.inputs[0].dtype) for tensor in (inner, to_h, to_s, to_bias)
        ]

    return [*vector_jacobian_product(gradients, inputs, upstreams), None]


def _of_attention(operation, upstreams, form):
    """Returns the gradients of the inputs of an attention's gradient, by the function `form`."""
    head, dependent, value, mask, _, upstream, *saved = operation.inputs
    options = {
        "mask": mask,
        "direction": operation.get_attr("direction").decode(),
        "head_mask": _head_mask(operation),
        "scale": operation.get_attr("scale"),
    }
    *to_inputs, to_upstream = _twice(
        lambda *inputs: form(*inputs, **options), [head, dependent, value], upstream, upstreams
    )
    return [*to_inputs, None, None, to_upstream, *([None] * len(saved))]


def _present(gradients):
    return tuple(gradient for gradient in gradients if gradient is not None)


def _head_mask(operation):
    """Returns the mask of heads; the operation has [0, 0] if all tokens receive context."""
    mask, head_mask = operation.inputs[3:5]
    is_given = tf.reduce_all(tf.shape(head_mask) == tf.shape(mask))
    return tf.cond(is_given, lambda: head_mask, lambda: tf.ones_like(mask))


def _attention(head, dependent, value, *, mask, direction, head_mask, scale):
    """Computes DiSAN Eq. 15 and 11 densely, in float64 if the inputs are."""
    dtype = value.dtype
    head, dependent, value = (
        tf.cast(tf.where(rows[:, :, None], tensor, 0), tf.float64 if dtype.size > 4 else tf.float32)
        for tensor, rows in ((head, head_mask), (dependent, mask), (value, mask))
    )
    pairs = admissible_pairs(mask, direction, head_mask)
    _, weights = pair_weights(head[:, :, None], dependent[:, None], pairs, scale)
    context = tf.reduce_sum(weights * value[:, None], axis=2)
    return tf.cast(tf.math.divide_no_nan(context, tf.reduce_sum(weights, axis=2)), dtype)


def _twice(function, inputs, upstream, upstreams):
    """Returns the gradients, by `inputs` and `upstream`, of the gradients of `function`."""

    def gradients(*arguments):
        *inputs, upstream = arguments
        with portable():
            return vector_jacobian_product(function, inputs, upstream)

    return vector_jacobian_product(gradients, [*inputs, upstream], upstreams)
