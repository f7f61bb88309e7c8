"""ReSAN: a sentence encoder of hard and soft attention."""

from typing import Optional

from disan_tf.encoders.base import SentenceEncoder
from disan_tf.layers.hard_attention.reinforced import ReinforcedSelfAttention, check_hard_attention


class ReSAN(SentenceEncoder):
    """Reinforced Self-Attention Network, section 3.3 of the ReSAN paper.

    `ReinforcedSelfAttention` (Eq. 8 to 15), which source2token self-attention compresses into one
    vector. 300 units on 300-dimensional vectors: 2,165,402 parameters, 541,202 of them samplers'.

    For iterative sampling the paper's Table 4 has 4.0 million parameters on SNLI. A pair of
    samplers for each direction, which we take, makes 3,970,807. A pair for both directions would
    make 3,248,405, and 4,690,805 with samplers of 600 units (4,149,605 if their states alone had
    600).

    Args:
      units, unselected, shared, sampling: see `ReinforcedSelfAttention`.
      activation: of samplers, blocks and source2token.
      attention_form, dropout, l2, seed: see `SentenceEncoder`.

    Call arguments:
      x: <float>[batch, length, dim], word vectors.
      mask: <bool>[batch, length], True = real token.
      selections: of `select`; None = greedy ones.
      training: whether dropout acts.

    Returns:
      The sentence's vector, <float>[batch, 2 * units]; 0 where all heads are dropped.

    Raises:
      ValueError: see `ReinforcedSelfAttention`.
    """

    def __init__(
        self, units: Optional[int] = None, unselected: str = "mean", shared: bool = False,
        sampling: str = "parallel", **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        check_hard_attention(unselected, sampling)
        self.units = units
        self.unselected = unselected
        self.shared = shared
        self.sampling = sampling

    def build(self, input_shape):
        self.attention = ReinforcedSelfAttention(
            self.units, self.activation, self.unselected, self.shared, self.sampling,
            self.attention_form, **self.child_options("attention"),
        )  # fmt: skip
        self.attention.build(input_shape)
        self.source2token = self.add_source2token(2 * (self.units or input_shape[-1]))
        super().build(input_shape)

    @property
    def samplers(self):
        return list(self.attention.samplers.values())

    def select(self, x, mask, how, training=None):
        return self.attention.select(x, mask, how, training)

    def call(self, x, mask, selections=None, training=None):
        u, mask = self.attention(x, mask, selections=selections, training=training)
        return self.source2token(u, mask=mask, training=training)

    def attend(self, x, mask):
        """What the encoder looks at with greedy selections, without dropout.

        Returns:
          The tensors of `ReinforcedSelfAttention.attend` but "output" and "mask", and
          "source2token" <float32>[batch, length, 2 * units].
        """
        tensors = self.attention.attend(x, mask)
        u, mask = tensors.pop("output"), tensors.pop("mask")
        return {**tensors, "source2token": self.source2token.weights_of(u, mask)}

    def get_config(self):
        config = {
            "units": self.units,
            "unselected": self.unselected,
            "shared": self.shared,
            "sampling": self.sampling,
        }
        return {**super().get_config(), **config}
