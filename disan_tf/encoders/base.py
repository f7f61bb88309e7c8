"""The base classes of encoders for sentences and for sentence pairs."""

from collections.abc import Sequence
from typing import Optional

import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.layers.attention.token_attention import Source2Token
from disan_tf.layers.base import BaseLayer, LayerOptions
from disan_tf.layers.hard_attention.samplers import Selections
from disan_tf.layers.keras_layer import Activation, activation_of
from disan_tf.layers.linear import shared_conversions
from disan_tf.ops.directional_attention import Form
from disan_tf.ops.tracing import is_jit_compiled, is_on_gpu


class PairEncoder(BaseLayer):
    """Base of encoders that give each sentence of a pair a vector, which may depend on both.

    A subclass defines `call(first, second, first_mask, second_mask, training)`, `attend_pair`, and
    `encode_pair`, which calls the layer itself, `self(first, second, ...)`: Keras then builds it.

    Args:
      dropout, l2, seed: see `BaseLayer`.
    """

    keeps_tokens = False
    samplers = ()  # layers that select tokens, with weights trained by policy gradient

    def encode_pair(
        self,
        first: tf.Tensor,
        second: tf.Tensor,
        first_mask: tf.Tensor,
        second_mask: tf.Tensor,
        selections: Optional[Selections] = None,
        training: Optional[bool] = None,
    ) -> Sequence[tf.Tensor]:
        """Computes the vectors of both sentences.

        Args:
          first, second: <float>[batch, first length, dim] and [batch, second length, dim].
          first_mask, second_mask: <bool>[batch, length], True = real token.
          selections: the result of `select` for each sentence, if the encoder has hard attention;
            None = greedy selections.
          training: whether dropout acts.

        Returns:
          Two <float>[batch, size].
        """
        raise NotImplementedError

    def attend_pair(
        self, first: tf.Tensor, second: tf.Tensor, first_mask: tf.Tensor, second_mask: tf.Tensor
    ) -> list[dict]:
        """Computes both sentences' attention tensors by name, <float32>[batch, ...], no dropout."""
        raise NotImplementedError

    def weight_vectors(self, x: tf.Tensor, mask: tf.Tensor) -> Optional[tf.Tensor]:
        """Returns the vectors with which a sentence weighs its tokens; None if there are none.

        They are <float32>[batch, iterations, attentions, units].
        """
        return None


def _is_one_batch(first: tf.Tensor, second: tf.Tensor) -> bool:
    """Returns whether both sentences make one batch: XLA would join their products on a GPU."""
    is_one = first.shape == second.shape and first.shape.is_fully_defined()
    return is_one and is_jit_compiled() and is_on_gpu()


class EncoderOptions(LayerOptions, total=False):
    """Arguments that all sentence encoders have, see `SentenceEncoder`."""

    activation: Activation
    attention_form: Form


class SentenceEncoder(PairEncoder):
    """Base of encoders that read each sentence by itself, both of a pair with the same weights.

    A subclass defines `call(x, mask, training)`, which returns the sentence vector <float>[batch,
    size], exactly 0 for a sentence without tokens, and `attend(x, mask)`, which returns named
    <float32>[batch, ...] tensors, without dropout.

    An encoder with hard attention has `samplers`, takes `selections` as an argument of its call
    (None = greedy), and has `select(x, mask, how, training)`, which returns `Selections`; see
    `Sampler.select` (`disan_tf.layers.hard_attention.samplers`).

    Args:
      activation: activation of the subclass's maps.
      attention_form: form of `disan_tf.ops.directional_attention`; encoders without a DiSA block
        ignore it.
      dropout, l2, seed: see `BaseLayer`.
    """

    def __init__(
        self,
        activation: Activation = "elu",
        attention_form: Form = "auto",
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.activation = activation_of(activation)
        self.attention_form = attention_form

    def encode(
        self,
        x: tf.Tensor,
        mask: tf.Tensor,
        selections: Optional[Selections] = None,
        training: Optional[bool] = None,
    ) -> tf.Tensor:
        """Computes the sentence vector, with `selections` if there are any."""
        chosen = {} if selections is None else {"selections": selections}
        return self(x, mask=mask, training=training, **chosen)

    def encode_pair(
        self,
        first: tf.Tensor,
        second: tf.Tensor,
        first_mask: tf.Tensor,
        second_mask: tf.Tensor,
        selections: Optional[Selections] = None,
        training: Optional[bool] = None,
    ) -> Sequence[tf.Tensor]:
        if selections is None and _is_one_batch(first, second) and not self.samplers:
            x, mask = (
                tf.concat(pair, axis=0) for pair in ((first, second), (first_mask, second_mask))
            )
            return tf.split(self.encode(x, mask, training=training), 2)
        sentences = (first, first_mask), (second, second_mask)
        with shared_conversions():
            return [
                self.encode(x, mask, chosen, training)
                for (x, mask), chosen in zip(sentences, selections or (None, None))
            ]

    def attend_pair(
        self, first: tf.Tensor, second: tf.Tensor, first_mask: tf.Tensor, second_mask: tf.Tensor
    ) -> list[dict[str, tf.Tensor]]:
        return [self.attend(first, first_mask), self.attend(second, second_mask)]

    def add_source2token(self, dim: int) -> Source2Token:
        """Builds a `Source2Token` sublayer for vectors of size `dim`."""
        return self.add_child(Source2Token, "source2token", [None, None, dim], self.activation)
