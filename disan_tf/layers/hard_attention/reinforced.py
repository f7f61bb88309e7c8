"""Reinforced self-attention (ReSA): hard attention selects the tokens that soft attention joins."""

from typing import Any, Literal, Optional

import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import check_at_least
from disan_tf.layers.base import BaseLayer, LayerOptions
from disan_tf.layers.hard_attention.samplers import (
    How,
    IterativeSequenceSampling,
    ReinforcedSequenceSampling,
    Sampler,
    Selection,
    Selections,
    merge_selections,
)
from disan_tf.layers.hard_attention.selective import SelectiveSelfAttention, Unselected
from disan_tf.layers.keras_layer import Activation, activation_of, output_shape
from disan_tf.layers.serialization import serializable
from disan_tf.layers.tokens import packed_mask, token_mask
from disan_tf.ops.directional_attention import Form
from disan_tf.ops.elementwise import copies

Sampling = Literal["parallel", "iterative"]
SAMPLERS: dict[Sampling, type[Sampler]] = {
    "parallel": ReinforcedSequenceSampling,
    "iterative": IterativeSequenceSampling,
}
_SIDES = ("forward", "backward")


@serializable
class ReinforcedSelfAttention(BaseLayer):
    """ReSA: two samplers, and an attention block in each direction, ReSAN Eq. 8 to 15.

    z^h ~ RSS(x; theta_rh)                                               (8)
    z^d ~ RSS(x; theta_rd)                                               (9)
    u_fw = SelectiveSelfAttention_fw(x, z^h, z^d)                        (10 to 15)
    u_bw = SelectiveSelfAttention_bw(x, z^h, z^d)                        (10 to 15)

    z^h selects the heads and z^d the dependents; the result is [u_fw; u_bw].

    Args:
      units: size of the blocks and the samplers; None = the size of x.
      activation: activation of blocks and samplers.
      unselected: see `SelectiveSelfAttention`; not "drop" with iterative sampling.
      shared: whether one sampler selects both heads and dependents ("ReSAN w/o dependency
        restricted").
      sampling: "parallel" (`ReinforcedSequenceSampling`) or "iterative"
        (`IterativeSequenceSampling`, with separate samplers for the two directions).
      attention_form: form of `disan_tf.ops.directional_attention`.
      dropout, l2, seed: see `BaseLayer`.

    Call arguments:
      x, mask, training: see `BaseLayer`.
      selections: result of `select`; None = greedy selections.

    Returns:
      [u_fw; u_bw], <float>[batch, length, 2 * units], and its mask <bool>[batch, length]. If
      unselected heads are dropped, length is the greatest number of selected heads.
    """

    keeps_tokens = False

    def __init__(
        self,
        units: Optional[int] = None,
        activation: Activation = "relu",
        unselected: Unselected = "mean",
        shared: bool = False,
        sampling: Sampling = "parallel",
        attention_form: Form = "auto",
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        check_hard_attention(unselected, sampling)
        self.units = check_at_least("units", units, 1)
        self.activation = activation_of(activation)
        self.unselected = unselected
        self.shared = shared
        self.sampling = sampling
        self.attention_form = attention_form

    def build(self, input_shape: tf.TensorShape) -> None:
        block = {"unselected": self.unselected, "attention_form": self.attention_form}
        self.forward_block, self.backward_block = (
            self._child(SelectiveSelfAttention, side, input_shape, direction=side, **block)
            for side in _SIDES
        )
        self.samplers = {
            name: self._child(SAMPLERS[self.sampling], f"{name}_sampler", input_shape, **options)
            for name, options in self._sampler_options().items()
        }
        super().build(input_shape)

    def _child(self, kind: type, name: str, input_shape: tf.TensorShape, **options: Any) -> Any:
        options = {"units": self.units, "activation": self.activation, **options}
        return self.add_child(kind, name, input_shape, **options)

    def _sampler_options(self) -> dict[str, dict[str, Any]]:
        """Returns sampler name -> arguments of that sampler alone."""
        kinds = ("head",) if self.shared else ("head", "dependent")
        if self.sampling == "parallel":
            return {kind: {} for kind in kinds}
        return {
            f"{side}_{kind}": {"backward": side == "backward"} for side in _SIDES for kind in kinds
        }

    def compute_output_shape(
        self, input_shape: tf.TensorShape
    ) -> tuple[tf.TensorShape, tf.TensorShape]:
        batch, length, dim = input_shape
        length = None if self.unselected == "drop" else length
        return output_shape([batch, length, 2 * (self.units or dim)]), output_shape([batch, length])

    def select(
        self, x: tf.Tensor, mask: tf.Tensor, how: How, training: Optional[bool] = None
    ) -> Selections:
        """Selects heads and dependents, Eq. 8 and 9; for `how` see `Sampler.select`."""
        mask = token_mask(x, mask)
        chosen = {
            name: sampler.select(x, mask, how, training) for name, sampler in self.samplers.items()
        }

        def both(kind: str) -> list[Selection]:
            return [chosen.get(f"{side}_{kind}", chosen.get(kind)) for side in _SIDES]

        heads = both("head")
        return merge_selections(heads, heads if self.shared else both("dependent"), mask)

    def call(
        self,
        x: tf.Tensor,
        mask: Optional[tf.Tensor] = None,
        selections: Optional[Selections] = None,
        training: Optional[bool] = None,
    ) -> tuple[tf.Tensor, tf.Tensor]:
        mask = token_mask(x, mask)
        if selections is None:
            selections = self.select(x, mask, "greedy", training)
        heads, dependents = selections.heads, selections.dependents
        x_fw, x_bw = copies(x, 2)
        u_fw = self.forward_block(x_fw, mask, heads[0], dependents[0], training=training)
        u_bw = self.backward_block(x_bw, mask, heads[1], dependents[1], training=training)
        mask = packed_mask(heads[0]) if self.unselected == "drop" else mask
        return tf.concat([u_fw, u_bw], axis=-1), mask

    def attend(self, x: tf.Tensor, mask: Optional[tf.Tensor] = None) -> dict[str, tf.Tensor]:
        """Computes greedy selections, attention weights and gates, without dropout.

        Returns:
          "forward_attention", "backward_attention" <float32>[batch, head, dependent, units];
          "forward_gate", "backward_gate" <float32>[batch, length, units]; "selected_heads",
          "selected_dependents" <float32>[batch, length, 1], 1 where a token was selected (with
          iterative sampling the last axis is forward, backward); "output" <float>[batch, length,
          2 * units]; and "mask" <bool>[batch, length], the tokens that were not dropped.
        """
        mask = token_mask(x, mask)
        selections = self.select(x, mask, "greedy")
        heads, dependents = selections.heads, selections.dependents
        forward = self.forward_block.attend(x, mask, heads[0], dependents[0])
        backward = self.backward_block.attend(x, mask, heads[1], dependents[1])
        return {
            "forward_attention": forward["attention"],
            "backward_attention": backward["attention"],
            "forward_gate": forward["gate"],
            "backward_gate": backward["gate"],
            "selected_heads": _as_features(heads),
            "selected_dependents": _as_features(dependents),
            "output": tf.concat([forward["output"], backward["output"]], axis=-1),
            "mask": heads[0] if self.unselected == "drop" else mask,
        }


def check_hard_attention(unselected: Unselected, sampling: Sampling) -> None:
    """Raises ValueError for values that exclude each other."""
    if sampling == "iterative" and unselected == "drop":
        raise ValueError(
            f"unselected={unselected} must be mean or mean_of_others with iterative sampling, in "
            "which each direction has heads of its own."
        )


def _as_features(selected: tuple) -> tf.Tensor:
    """Returns a feature for each distinct selection, <float32>[batch, length, 1 or 2]."""
    distinct = {id(mask): mask for mask in selected}.values()
    return tf.stack([tf.cast(mask, tf.float32) for mask in distinct], axis=-1)
