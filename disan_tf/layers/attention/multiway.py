"""Multiway co-attention: the contexts of several attention functions, combined by a BiLSTM."""

from collections.abc import Sequence
from typing import Any, Literal, Optional

import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.layers.attention.pair import (
    BilinearAttention,
    ConcatenationAttention,
    CosineAttention,
    DotAttention,
    MinusAttention,
)
from disan_tf.layers.base import BaseLayer, LayerOptions
from disan_tf.layers.keras_layer import output_shape
from disan_tf.layers.linear import shared_conversions
from disan_tf.layers.recurrent import BasicLSTM
from disan_tf.layers.serialization import PAIR_AXES, serializable
from disan_tf.layers.tokens import real_tokens, token_mask, weighted_sums
from disan_tf.ops import masked_softmax
from disan_tf.ops.tracing import on_host

FUNCTIONS = {  # by their letters in the paper's Table 1
    "B": BilinearAttention,
    "Ca": ConcatenationAttention,
    "Cs": CosineAttention,
    "D": DotAttention,
    "M": MinusAttention,
}
NAMES = {"B": "bilinear", "Ca": "concatenation", "Cs": "cosine", "D": "dot", "M": "minus"}
Aggregation = Literal["words", "functions"]


@serializable
class MultiwayCoAttention(BaseLayer):
    """Co-attention between two sentences in several ways, multiway DRCN Eq. 6.

    x = [a_1; ...; a_k]          of the contexts a of k attention functions
    a_combined = BiLSTM(x)

    An attention function has the same parameters in both directions. The BiLSTM has dim / 2 units
    in each direction, so that a_combined has the size of one context; dim must be even. Its initial
    states are 0, and it reads both sentences as one batch. The paper does not name the axis of the
    BiLSTM. A single function has no BiLSTM: a_combined is its context.

    Parameters by dimensions:

    | functions                 |       200 |     100 |
    |---|---|---|
    | B-Ca-Cs-M                 |   881,201 | 220,601 |
    | B-Ca-Cs-M along functions |   401,201 | 100,601 |
    | B-Ca-Cs-D-M               | 1,081,401 | 270,701 |
    | Cs                        |         0 |       0 |

    Args:
      functions: letters of the paper's Table 1, joined by "-" in any order: B (bilinear), Ca
        (concatenation), Cs (cosine), D (dot), M (minus).
      aggregation: "words", where the BiLSTM reads along a sentence's words, or "functions", where
        it reads the contexts of every word in the order of `functions`, and keeps the last state
        of each direction.
      l2: see `BaseLayer`; matrices are regularised, vectors and biases are not.
      dropout, seed: see `BaseLayer`; like the paper, this layer has no dropout.

    Call arguments:
      first, second: <float>[batch, length, dim] of any two lengths; finite on padding too.
      first_mask, second_mask: <bool>[batch, length], True = real token; None = all are real.
      training: has no effect here.

    Returns:
      a_combined of both sentences, <float>[batch, length, dim]; exactly 0 on padding, and if the
      other sentence has no tokens. Keras passes no masks on; give later layers the masks.

    Example:
      >>> first, second = tf.ones([2, 5, 8]), tf.ones([2, 3, 8])
      >>> [context.shape for context in MultiwayCoAttention("B-Cs")(first, second)]
      [TensorShape([2, 5, 8]), TensorShape([2, 3, 8])]
    """

    keeps_tokens = False

    def __init__(
        self,
        functions: str = "B-Ca-Cs-M",
        aggregation: Aggregation = "words",
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.letters = split_letters(functions)
        self.functions = functions
        self.aggregation = aggregation

    def build(
        self, first_shape: tf.TensorShape, second_shape: Optional[tf.TensorShape] = None
    ) -> None:
        dim = first_shape[-1]
        self.attentions = [
            self._add_part(FUNCTIONS[letter], NAMES[letter], dim) for letter in self.letters
        ]
        if len(self.attentions) > 1:
            if dim % 2:
                raise ValueError(
                    f"dim={dim} must be even, since the BiLSTM has dim / 2 units in each direction."
                )
            size = len(self.attentions) * dim if self.aggregation == "words" else dim
            self.forward = self._add_part(BasicLSTM, "forward", size, dim // 2)
            self.backward = self._add_part(BasicLSTM, "backward", size, dim // 2, backward=True)
        super().build(first_shape)

    def _add_part(self, kind: type, name: str, dim: int, *args: Any, **options: Any) -> Any:
        """Builds a sublayer without dropout, whose seed has no effect and is drawn."""
        options = {"dropout": 0.0, "seed": None, **options}
        return self.add_child(kind, name, [None, None, dim], *args, **options)

    def input_axes(self) -> dict[str, tuple[str, ...]]:
        return PAIR_AXES

    def compute_output_shape(
        self, first_shape: tf.TensorShape, second_shape: Optional[tf.TensorShape] = None
    ) -> tuple[tf.TensorShape, tf.TensorShape]:
        return output_shape(first_shape), output_shape(second_shape or first_shape)

    def call(
        self,
        first: tf.Tensor,
        second: tf.Tensor,
        first_mask: Optional[tf.Tensor] = None,
        second_mask: Optional[tf.Tensor] = None,
        training: Optional[bool] = None,
    ) -> tuple[tf.Tensor, tf.Tensor]:
        sentences = [tf.cast(sentence, self.compute_dtype) for sentence in (first, second)]
        masks = token_mask(first, first_mask), token_mask(second, second_mask)
        with shared_conversions():  # both directions have the same weights
            scores = [attention.mutual_scores(*sentences, masks) for attention in self.attentions]
        contexts = map(_contexts, zip(*scores), reversed(sentences), reversed(masks))
        with on_host():
            attending = [  # real tokens whose other sentence has tokens
                mask & tf.reduce_any(other, axis=1, keepdims=True)
                for mask, other in zip(masks, reversed(masks))
            ]
        return tuple(self._aggregate(list(contexts), attending))

    def attend(
        self,
        first: tf.Tensor,
        second: tf.Tensor,
        first_mask: Optional[tf.Tensor] = None,
        second_mask: Optional[tf.Tensor] = None,
    ) -> dict[str, tuple[tf.Tensor, tf.Tensor]]:
        """Computes the attention weights of all functions; for the arguments see `call`.

        Returns:
          name of a function -> (<float32>[batch, first length, second length], which sums to 1 over
          the second sentence, and <float32>[batch, second length, first length]).
        """
        first, second = (tf.cast(sentence, self.compute_dtype) for sentence in (first, second))
        first_mask, second_mask = token_mask(first, first_mask), token_mask(second, second_mask)
        weights = {}
        for attention in self.attentions:
            forth, back = attention.mutual_scores(first, second)
            forth = masked_softmax(forth, second_mask[:, None], axis=2)
            weights[attention.name] = forth, masked_softmax(back, first_mask[:, None], axis=2)
        return weights

    def _aggregate(self, contexts: list[tf.Tensor], masks: list[tf.Tensor]) -> list[tf.Tensor]:
        """Computes a_combined of both sentences from their x and the attending words' masks."""
        if len(self.attentions) == 1:
            pairs = zip(contexts, masks)
            return [tf.where(mask[:, :, None], x, tf.zeros([], x.dtype)) for x, mask in pairs]
        read = self._read_words if self.aggregation == "words" else self._read_functions
        return read(contexts, masks)

    def _read_words(self, contexts: list[tf.Tensor], masks: list[tf.Tensor]) -> list[tf.Tensor]:
        lengths = [tf.shape(mask)[1] for mask in masks]
        longest = tf.maximum(*lengths)
        x = [tf.pad(x, [[0, 0], [0, longest - n], [0, 0]]) for x, n in zip(contexts, lengths)]
        with on_host():
            mask = [tf.pad(mask, [[0, 0], [0, longest - n]]) for mask, n in zip(masks, lengths)]
            mask = tf.concat(mask, axis=0)
        x = real_tokens(tf.concat(x, axis=0), mask)
        states = [direction(x, mask=mask) for direction in (self.forward, self.backward)]
        first, second = tf.split(tf.concat(states, axis=-1), 2)
        return [first[:, : lengths[0]], second[:, : lengths[1]]]

    def _read_functions(self, contexts: list[tf.Tensor], masks: list[tf.Tensor]) -> list[tf.Tensor]:
        functions = len(self.attentions)
        dim = contexts[0].shape[-1] // functions
        x = tf.concat([tf.reshape(x, [-1, functions, dim]) for x in contexts], axis=0)
        with on_host():
            mask = tf.concat([tf.reshape(mask, [-1, 1]) for mask in masks], axis=0)
            mask = tf.repeat(mask, functions, axis=1)
        last = [self.forward(x, mask=mask)[:, -1], self.backward(x, mask=mask)[:, 0]]
        combined = tf.split(tf.concat(last, axis=-1), [tf.size(mask) for mask in masks])
        shapes = [[*tf.unstack(tf.shape(mask)), dim] for mask in masks]
        return [tf.reshape(tokens, shape) for tokens, shape in zip(combined, shapes)]


def split_letters(functions: str) -> list[str]:
    """Returns the letters of e.g. "B-Ca-Cs-M"; raises ValueError if one is unknown or repeated."""
    letters = functions.split("-")
    if not set(letters) <= set(FUNCTIONS) or len(set(letters)) < len(letters):
        known = ", ".join(FUNCTIONS)
        raise ValueError(f'functions={functions} must be some of {known}, joined by "-".')
    return letters


def _contexts(scores: Sequence[tf.Tensor], other: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Computes x = [a_1; ...; a_k] <float>[batch, length, k * dim], in one softmax and one product.

    Args:
      scores: e of the functions, <float32>[batch, length, other length].
      other: the other sentence, <float>[batch, other length, dim].
      mask: mask of the other sentence, <bool>[batch, other length].
    """
    stacked = tf.stack(scores, axis=2)  # [batch, length, k, other length]
    batch, length, functions, others = tf.unstack(tf.shape(stacked))
    rows = tf.reshape(stacked, [batch, length * functions, others])
    contexts = weighted_sums(masked_softmax(rows, mask[:, None], axis=2), other)
    return tf.reshape(contexts, [batch, length, len(scores) * other.shape[-1]])
