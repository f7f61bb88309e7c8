"""Directional self-attention between selected tokens."""

from typing import Optional

import tensorflow as tf

from disan_tf.layers.attention.directional import DirectionalSelfAttention
from disan_tf.layers.hard_attention.sampling import counts
from disan_tf.layers.packing import pack
from disan_tf.ops import directional_attention
from disan_tf.ops.elementwise import copies

UNSELECTED = ("mean", "mean_of_others", "drop")


class SelectiveSelfAttention(DirectionalSelfAttention):
    """A DiSA block whose attention joins selected tokens alone, ReSAN Eq. 10 to 15.

    The alignment scores have a second mask, 0 where i is a selected dependent and j a selected
    head (Eq. 10, 11); so where all are selected this is `DirectionalSelfAttention`. A selected head
    without a dependent that its direction admits has s = 0.

    Args:
      unselected: what s is for a head that was not selected: "mean", the mean of h over all real
        tokens (ReSAN Sec. 3.2 and 5.3); "mean_of_others", without the token itself (the authors'
        first code); "drop": it is not in the output.
      others: see `DirectionalSelfAttention`.

    Call arguments:
      x: <float>[batch, length, dim].
      mask: <bool>[batch, length], True = real token.
      heads, dependents: <bool>[batch, length], False on padding.
      training: whether dropout acts.

    Returns:
      u <float>[batch, length, units], 0 on padding; for "drop" the selected heads alone, in their
      order, see `disan_tf.layers.packing.pack`.

    Raises:
      ValueError: an unknown `unselected`, or see `DirectionalSelfAttention`.
    """

    def __init__(self, units: Optional[int] = None, unselected: str = "mean", **kwargs):
        super().__init__(units, **kwargs)
        self.unselected = check_unselected(unselected)

    def call(self, x, mask, heads, dependents, training=None):
        h, value, head, dependent = self._project(x, training)
        h, to_mean = copies(h, 2)
        s = directional_attention(
            head, dependent, value, dependents, head_mask=heads, direction=self.direction,
            scale=self.scale, form=self.attention_form,
        )  # fmt: skip
        if self.unselected == "drop":
            h, mask = pack(h, heads)
            s, _ = pack(s, heads)
        else:
            s = tf.where(heads[:, :, None], s, self._pooled(to_mean, mask))
        return self.fusion_gate(h, s, mask=mask, training=training)  # Eq. 14, 15

    def attend(self, x, mask, heads, dependents):
        """As of `DirectionalSelfAttention`; attention is 0 outside the selected pairs.

        Every token keeps its place: heads that are dropped have output 0.
        """
        weights, h, s = self._attention_of(x, dependents, heads)
        if self.unselected == "drop":
            return {"attention": weights, **self._gated(h, s, heads)}
        s = tf.where(heads[:, :, None], s, self._pooled(h, mask))
        return {"attention": weights, **self._gated(h, s, mask)}

    def _pooled(self, h, mask):
        """Context of the heads that were not selected, <float>[batch, 1 or length, units]."""
        real = tf.where(mask[:, :, None], tf.cast(h, tf.float32), 0.0)
        total, count = tf.reduce_sum(real, axis=1, keepdims=True), counts(mask)[:, None, None]
        if self.unselected == "mean_of_others":
            total, count = total - real, tf.maximum(1.0, count - 1.0)
        return tf.cast(total / count, h.dtype)

    def get_config(self):
        return {**super().get_config(), "unselected": self.unselected}


def check_unselected(unselected: str) -> str:
    """Returns `unselected`, or raises ValueError with the known ones."""
    if unselected not in UNSELECTED:
        raise ValueError(f"unselected={unselected!r}; choose {', '.join(UNSELECTED)}.")
    return unselected
