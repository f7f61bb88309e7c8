"""The gradients of the native operations; importing the package `disan_tf.ops.native` adds them."""

from collections.abc import Sequence
from typing import Callable

import tensorflow as tf

from disan_tf.ops.native.runtime import operations


@tf.RegisterGradient("DisanDirectionalAttention")
def _directional_attention(operation, upstream, _exact, _denominator):
    head, dependent, value, mask, head_mask = operation.inputs
    context, exact, denominator = operation.outputs
    gradients = operations().disan_directional_attention_gradient(
        head,
        dependent,
        value,
        mask,
        head_mask,
        upstream,
        exact if value.dtype == tf.bfloat16 else context,
        denominator,
        direction=operation.get_attr("direction"),
        scale=operation.get_attr("scale"),
    )
    return [*gradients, None, None]


@tf.RegisterGradient("DisanLinearAttention")
def _linear_attention(operation, upstream, *_):
    context, exact, denominator, slope = operation.outputs
    gradients = operations().disan_linear_attention_gradient(
        *operation.inputs,
        upstream,
        exact if context.dtype == tf.bfloat16 else context,
        denominator,
        slope,
        **{
            name: operation.get_attr(name)
            for name in ("direction", "scale", "widest", "pairs_per_node")
        },
    )
    return [*gradients, None, None]


@tf.RegisterGradient("DisanApplyMask")
def _apply_mask(operation, upstream):
    _, bits = operation.inputs
    factor = operation.get_attr("factor")
    return [operations().disan_apply_mask(upstream, bits, factor=factor), None]


@tf.RegisterGradient("DisanCopies")
def _copies(_, *upstreams):
    return operations().disan_sum(upstreams)


@tf.RegisterGradient("DisanBiasActivation")
def _bias_activation(operation, upstream):
    return operations().disan_bias_activation_gradient(
        upstream,
        operation.outputs[0],
        activation=operation.get_attr("activation"),
        slope=operation.get_attr("slope"),
    )


@tf.RegisterGradient("DisanFusionGate")
def _fusion_gate(operation, upstream, gate_upstream):
    _, _, _, h, s, mask = operation.inputs
    _, gate = operation.outputs
    inner, to_h, to_s, to_bias = operations().disan_fusion_gate_gradient(upstream, gate, h, s, mask)
    if is_used(gate_upstream):
        through_gate = gate_upstream * gate * (1 - gate)
        inner += through_gate
        to_bias += tf.reduce_sum(tf.reshape(through_gate, [-1, gate.shape[-1]]), axis=0)
    return [inner, inner, to_bias, to_h, to_s, None]


@tf.RegisterGradient("DisanSoftmaxPool")
def _softmax_pool(operation, upstream):
    return [*operations().disan_softmax_pool_gradient(*operation.inputs, upstream), None]


@tf.RegisterGradient("DisanAdditiveScores")
def _additive_scores(operation, upstream):
    return operations().disan_additive_scores_gradient(*operation.inputs, upstream)


def is_used(upstream: tf.Tensor) -> bool:
    """Returns whether the upstream gradient of an output that only gradients use may differ from 0.

    It does in a second derivative. In a first one it is the zeros that TensorFlow fills in.
    """
    if tf.executing_eagerly():
        return bool(tf.reduce_any(upstream != 0))
    if upstream.op.type == "ZerosLike":
        return False
    value = tf.get_static_value(upstream)
    return value is None or bool(value.any())


def vector_jacobian_product(function: Callable, inputs: Sequence[tf.Tensor], upstreams) -> list:
    """Returns the gradients of `function(*inputs)`, which portable TensorFlow computes."""
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        outputs = function(*inputs)
    return tape.gradient(outputs, inputs, upstreams)
