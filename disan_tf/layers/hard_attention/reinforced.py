"""Reinforced self-attention (ReSA): hard attention chooses what soft attention looks at."""

from typing import NamedTuple, Optional

import tensorflow as tf

from disan_tf.layers.base import BaseLayer
from disan_tf.layers.dropout import site_seed
from disan_tf.layers.hard_attention.iterative import IterativeSequenceSampling
from disan_tf.layers.hard_attention.sampling import ReinforcedSequenceSampling, counts
from disan_tf.layers.hard_attention.selective import SelectiveSelfAttention, check_unselected
from disan_tf.layers.packing import packed_mask
from disan_tf.ops.elementwise import copies

SAMPLERS = {"parallel": ReinforcedSequenceSampling, "iterative": IterativeSequenceSampling}
_SIDES = ("forward", "backward")


class Selections(NamedTuple):
    """What the samplers of a sentence encoder chose, for each direction.

    Attributes:
      heads: two <bool>[batch, length], tokens that receive context: forward, backward.
      dependents: two <bool>[batch, length], tokens that are attended to.
      log_probability: <float32>[batch], of all choices together; 0 where there was no choice.
      head_fraction: <float32>[batch], share of the real tokens, mean of both directions.
      dependent_fraction: <float32>[batch].
    """

    heads: tuple
    dependents: tuple
    log_probability: tf.Tensor
    head_fraction: tf.Tensor
    dependent_fraction: tf.Tensor


def merge_selections(heads, dependents, mask: tf.Tensor) -> Selections:
    """`Selections` of samplers' selections.

    Args:
      heads: a `Selection` for each direction; one object in several places is one choice.
      dependents: a `Selection` for each direction.
      mask: <bool>[batch, length], True = real token.
    """
    distinct = {id(each): each for each in [*heads, *dependents]}.values()
    return Selections(
        heads=tuple(each.selected for each in heads),
        dependents=tuple(each.selected for each in dependents),
        log_probability=tf.add_n([each.log_probability for each in distinct]),
        head_fraction=_fraction(heads, mask),
        dependent_fraction=_fraction(dependents, mask),
    )


def _fraction(selections, mask):
    chosen = [tf.reduce_sum(tf.cast(each.selected, tf.float32), axis=1) for each in selections]
    return tf.add_n(chosen) / (len(chosen) * counts(mask))


class ReinforcedSelfAttention(BaseLayer):
    """ReSA: two samplers and an attention block in each direction, ReSAN Eq. 8 to 15.

    One sampler chooses the heads (8), another one the dependents (9), both from x; a forward and a
    backward `SelectiveSelfAttention` join them, and the output is [u_fw; u_bw].

    Args:
      units: of each block, and of the samplers; None = the size of x.
      activation: of blocks and samplers.
      unselected: see `SelectiveSelfAttention`.
      shared: whether one sampler serves heads and dependents ("without dependency restriction").
      sampling: "parallel" (`ReinforcedSequenceSampling`) or "iterative"
        (`IterativeSequenceSampling`, with samplers of its own for each direction).
      attention_form: form of `disan_tf.ops.directional_attention`.
      dropout, l2, seed: see `BaseLayer`.

    Call arguments:
      x: <float>[batch, length, dim].
      mask: <bool>[batch, length], True = real token.
      selections: of `select`; None = greedy ones.
      training: whether dropout acts.

    Returns:
      [u_fw; u_bw] <float>[batch, length, 2 * units], and its mask <bool>[batch, length]. The
      length is the greatest number of selected heads where the others are dropped.

    Raises:
      ValueError: an unknown `unselected` or `sampling`, or heads dropped that were chosen for each
        direction apart.
    """

    def __init__(
        self, units: Optional[int] = None, activation="relu", unselected: str = "mean",
        shared: bool = False, sampling: str = "parallel", attention_form: str = "auto", **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        check_hard_attention(unselected, sampling)
        self.units = units
        self.activation = tf.keras.activations.get(activation)
        self.unselected = unselected
        self.shared = shared
        self.sampling = sampling
        self.attention_form = attention_form

    def build(self, input_shape):
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

    def _child(self, layer_class, name, input_shape, **options):
        shared = {"dropout": self.dropout, "l2": self.l2, "dtype": self.dtype_policy}
        layer = layer_class(
            self.units, activation=self.activation, seed=site_seed(self.seed, name), name=name,
            **shared, **options,
        )  # fmt: skip
        layer.build(input_shape)
        return layer

    def _sampler_options(self):
        """The samplers' names and what is their own."""
        kinds = ("head",) if self.shared else ("head", "dependent")
        if self.sampling == "parallel":
            return {kind: {} for kind in kinds}
        return {f"{side}_{kind}": {"backward": side == "backward"}
                for side in _SIDES for kind in kinds}  # fmt: skip

    def select(self, x, mask, how: str, training=None) -> Selections:
        """Chooses heads and dependents, see `Sampler.select`."""
        chosen = {
            name: sampler.select(x, mask, how, training) for name, sampler in self.samplers.items()
        }

        def both(kind):
            return [chosen.get(f"{side}_{kind}", chosen.get(kind)) for side in _SIDES]

        heads = both("head")
        return merge_selections(heads, heads if self.shared else both("dependent"), mask)

    def call(self, x, mask, selections=None, training=None):
        if selections is None:
            selections = self.select(x, mask, "greedy", training)
        parts = [
            block(each, mask, heads, dependents, training=training)
            for block, each, heads, dependents in zip(
                (self.forward_block, self.backward_block), copies(x, 2),
                selections.heads, selections.dependents,
            )
        ]  # fmt: skip
        mask = packed_mask(selections.heads[0]) if self.unselected == "drop" else mask
        return tf.concat(parts, axis=-1), mask

    def attend(self, x, mask):
        """What greedy selections and the blocks look at, without dropout.

        Returns:
          A dictionary: "forward_attention" and "backward_attention" <float32>[batch, head,
          dependent, units], "forward_gate" and "backward_gate" <float32>[batch, length, units],
          "selected_heads" and "selected_dependents" <float32>[batch, length, 1], 1 where a token
          was chosen (iterative sampling: the last axis is forward, backward), "output" <float>
          and "mask" <bool>[batch, length], the tokens that were not dropped.
        """
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

    def get_config(self):
        config = {
            "units": self.units,
            "activation": tf.keras.activations.serialize(self.activation),
            "unselected": self.unselected,
            "shared": self.shared,
            "sampling": self.sampling,
            "attention_form": self.attention_form,
        }
        return {**super().get_config(), **config}


def check_hard_attention(unselected: str, sampling: str) -> None:
    """Raises ValueError for values that do not exist, or that do not go together."""
    check_unselected(unselected)
    if sampling not in SAMPLERS:
        raise ValueError(f"sampling={sampling!r}; choose {' or '.join(SAMPLERS)}.")
    if sampling == "iterative" and unselected == "drop":
        raise ValueError(
            f"unselected={unselected!r}; with iterative sampling each direction has its heads."
        )


def _as_features(selected):
    """A feature for each distinct choice, <float32>[batch, length, 1 or 2]."""
    distinct = {id(each): each for each in selected}.values()
    return tf.stack([tf.cast(each, tf.float32) for each in distinct], axis=-1)
