"""The gradients of the native operations; importing the package `disan_tf.ops.native` adds them."""

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


@tf.RegisterGradient("DisanApplyMask")
def _apply_mask(operation, upstream):
    _, bits = operation.inputs
    factor = operation.get_attr("factor")
    return [operations().disan_apply_mask(upstream, bits, factor=factor), None]


@tf.RegisterGradient("DisanCopies")
def _copies(_, *upstreams):
    return operations().disan_sum(upstreams)


@tf.RegisterGradient("DisanSum")
def _sum(operation, upstream):
    return operations().disan_copies(upstream, N=len(operation.inputs))


@tf.RegisterGradient("DisanBiasActivation")
def _bias_activation(operation, upstream):
    return operations().disan_bias_activation_gradient(
        upstream,
        operation.outputs[0],
        activation=operation.get_attr("activation"),
        slope=operation.get_attr("slope"),
    )


@tf.RegisterGradient("DisanFusionGate")
def _fusion_gate(operation, upstream, _):
    _, _, _, h, s, mask = operation.inputs
    _, gate = operation.outputs
    inner, to_h, to_s, to_bias = operations().disan_fusion_gate_gradient(upstream, gate, h, s, mask)
    return [inner, inner, to_bias, to_h, to_s, None]


@tf.RegisterGradient("DisanSoftmaxPool")
def _softmax_pool(operation, upstream):
    return [*operations().disan_softmax_pool_gradient(*operation.inputs, upstream), None]


@tf.RegisterGradient("DisanAdditiveScores")
def _additive_scores(operation, upstream):
    return operations().disan_additive_scores_gradient(*operation.inputs, upstream)


@tf.RegisterGradient("DisanRecurrence")
def _recurrence(operation, upstream, *_):
    product, _, mask, kernel = operation.inputs
    _, gates, old_h, old_c = operation.outputs
    options = {name: operation.get_attr(name) for name in ("cell", "backward")}
    exact = operations().disan_recurrence_gradient(
        upstream, mask, tf.transpose(kernel), gates, old_c, **options
    )
    units, wide = kernel.shape
    rows = tf.reshape(exact, [-1, wide])
    to_kernel = tf.matmul(tf.reshape(old_h, [-1, units]), rows, transpose_a=True)
    _, to_bias = operations().disan_bias_activation_gradient(rows, rows, activation="linear")
    return tf.cast(exact, product.dtype), to_bias, None, to_kernel


def _refuse(operation, *_):
    """Raises NotImplementedError for a second derivative; forward mode needs it too."""
    raise NotImplementedError(
        f"{operation.type} has no derivative; compute second derivatives, and derivatives in "
        "forward mode (tf.autodiff.ForwardAccumulator), inside `with disan_tf.ops.portable():`."
    )


for _name in (
    *("DirectionalAttention", "BiasActivation", "FusionGate"),
    *("SoftmaxPool", "AdditiveScores", "Recurrence"),
):
    tf.RegisterGradient(f"Disan{_name}Gradient")(_refuse)
