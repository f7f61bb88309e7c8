"""DRCN with multiway co-attention: two sentences that read each other, layer by layer."""

from collections.abc import Sequence
from typing import Literal, Optional

import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import check_at_least, check_layers
from disan_tf.encoders.base import PairEncoder
from disan_tf.layers.attention.multiway import Aggregation, MultiwayCoAttention, split_letters
from disan_tf.layers.base import LayerOptions
from disan_tf.layers.dropout import Dropout, Positions
from disan_tf.layers.feed_forward import Bottleneck
from disan_tf.layers.hard_attention.samplers import Selections
from disan_tf.layers.keras_layer import output_shape
from disan_tf.layers.recurrent import BasicLSTM, BasicRNN, Recurrent
from disan_tf.layers.serialization import PAIR_AXES, serializable
from disan_tf.layers.tokens import pad_length, real_tokens, token_mask
from disan_tf.ops import batch_share
from disan_tf.ops.masked_softmax import boolean_mask
from disan_tf.ops.tracing import is_compiled, on_host


@serializable
class DRCN(PairEncoder):
    """Densely connected recurrent layers with co-attention between two sentences.

    The multiway DRCN paper (Au, Haran and Sandler), Sec. 3.1.2, after Kim et al. (2018). With the
    words x^1, the layers l = 1, ..., L compute, with the same weights for both sentences,

        h^l = dropout(H_l(x^l)),  a^l = co-attention of h^l to the other sentence's h^l   (Eq. 3)
        x^(l+1) = [x^l; h^l; a^l]

    H_1 is a Bi-LSTM; the others are plain recurrent layers, or Bi-LSTMs too (Kim et al.). The
    first layer's co-attention has parameters of its own, the other layers share theirs. A
    bottleneck (Kim et al.'s autoencoder) may follow each layer but the last. The sentence vector is
    the maximum over the words, feature by feature.

    100 units on 633-dimensional words: vectors of 1,833 numbers.

    Args:
      units: size of a recurrent layer, in each direction.
      layers: L.
      recurrence: kind of the layers after the first, "rnn" or "lstm" (in both directions).
      functions, aggregation: see `MultiwayCoAttention`.
      bottleneck_units: size of the bottlenecks; 0 = there are none.
      dropout, l2, seed: see `BaseLayer`; dropout acts on h^l, all matrices are regularised.

    Call arguments:
      first, second: <float>[batch, length, dim] of any two lengths, words.
      first_mask, second_mask: <bool>[batch, length], True = real token; None = all are real.
      training: whether dropout acts.

    Returns:
      The vectors of both sentences, each <float>[batch, size]; exactly 0 without tokens.
    """

    _removed = {"own_parameters": False}

    def __init__(
        self,
        units: int = 100,
        layers: int = 5,
        recurrence: Literal["rnn", "lstm"] = "rnn",
        functions: str = "Cs",
        aggregation: Aggregation = "words",
        bottleneck_units: int = 0,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.units = check_at_least("units", units, 1)
        self.layers = check_layers("layers", layers)
        self.recurrence = recurrence
        is_joined = len(split_letters(functions)) > 1  # raises ValueError for an unknown one
        if is_joined and recurrence == "rnn" and layers > 1 and units % 2:
            raise ValueError(
                f"units={units} must be even: from layer 2 on, a BiLSTM joins the functions "
                f"{functions}, with half of its units in each direction."
            )
        self.functions = functions
        self.aggregation = aggregation
        self.bottleneck_units = check_at_least("bottleneck_units", bottleneck_units, 0)

    def build(
        self, first_shape: tf.TensorShape, second_shape: Optional[tf.TensorShape] = None
    ) -> None:
        dim = first_shape[-1]
        # Keras leaves lists of lists out of weights files.
        self.forward: list[Recurrent] = []
        self.backward: list[BasicLSTM] = []
        self.dropouts: list[Dropout] = []
        self.co_attentions: list[MultiwayCoAttention] = []
        self.bottlenecks: list[Bottleneck] = []
        for layer in range(1, self.layers + 1):
            states = self._add_recurrent(layer, dim)
            self.dropouts.append(self.add_dropout(f"dropout_{layer}"))
            self.co_attentions.append(self._co_attention_of(layer, states))
            dim += 2 * states
            if self.bottleneck_units and layer < self.layers:
                shape, sizes = [None, None, dim], {"units": self.bottleneck_units, "dropout": 0.0}
                bottleneck = self.add_child(Bottleneck, f"bottleneck_{layer}", shape, **sizes)
                self.bottlenecks.append(bottleneck)
                dim = self.bottleneck_units
        super().build(first_shape)

    def input_axes(self) -> dict[str, tuple[str, ...]]:
        return PAIR_AXES

    def compute_output_shape(
        self, first_shape: tf.TensorShape, second_shape: Optional[tf.TensorShape] = None
    ) -> list[tf.TensorShape]:
        dim = first_shape[-1]
        for layer in range(1, self.layers + 1):
            directions = 1 if layer > 1 and self.recurrence == "rnn" else 2
            dim += 2 * directions * self.units
            if self.bottleneck_units and layer < self.layers:
                dim = self.bottleneck_units
        return 2 * [output_shape([first_shape[0], dim])]

    def _add_recurrent(self, layer: int, dim: int) -> int:
        """Adds H_l, and returns the size of its states."""
        shape, sizes = [None, None, dim], {"units": self.units, "dropout": 0.0}
        kind = BasicRNN if layer > 1 and self.recurrence == "rnn" else BasicLSTM
        self.forward.append(self.add_child(kind, f"forward_{layer}", shape, **sizes))
        if kind is BasicRNN:
            return self.units
        backward = self.add_child(kind, f"backward_{layer}", shape, backward=True, **sizes)
        self.backward.append(backward)
        return 2 * self.units

    def recurrent(self, layer: int) -> list:
        """Returns the directions of H_l; `layer` counts from 0."""
        return [self.forward[layer], *self.backward[layer : layer + 1]]

    def _co_attention_of(self, layer: int, dim: int) -> MultiwayCoAttention:
        """Returns the co-attention of a layer; the layers after the first share one."""
        if layer > 2:
            return self.co_attentions[1]
        shape, options = [None, None, dim], {"dropout": 0.0}
        functions = self.functions, self.aggregation
        name = f"co_attention_{layer}"
        return self.add_child(MultiwayCoAttention, name, shape, *functions, **options)

    def call(
        self,
        first: tf.Tensor,
        second: tf.Tensor,
        first_mask: Optional[tf.Tensor] = None,
        second_mask: Optional[tf.Tensor] = None,
        training: Optional[bool] = None,
    ) -> list[tf.Tensor]:
        pair = _Pair(token_mask(first, first_mask), token_mask(second, second_mask))
        x = pair.words(first, second)
        for layer in range(self.layers):
            h = self._states(layer, x, pair, training)
            a = self.co_attentions[layer](*pair.split(h), *pair.masks, training=training)
            x = self._grown(layer, x, h, pair.join(*a), pair.mask, training)
        return tf.split(_maximum(x, pair.mask), 2)

    def _states(
        self, layer: int, x: tf.Tensor, pair: "_Pair", training: Optional[bool] = None
    ) -> tf.Tensor:
        """Computes both sentences' h <float>[2 * batch, length, units] of x <float>[rows, dim]."""
        directions = self.recurrent(layer)
        states = [direction(x, mask=pair.mask, training=training) for direction in directions]
        states = tf.concat(states, axis=-1)
        return self.dropouts[layer](states, training=training, places=pair.places)

    def _grown(
        self,
        layer: int,
        x: tf.Tensor,
        h: tf.Tensor,
        a: tf.Tensor,
        mask: tf.Tensor,
        training: Optional[bool] = None,
    ) -> tf.Tensor:
        """Computes the next layer's x <float>[rows, dim], Eq. 3."""
        x = tf.concat([x, real_tokens(h, mask), real_tokens(a, mask)], axis=-1)
        if layer < len(self.bottlenecks):
            real = _real_rows(x, mask)[None]  # all tokens as one sentence
            x = self.bottlenecks[layer](x[None], mask=real, training=training)[0]
        return x

    def encode_pair(
        self,
        first: tf.Tensor,
        second: tf.Tensor,
        first_mask: tf.Tensor,
        second_mask: tf.Tensor,
        selections: Optional[Selections] = None,
        training: Optional[bool] = None,
    ) -> Sequence[tf.Tensor]:
        return self(first, second, first_mask, second_mask, training=training)

    def attend_pair(
        self, first: tf.Tensor, second: tf.Tensor, first_mask: tf.Tensor, second_mask: tf.Tensor
    ) -> list[dict[str, tf.Tensor]]:
        """Computes the co-attention weights between the words of both sentences.

        For each sentence they are "<function>_<layer>" <float32>[batch, own length, other length,
        1], with layers from 1, and sum to 1 over the other sentence.
        """
        first, second = (tf.cast(sentence, self.compute_dtype) for sentence in (first, second))
        pair = _Pair(first_mask, second_mask)
        of_both: list[dict[str, tf.Tensor]] = [{}, {}]
        x = pair.words(first, second)
        for number, co_attention in enumerate(self.co_attentions):
            h = self._states(number, x, pair)
            sentences = (*pair.split(h), *pair.masks)
            for function, both in co_attention.attend(*sentences).items():
                for tensors, weights in zip(of_both, _cut(both, first, second)):
                    tensors[f"{function}_{number + 1}"] = weights[:, :, :, None]
            x = self._grown(number, x, h, pair.join(*co_attention(*sentences)), pair.mask)
        return of_both


class _Pair:
    """Two batches of sentences, padded and joined: recurrent layers run once for both.

    Attributes:
      masks: masks of both batches, <bool>[batch, length], padded by `pad_length`.
      mask: mask of the joined batch, <bool>[2 * batch, longer length].
      places: see `Dropout`.
    """

    def __init__(self, first_mask: tf.Tensor, second_mask: tf.Tensor) -> None:
        with on_host():
            self.masks = tuple(pad_length(boolean_mask(mask)) for mask in (first_mask, second_mask))
            self.mask = self.join(*(mask[:, :, None] for mask in self.masks))[:, :, 0]
        self.places = _places(tf.shape(self.mask)[1])

    def words(self, first: tf.Tensor, second: tf.Tensor) -> tf.Tensor:
        """Joins both batches <float>[batch, length, dim] into tokens <float>[rows, dim]."""
        second = tf.cast(second, first.dtype)  # Keras casts only the first argument
        return real_tokens(self.join(pad_length(first), pad_length(second)), self.mask)

    def join(self, first: tf.Tensor, second: tf.Tensor) -> tf.Tensor:
        """Joins both <...>[batch, length, dim] into [2 * batch, longer length, dim]."""
        lengths = [tf.shape(mask)[1] for mask in self.masks]
        surpluses = [tf.maximum(*lengths) - length for length in lengths]
        padded = (tf.pad(x, [[0, 0], [0, n], [0, 0]]) for x, n in zip((first, second), surpluses))
        return tf.concat(list(padded), axis=0)

    def split(self, joined: tf.Tensor) -> list[tf.Tensor]:
        """Splits a joined tensor into both batches, with the lengths of the masks."""
        pairs = zip(tf.split(joined, 2), self.masks)
        return [half[:, : tf.shape(mask)[1]] for half, mask in pairs]


def _places(length: tf.Tensor) -> Optional[Positions]:
    """Returns the joined tokens' `Positions` in a shared batch, first sentences before second."""
    share = batch_share.current()
    if share is None:
        return None
    first = share.first + tf.range(share.rows)
    rows = tf.concat([first, share.batch + first], axis=0)
    return Positions(rows[:, None] * length + tf.range(length), 2 * share.batch * length)


def _cut(weights: tf.Tensor, first: tf.Tensor, second: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Cuts our added padding off the weights between both sentences' words."""
    lengths = [tf.shape(sentence)[1] for sentence in (first, second)]
    forth, back = weights
    return forth[:, : lengths[0], : lengths[1]], back[:, : lengths[1], : lengths[0]]


def _real_rows(x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Returns which rows of `real_tokens` are tokens, <bool>[rows]."""
    if is_compiled():
        return tf.reshape(mask, [-1])
    rows = tf.shape(x)[0]
    with on_host():
        tokens = tf.math.count_nonzero(mask, dtype=tf.int32)
        return tf.sequence_mask(tokens, rows)


def _maximum(x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Computes the maximum over each sentence's real tokens, per feature; 0 without tokens.

    x is <float>[rows, dim], see `real_tokens`; the result is <float>[batch, dim].
    """
    if is_compiled():
        x = tf.reshape(x, tf.concat([tf.shape(mask), [x.shape[-1]]], axis=0))
        largest = tf.reduce_max(tf.where(mask[:, :, None], x, x.dtype.min), axis=1)
        return tf.where(tf.reduce_any(mask, axis=1, keepdims=True), largest, tf.zeros([], x.dtype))
    rows = tf.shape(x)[0]
    with on_host():
        sentences = tf.where(mask)[:, 0]
        surplus = tf.fill([rows - tf.shape(sentences)[0]], tf.constant(-1, tf.int64))
        numbers = tf.concat([sentences, surplus], axis=0)  # no sentence has number -1
    largest = tf.math.unsorted_segment_max(x, numbers, tf.shape(mask)[0])
    return tf.where(tf.reduce_any(mask, axis=1, keepdims=True), largest, tf.zeros([], x.dtype))
