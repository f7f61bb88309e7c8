"""ReSAN, a sentence encoder of hard and soft attention."""

from typing import Optional

from disan_tf.common.options import check_at_least
from disan_tf.encoders.base import SentenceEncoder
from disan_tf.layers.children import build_child
from disan_tf.layers.hard_attention.reinforced import ReinforcedSelfAttention, check_hard_attention
from disan_tf.layers.masks import token_mask
from disan_tf.layers.serialization import serializable


@serializable
class ReSAN(SentenceEncoder):
    """Reinforced Self-Attention Network, ReSAN Sec. 3.3.

    [u_fw; u_bw] = ReSA(x)                                   (8 to 15)
    e = source2token([u_fw; u_bw])

    with the layers `ReinforcedSelfAttention` and `Source2Token`. 300 units on 300-dimensional
    vectors: 2,165,402 parameters, of which the samplers have 541,202.

    Args:
      units, unselected, shared, sampling: see `ReinforcedSelfAttention`.
      activation: activation of samplers, blocks and source2token.
      attention_form, dropout, l2, seed: see `SentenceEncoder`.

    Call arguments:
      x: <float>[batch, length, dim], word vectors.
      mask: <bool>[batch, length], True = real token.
      selections: result of `select`; None = greedy selections.
      training: whether dropout acts.

    Returns:
      e, the sentence vector, <float>[batch, 2 * units]; exactly 0 for a sentence without tokens, or
      whose heads are all dropped.

    Raises:
      ValueError: see `ReinforcedSelfAttention`.

    Example:
      >>> ReSAN(3)(tf.ones([2, 5, 8]), mask=tf.ones([2, 5], tf.bool)).shape
      TensorShape([2, 6])
    """

    def __init__(
        self,
        units: Optional[int] = None,
        unselected: str = "mean",
        shared: bool = False,
        sampling: str = "parallel",
        **kwargs,
    ):
        super().__init__(**kwargs)
        check_hard_attention(unselected, sampling)
        self.units = check_at_least("units", units, 1)
        self.unselected = unselected
        self.shared = shared
        self.sampling = sampling

    def build(self, input_shape):
        self.attention = ReinforcedSelfAttention(
            self.units,
            self.activation,
            self.unselected,
            self.shared,
            self.sampling,
            self.attention_form,
            **self.child_options("attention"),
        )
        build_child(self.attention, input_shape)
        self.source2token = self.add_source2token(2 * (self.units or input_shape[-1]))
        super().build(input_shape)

    @property
    def samplers(self):
        return list(self.attention.samplers.values())

    def select(self, x, mask, how, training=None):
        """Selects heads and dependents, see `ReinforcedSelfAttention.select`."""
        return self.attention.select(x, mask, how, training)

    def output_size(self, dim):
        return 2 * (self.units or dim)

    def call(self, x, mask=None, selections=None, training=None):
        mask = token_mask(x, mask)
        u, mask = self.attention(x, mask, selections=selections, training=training)
        return self.source2token(u, mask=mask, training=training)

    def attend(self, x, mask=None):
        """Computes greedy selections, attention weights and gates, without dropout.

        Returns:
          The tensors of `ReinforcedSelfAttention.attend` except "output" and "mask", and
          "source2token" <float32>[batch, length, 2 * units].
        """
        mask = token_mask(x, mask)
        tensors = self.attention.attend(x, mask)
        u, mask = tensors.pop("output"), tensors.pop("mask")
        return {**tensors, "source2token": self.source2token.attention_weights(u, mask)}
