"""DSA, a sentence encoder of dynamic self-attention over a densely connected CNN."""

from collections.abc import Sequence
from typing import Any, Literal, Optional

import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import (
    check_above_zero,
    check_at_least,
    check_layers,
    check_rate,
    check_widths,
)
from disan_tf.encoders.base import EncoderOptions, SentenceEncoder
from disan_tf.layers.attention.dynamic import DynamicSelfAttention, StaticSelfAttention
from disan_tf.layers.convolution import DenselyConnectedCNN
from disan_tf.layers.dropout import Dropout, site_seed
from disan_tf.layers.keras_layer import build_child
from disan_tf.layers.linear import InitScale
from disan_tf.layers.packed_rows import PackedRows
from disan_tf.layers.serialization import serializable
from disan_tf.layers.tokens import token_mask


@serializable
class DSAEncoder(SentenceEncoder):
    """Dynamic self-attention over a densely connected CNN (DSA Sec. 3, Fig. 1).

    X^c = DenselyConnectedCNN(dropout(X^0))                  (2 to 5)
    z = DynamicSelfAttention(X^c)                            (6, 7 and Algorithm 1)

    Dropout acts on the word vectors X^0, at a rate of its own, and on the results of the
    convolutions; the attention has none. A masked token between real tokens still occupies a
    position in the windows. Parameters on 300-dimensional words with one attention of
    600 units: 991,650, or 1,808,553 with the head for language inference (2,078,553 with
    `first_width=0`; the paper's 2.1m).

    Args:
      units: d_o, the size of an attention.
      attentions: m, the number of attentions in parallel.
      iterations: r, see `DynamicSelfAttention`.
      attention: "dynamic", or "static", the paper's baseline of one `StaticSelfAttention`.
      word_dropout: rate on the word vectors.
      layers, first_units, dense_units, widths, compressed_units, first_width: L, d_1, d_l, k, d_c
        and the width of h^1 (0 = k), see `DenselyConnectedCNN`.
      negative_slope: slope of every LeakyReLU.
      init_scale: see `DenselyConnectedCNN`.
      activation, attention_form, dropout, l2, seed: see `SentenceEncoder`; `dropout` is the rate of
        the convolutions, and `activation` has no effect: LeakyReLU and tanh are fixed.

    Returns:
      z, the sentence vector, <float>[batch, attentions * units].
    """

    def __init__(
        self,
        units: int = 600,
        attentions: int = 1,
        iterations: int = 2,
        attention: Literal["dynamic", "static"] = "dynamic",
        word_dropout: float = 0.3,
        layers: int = 4,
        first_units: int = 150,
        dense_units: int = 75,
        widths: Sequence[int] = (3, 5),
        compressed_units: int = 300,
        first_width: Optional[int] = 1,
        negative_slope: float = 0.01,
        init_scale: InitScale = "keep",
        **kwargs: Unpack[EncoderOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.attention_kind = attention
        if attention == "static" and attentions != 1:
            raise ValueError(f"attention=static must be a single one, and attentions={attentions}.")
        self.units = check_at_least("units", units, 1)
        self.attentions = check_at_least("attentions", attentions, 1)
        self.iterations = check_layers("iterations", iterations)
        self.word_dropout = check_rate("word_dropout", word_dropout)
        self.layers = check_layers("layers", layers)
        self.first_units = check_at_least("first_units", first_units, 1)
        self.dense_units = check_at_least("dense_units", dense_units, 1)
        self.widths = check_widths("widths", widths)
        check_layers("len(widths) * layers", layers * len(self.widths))
        self.compressed_units = check_at_least("compressed_units", compressed_units, 1)
        self.first_width = check_at_least("first_width", first_width, 0) or None
        self.negative_slope = check_above_zero("negative_slope", negative_slope)
        self.init_scale = init_scale

    def build(self, input_shape: tf.TensorShape) -> None:
        seed = site_seed(self.seed, "words")
        dropout = Dropout(self.word_dropout, seed, name="input_dropout", dtype=self.dtype_policy)
        self.input_dropout = build_child(dropout, input_shape)
        options: dict[str, Any] = {"negative_slope": self.negative_slope}
        cnn = {"first_width": self.first_width, "init_scale": self.init_scale, **options}
        sizes = self.layers, self.first_units, self.dense_units, self.widths, self.compressed_units
        self.cnn = self.add_child(DenselyConnectedCNN, "cnn", input_shape, *sizes, **cnn)
        kind: type = DynamicSelfAttention
        counts: tuple = self.units, self.attentions, self.iterations
        if self.attention_kind == "static":
            kind, counts = StaticSelfAttention, (self.units,)
        shape, options = [None, None, self.compressed_units], {**options, "dropout": 0.0}
        self.attention = self.add_child(kind, "attention", shape, *counts, **options)
        super().build(input_shape)

    def output_size(self, dim: int) -> int:
        return self.attentions * self.units

    def call(
        self, x: tf.Tensor, mask: Optional[tf.Tensor] = None, training: Optional[bool] = None
    ) -> tf.Tensor:
        mask = token_mask(x, mask)
        words = self.input_dropout(x, training=training)
        return self.attention(**self._convolve(words, mask, training), training=training)

    def _convolve(
        self, words: tf.Tensor, mask: tf.Tensor, training: Optional[bool] = None
    ) -> dict[str, Any]:
        """Computes X^c of Eq. 5, as arguments of the attention layer."""
        rows = PackedRows(mask, gap=self.cnn.reach)
        features = self.cnn(rows.pack(words), mask=rows.mask, places=rows.places, training=training)
        return {"x": rows.tokens(features), "mask": mask, "sentences": rows.sentences}

    def attend(self, x: tf.Tensor, mask: Optional[tf.Tensor] = None) -> dict[str, tf.Tensor]:
        """Computes the attention weights without dropout, see the attention layer's `attend`."""
        mask = token_mask(x, mask)
        return self.attention.attend(**self._convolve(x, mask))

    def weight_vectors(self, x: tf.Tensor, mask: tf.Tensor) -> Optional[tf.Tensor]:
        """Returns `DynamicSelfAttention.weight_vectors`; None for static attention."""
        if self.attention_kind == "static":
            return None
        return self.attention.weight_vectors(**self._convolve(x, mask))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "attention": self.attention_kind}
