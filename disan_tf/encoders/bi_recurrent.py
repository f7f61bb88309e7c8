"""Encoders with a recurrent layer in each direction: the baselines of DiSAN, ReSAN and DSA."""

from typing import Literal, Optional

import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import check_at_least
from disan_tf.encoders.base import EncoderOptions, SentenceEncoder
from disan_tf.layers.attention.dynamic import StaticSelfAttention
from disan_tf.layers.recurrent import BasicGRU, BasicLSTM, Recurrent
from disan_tf.layers.serialization import serializable
from disan_tf.layers.tokens import token_mask
from disan_tf.ops.elementwise import copies


class _RecurrentOptions(EncoderOptions, total=False):
    units: int


class BiRecurrentEncoder(SentenceEncoder):
    """Base of encoders with a recurrent layer in each direction, then `Source2Token`.

    A subclass creates its layers with `add_directions` in `build`, before `super().build`, and
    returns them from `directions`. A subclass that compresses the states in another way
    overrides `build_pool`, `pool` and `attend`.

    Args:
      units: size of the recurrent layers.
      activation: activation of source2token (the authors' code: relu).
      attention_form, dropout, l2, seed: see `SentenceEncoder`.

    Returns:
      The sentence vector, <float>[batch, 2 * units].
    """

    def __init__(self, units: int = 300, **kwargs: Unpack[EncoderOptions]) -> None:
        super().__init__(**kwargs)
        self.units = check_at_least("units", units, 1)

    def build(self, input_shape: tf.TensorShape) -> None:
        self.build_pool(2 * self.units)
        super().build(input_shape)

    def build_pool(self, dim: int) -> None:
        """Creates the layers of `pool`, for states of size `dim`."""
        self.source2token = self.add_source2token(dim)

    def add_directions(
        self, layer_class: type, input_shape: tf.TensorShape
    ) -> tuple[Recurrent, Recurrent]:
        """Builds two layers of a `Recurrent` subclass, which read forward and backward."""
        forward = self.add_child(layer_class, "forward", input_shape, self.units)
        options = {"units": self.units, "backward": True}
        return forward, self.add_child(layer_class, "backward", input_shape, **options)

    def directions(self) -> tuple[Recurrent, Recurrent]:
        """Returns the layers that read forward and backward."""
        raise NotImplementedError

    def output_size(self, dim: int) -> int:
        return 2 * self.units

    def call(
        self, x: tf.Tensor, mask: Optional[tf.Tensor] = None, training: Optional[bool] = None
    ) -> tf.Tensor:
        mask = token_mask(x, mask)
        return self.pool(self.states(x, mask, training), mask, training)

    def pool(
        self, states: tf.Tensor, mask: tf.Tensor, training: Optional[bool] = None
    ) -> tf.Tensor:
        """Computes the sentence vector from the states <float>[batch, length, 2 * units]."""
        return self.source2token(states, mask=mask, training=training)

    def attend(self, x: tf.Tensor, mask: Optional[tf.Tensor] = None) -> dict[str, tf.Tensor]:
        """Computes weights without dropout, "source2token" <float32>[batch, length, 2 * units]."""
        mask = token_mask(x, mask)
        return {"source2token": self.source2token.attention_weights(self.states(x, mask), mask)}

    def states(self, x: tf.Tensor, mask: tf.Tensor, training: Optional[bool] = None) -> tf.Tensor:
        """Computes [h_fw; h_bw], <float>[batch, length, 2 * units]."""
        states = [
            layer(copy, mask=mask, training=training)
            for layer, copy in zip(self.directions(), copies(x, 2))
        ]
        return tf.concat(states, axis=-1)


@serializable
class BiGRUEncoder(BiRecurrentEncoder):
    """A `BasicGRU` in each direction, then `Source2Token`, a baseline of ReSAN's Table 1.

    300 units in each direction on 300-dimensional vectors: 1,803,000 parameters, or 2,524,203 with
    the head for language inference (ReSAN: 2.5m).

    Arguments, call arguments and result: see `BiRecurrentEncoder`.
    """

    def build(self, input_shape: tf.TensorShape) -> None:
        self.forward_gru, self.backward_gru = self.add_directions(BasicGRU, input_shape)
        super().build(input_shape)

    def directions(self) -> tuple[Recurrent, Recurrent]:
        return self.forward_gru, self.backward_gru


@serializable
class BiLSTMEncoder(BiRecurrentEncoder):
    """A `BasicLSTM` in each direction, then `Source2Token`, fourth baseline of DiSAN's Table 1.

    300 units in each direction on 300-dimensional vectors: 2,163,600 parameters.

    Arguments, call arguments and result: see `BiRecurrentEncoder`.
    """

    def build(self, input_shape: tf.TensorShape) -> None:
        self.forward_lstm, self.backward_lstm = self.add_directions(BasicLSTM, input_shape)
        super().build(input_shape)

    def directions(self) -> tuple[Recurrent, Recurrent]:
        return self.forward_lstm, self.backward_lstm


@serializable
class PooledBiLSTMEncoder(BiLSTMEncoder):
    """A `BasicLSTM` in each direction, then its last states or static self-attention.

    Parameters of 300 units in each direction on 300-dimensional vectors: 1,442,400 for the last
    states, 1,803,600 for self-attention.

    Args:
      pooling: "last", [forward state of the last token; backward state of the first token], or
        "self_attention", DSA Eq. 1 on the states (`StaticSelfAttention`).
      activation: has no effect here.

    Other arguments, call arguments and result: see `BiRecurrentEncoder`.
    """

    def __init__(
        self,
        pooling: Literal["last", "self_attention"] = "last",
        **kwargs: Unpack[_RecurrentOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.pooling = pooling

    def build_pool(self, dim: int) -> None:
        if self.pooling == "self_attention":
            shape, options = [None, None, dim], {"units": None, "dropout": 0.0}
            self.self_attention = self.add_child(
                StaticSelfAttention, "self_attention", shape, **options
            )

    def pool(
        self, states: tf.Tensor, mask: tf.Tensor, training: Optional[bool] = None
    ) -> tf.Tensor:
        if self.pooling == "self_attention":
            return self.self_attention(states, mask=mask, training=training)
        ends = tf.cast(_ends(mask), states.dtype)
        forward, backward = tf.split(states, 2, axis=-1)
        last = tf.reduce_sum(forward * ends[:, :, :1], axis=1)
        first = tf.reduce_sum(backward * ends[:, :, 1:], axis=1)
        return tf.concat([last, first], axis=-1)

    def attend(self, x: tf.Tensor, mask: Optional[tf.Tensor] = None) -> dict[str, tf.Tensor]:
        """Finds the tokens that the sentence vector comes from, without dropout.

        For "self_attention" see `StaticSelfAttention.attend`; for "last" they are "ends"
        <float32>[batch, length, 2], 1 at the last token and at the first.
        """
        mask = token_mask(x, mask)
        if self.pooling == "self_attention":
            return self.self_attention.attend(self.states(x, mask), mask)
        return {"ends": tf.cast(_ends(mask), tf.float32)}


def _ends(mask: tf.Tensor) -> tf.Tensor:
    """Returns whether a token is the last and the first real token, <bool>[batch, length, 2]."""
    real = tf.cast(mask, tf.float32)  # which a GPU compares; it leaves integers to the host
    last = mask & (tf.cumsum(real, axis=1, reverse=True) == 1.0)
    first = mask & (tf.cumsum(real, axis=1) == 1.0)
    return tf.stack([last, first], axis=-1)
