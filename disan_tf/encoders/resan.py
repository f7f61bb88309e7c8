"""ReSAN, a sentence encoder of hard and soft attention, and its ablation without soft attention."""

from typing import Optional

import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import check_at_least
from disan_tf.encoders.base import EncoderOptions, SentenceEncoder
from disan_tf.layers.hard_attention.reinforced import (
    ReinforcedSelfAttention,
    Sampling,
    check_hard_attention,
)
from disan_tf.layers.hard_attention.samplers import (
    How,
    ReinforcedSequenceSampling,
    Sampler,
    Selections,
    merge_selections,
)
from disan_tf.layers.hard_attention.selective import Unselected
from disan_tf.layers.serialization import serializable
from disan_tf.layers.tokens import token_mask


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
      x, mask, training: see `BaseLayer`.
      selections: result of `select`; None = greedy selections.

    Returns:
      e, the sentence vector, <float>[batch, 2 * units]; exactly 0 for a sentence without tokens, or
      if all heads are dropped.
    """

    def __init__(
        self,
        units: Optional[int] = None,
        unselected: Unselected = "mean",
        shared: bool = False,
        sampling: Sampling = "parallel",
        **kwargs: Unpack[EncoderOptions],
    ) -> None:
        super().__init__(**kwargs)
        check_hard_attention(unselected, sampling)
        self.units = check_at_least("units", units, 1)
        self.unselected = unselected
        self.shared = shared
        self.sampling = sampling

    def build(self, input_shape: tf.TensorShape) -> None:
        arguments = self.units, self.activation, self.unselected, self.shared, self.sampling
        options = {"attention_form": self.attention_form}
        self.attention = self.add_child(
            ReinforcedSelfAttention, "attention", input_shape, *arguments, **options
        )
        self.source2token = self.add_source2token(2 * (self.units or input_shape[-1]))
        super().build(input_shape)

    @property
    def samplers(self) -> list[Sampler]:
        return list(self.attention.samplers.values())

    def select(
        self, x: tf.Tensor, mask: tf.Tensor, how: How, training: Optional[bool] = None
    ) -> Selections:
        """Selects heads and dependents, see `ReinforcedSelfAttention.select`."""
        return self.attention.select(x, mask, how, training)

    def output_size(self, dim: int) -> int:
        return 2 * (self.units or dim)

    def call(
        self,
        x: tf.Tensor,
        mask: Optional[tf.Tensor] = None,
        selections: Optional[Selections] = None,
        training: Optional[bool] = None,
    ) -> tf.Tensor:
        mask = token_mask(x, mask)
        u, mask = self.attention(x, mask, selections=selections, training=training)
        return self.source2token(u, mask=mask, training=training)

    def attend(self, x: tf.Tensor, mask: Optional[tf.Tensor] = None) -> dict[str, tf.Tensor]:
        """Computes greedy selections, attention weights and gates, without dropout.

        Returns:
          The tensors of `ReinforcedSelfAttention.attend` except "output" and "mask", and
          "source2token" <float32>[batch, length, 2 * units].
        """
        mask = token_mask(x, mask)
        tensors = self.attention.attend(x, mask)
        u, mask = tensors.pop("output"), tensors.pop("mask")
        return {**tensors, "source2token": self.source2token.attention_weights(u, mask)}


@serializable
class SelectedSource2TokenEncoder(SentenceEncoder):
    """`Source2Token` on the words that RSS selects, an ablation of ReSAN's Table 2.

    300 units on 300-dimensional vectors: 451,201 parameters, of which the sampler has 270,601.

    Args:
      units: size of the sampler's hidden layer; None = the size of x.
      activation: activation of sampler and source2token.
      attention_form, dropout, l2, seed: see `SentenceEncoder`.

    Call arguments: see `ReSAN`.

    Returns:
      The sentence vector, <float>[batch, dim]; exactly 0 if no word is selected.
    """

    def __init__(self, units: Optional[int] = None, **kwargs: Unpack[EncoderOptions]) -> None:
        super().__init__(**kwargs)
        self.units = check_at_least("units", units, 1)

    def build(self, input_shape: tf.TensorShape) -> None:
        options = {"units": self.units, "activation": self.activation}
        self.sampler = self.add_child(ReinforcedSequenceSampling, "sampler", input_shape, **options)
        self.source2token = self.add_source2token(input_shape[-1])
        super().build(input_shape)

    @property
    def samplers(self) -> list[Sampler]:
        return [self.sampler]

    def select(
        self, x: tf.Tensor, mask: tf.Tensor, how: How, training: Optional[bool] = None
    ) -> Selections:
        """Selects words, which are both heads and dependents; see `Sampler.select`."""
        mask = token_mask(x, mask)
        words = self.sampler.select(x, mask, how, training)
        return merge_selections([words], [words], mask)

    def output_size(self, dim: int) -> int:
        return dim

    def call(
        self,
        x: tf.Tensor,
        mask: Optional[tf.Tensor] = None,
        selections: Optional[Selections] = None,
        training: Optional[bool] = None,
    ) -> tf.Tensor:
        mask = token_mask(x, mask)
        if selections is None:
            selections = self.select(x, mask, "greedy", training)
        return self.source2token(x, mask=selections.heads[0], training=training)

    def attend(self, x: tf.Tensor, mask: Optional[tf.Tensor] = None) -> dict[str, tf.Tensor]:
        """Computes the greedy selection and the attention weights, without dropout.

        Returns:
          "selected_words" <float32>[batch, length, 1], 1 where a word was selected, and
          "source2token" <float32>[batch, length, dim].
        """
        mask = token_mask(x, mask)
        selected = self.select(x, mask, "greedy").heads[0]
        shown = {"selected_words": tf.cast(selected, tf.float32)[:, :, None]}
        return {**shown, "source2token": self.source2token.attention_weights(x, selected)}
