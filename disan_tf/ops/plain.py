"""Directional attention as the paper writes it, with every tensor in sight."""

from typing import Optional

import tensorflow as tf

from disan_tf.ops.masking import masked_softmax
from disan_tf.ops.pairs import admissible_pairs


def attention_weights(
    head: tf.Tensor,
    dependent: tf.Tensor,
    mask: tf.Tensor,
    *,
    direction: str,
    head_mask: Optional[tf.Tensor] = None,
    scale: float = 5.0,
) -> tf.Tensor:
    """p(z_k = i | x, x_j) of DiSAN Eq. 15: <float32>[batch, head, dependent, feature]."""
    head = tf.cast(head, tf.float32)[:, :, None, :]  # [batch, head, 1, feature]
    dependent = tf.cast(dependent, tf.float32)[:, None, :, :]  # [batch, 1, dependent, feature]
    logits = scale * tf.tanh((dependent + head) / scale)
    pairs = admissible_pairs(mask, direction, head_mask)
    return masked_softmax(logits, pairs[..., None], axis=2)


def plain_attention(head, dependent, value, mask, *, direction, head_mask=None, scale=5.0):
    """DiSAN Eq. 15 and 11, dense: holds several [batch, length, length, dim] tensors."""
    weights = attention_weights(
        head, dependent, mask, direction=direction, head_mask=head_mask, scale=scale
    )
    context = tf.reduce_sum(weights * tf.cast(value, tf.float32)[:, None, :, :], axis=2)
    return tf.cast(context, value.dtype)
