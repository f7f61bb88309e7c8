"""Directional self-attention between selected tokens."""

from typing import Literal, Optional

import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.layers.attention.directional import DirectionalSelfAttention
from disan_tf.layers.base import LayerOptions
from disan_tf.layers.keras_layer import Activation, output_shape
from disan_tf.layers.serialization import serializable
from disan_tf.layers.tokens import pack, token_counts, token_mask
from disan_tf.ops.directional_attention import Form
from disan_tf.ops.elementwise import copies
from disan_tf.ops.masked_softmax import Direction, at_least_float32, boolean_mask

Unselected = Literal["mean", "mean_of_others", "drop"]


class _BlockOptions(LayerOptions, total=False):
    direction: Direction
    activation: Activation
    scale: float
    attention_form: Form


@serializable
class SelectiveSelfAttention(DirectionalSelfAttention):
    """A DiSA block in which selected heads attend to selected dependents, ReSAN Eq. 10 to 15.

    M^rss_ij = 0 if the dependent i and the head j are selected,
               else minus infinity                                       (10)
    f^rss(h_i, h_j) = f(h_i, h_j) + M^rss_ij                             (11)
    s_j = sum_i softmax_i(f^rss(h_i, h_j)) * h_i                         (12, 13)
    u = F * h + (1 - F) * s, F = sigmoid(W_f1 s + W_f2 h + b_f)          (14, 15)

    with h and f of `DirectionalSelfAttention`; the two layers are equal if all tokens are selected.
    A selected head without a dependent that its direction admits has s = 0.

    Args:
      units: d_h; None = the size of x.
      unselected: s of a head that is not selected: "mean", the mean of h over all real tokens
        (ReSAN Sec. 3.2 and 5.3); "mean_of_others", the mean without the token itself (the authors'
        first code); or "drop", where such a head is left out of the output.
      direction, activation, scale, attention_form, dropout, l2, seed: see
        `DirectionalSelfAttention`.

    Call arguments:
      x, mask, training: see `BaseLayer`.
      heads, dependents: <bool>[batch, length], True = selected; False on padding.

    Returns:
      u, <float>[batch, length, units], 0 on padding; for "drop" only the selected heads, in
      their order, see `disan_tf.layers.tokens.pack`.
    """

    def __init__(
        self,
        units: Optional[int] = None,
        unselected: Unselected = "mean",
        **kwargs: Unpack[_BlockOptions],
    ) -> None:
        super().__init__(units, **kwargs)
        self.unselected = unselected
        self.keeps_tokens = self.unselected != "drop"

    def input_axes(self) -> dict[str, tuple[str, ...]]:
        tokens = "batch", "length"
        return {"x": (*tokens, "dim"), "heads": tokens, "dependents": tokens}

    def compute_output_shape(self, input_shape: tf.TensorShape) -> tf.TensorShape:
        batch, length, dim = input_shape
        length = None if self.unselected == "drop" else length
        return output_shape([batch, length, self.output_size(dim)])

    def call(
        self,
        x: tf.Tensor,
        mask: Optional[tf.Tensor],
        heads: tf.Tensor,
        dependents: tf.Tensor,
        training: Optional[bool] = None,
    ) -> tf.Tensor:
        mask, heads, dependents = token_mask(x, mask), *map(boolean_mask, (heads, dependents))
        h, value, head, dependent = self._project(x, training)
        h, to_mean = copies(h, 2)
        s = self._attend_to(head, dependent, value, dependents, heads)  # Eq. 10 to 13
        if self.unselected == "drop":
            h, mask = pack(h, heads)
            s, _ = pack(s, heads)
        else:
            s = tf.where(tf.expand_dims(heads, -1), s, self._mean_context(to_mean, mask))
        return self.fusion_gate(h, s, mask=mask, training=training)  # Eq. 14, 15

    def attend(
        self, x: tf.Tensor, mask: Optional[tf.Tensor], heads: tf.Tensor, dependents: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """Computes the same as in `DirectionalSelfAttention`; attention is 0 for unselected pairs.

        All tokens keep their positions: a dropped head has output 0.
        """
        mask, heads, dependents = token_mask(x, mask), *map(boolean_mask, (heads, dependents))
        weights, h, s = self._soft_attention(x, dependents, heads)
        if self.unselected == "drop":
            return {"attention": weights, **self._gated(h, s, heads)}
        s = tf.where(tf.expand_dims(heads, -1), s, self._mean_context(h, mask))
        return {"attention": weights, **self._gated(h, s, mask)}

    def _mean_context(self, h: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        """Computes s of the unselected heads, <float>[batch, 1 or length, units]."""
        real = tf.where(tf.expand_dims(mask, -1), at_least_float32(h), 0.0)
        total = tf.reduce_sum(real, axis=1, keepdims=True)
        count = tf.cast(tf.reshape(token_counts(mask), [-1, 1, 1]), total.dtype)
        if self.unselected == "mean_of_others":
            total, count = total - real, tf.maximum(1.0, count - 1.0)
        return tf.cast(total / count, h.dtype)
