"""Encoders with convolutions: baselines of ReSAN's Table 1.

A masked token between real tokens still occupies a position in the convolutions' windows.
"""

from collections.abc import Sequence
from typing import Optional

import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import check_at_least, check_layers, check_widths
from disan_tf.encoders.base import EncoderOptions, SentenceEncoder
from disan_tf.layers.convolution import Convolution
from disan_tf.layers.serialization import serializable
from disan_tf.layers.tokens import token_mask
from disan_tf.ops.elementwise import copies
from disan_tf.ops.masked_softmax import at_least_float32

RESIDUAL_SCALE = 0.5**0.5  # halves the variance of a sum, Gehring et al. Sec. 3.5


@serializable
class HierarchicalCNNEncoder(SentenceEncoder):
    """The encoder of Gehring et al. (2017), "Convolutional Sequence to Sequence Learning".

    x^0 = W1 x + b1
    [a; b] = convolution(x^(l-1))                                        for l = 1, ..., L
    x^l = sqrt(0.5) * (a * sigmoid(b) + x^(l-1))
    s = source2token(W2 x^L + b2)

    The convolution reads zeros on padding, and W2 restores the size of x. A baseline of ReSAN's
    Table 1, which says "3-layer 300D CNN with kernel length 5", gated linear units and residual
    connections; `disan_tf/encoders/README.md` explains this reading. 300 units on 300-dimensional
    vectors: 3,063,000 parameters, or 3,424,203 with the head for language inference (ReSAN: 3.4m).

    Some parts of Gehring et al. are left out because ReSAN does not name them: position embeddings,
    weight normalisation, initialisation, and the scaling of the encoder's gradients. As for every
    map of this package, dropout acts on the input of W2 too.

    Args:
      units: size of x^l.
      layers: L, the number of convolutions.
      width: tokens in a window.
      activation: activation of source2token (the authors' code: relu).
      attention_form, dropout, l2, seed: see `SentenceEncoder`.

    Returns:
      s, the sentence vector, <float>[batch, dim].
    """

    def __init__(
        self, units: int = 300, layers: int = 3, width: int = 5, **kwargs: Unpack[EncoderOptions]
    ) -> None:
        super().__init__(**kwargs)
        self.units = check_at_least("units", units, 1)
        self.layers = check_layers("layers", layers)
        self.width = check_at_least("width", width, 1)

    def build(self, input_shape: tf.TensorShape) -> None:
        dim = input_shape[-1]
        self.input_map = self.add_linear("input_map", dim, self.units)
        shape, sizes = [None, None, self.units], (2 * self.units, self.width)
        self.convolutions = [
            self.add_child(Convolution, f"convolution_{layer}", shape, *sizes)
            for layer in range(self.layers)
        ]
        self.output_map = self.add_linear("output_map", self.units, dim)
        self.source2token = self.add_source2token(dim)
        super().build(input_shape)

    def output_size(self, dim: int) -> int:
        return dim

    def call(
        self, x: tf.Tensor, mask: Optional[tf.Tensor] = None, training: Optional[bool] = None
    ) -> tf.Tensor:
        mask = token_mask(x, mask)
        u = self._states(x, mask, training)
        return self.source2token(u, mask=mask, training=training)

    def attend(self, x: tf.Tensor, mask: Optional[tf.Tensor] = None) -> dict[str, tf.Tensor]:
        """Computes the weights without dropout, "source2token" <float32>[batch, length, dim]."""
        mask = token_mask(x, mask)
        return {"source2token": self.source2token.attention_weights(self._states(x, mask), mask)}

    def _states(self, x: tf.Tensor, mask: tf.Tensor, training: Optional[bool] = None) -> tf.Tensor:
        """Computes W2 x^L + b2, <float>[batch, length, dim]."""
        x = self.input_map(x, training=training)
        for convolution in self.convolutions:
            x, residual = copies(x, 2)
            a, b = tf.split(convolution(x, mask=mask, training=training), 2, axis=-1)
            x = RESIDUAL_SCALE * (a * tf.sigmoid(b) + residual)
        return self.output_map(x, training=training)


@serializable
class MultiWindowCNNEncoder(SentenceEncoder):
    """The CNN of Kim (2014), "Convolutional Neural Networks for Sentence Classification", Eq. 1-3.

    c_i = activation(w . x_(i:i+h-1) + b)                    (2)
    c = [c_1, ..., c_n], and the maximum of c                (3)

    for `units` feature maps w of every window size h, on the word vectors x (1). A baseline of
    ReSAN's Table 1, with windows of 3, 4 and 5 tokens and 200 maps for each size. On
    300-dimensional vectors: 720,600 parameters, or 1,441,803 with the head for language inference
    (ReSAN: 1.4m).

    This differs from Kim in two ways. A window is centred on every token, with zeros outside the
    sentence (Kim's windows lie inside, so a sentence shorter than a window has none). And dropout
    acts on the word vectors, with one mask for all window sizes, as in the ReSAN authors' code for
    BiBloSAN (Kim's acts on the sentence vector, where our heads have dropout too).

    Args:
      windows: sizes h, in tokens.
      units: number of feature maps per window size.
      activation: activation of the maps (Kim and the authors' code: relu).
      attention_form, dropout, l2, seed: see `SentenceEncoder`.

    Returns:
      The sentence vector, <float>[batch, len(windows) * units].
    """

    def __init__(
        self, windows: Sequence[int] = (3, 4, 5), units: int = 200, **kwargs: Unpack[EncoderOptions]
    ) -> None:
        super().__init__(**kwargs)
        self.windows = check_widths("windows", windows)
        if len({*windows}) < len(windows):
            raise ValueError(f"windows={windows} must be different sizes.")
        self.units = check_at_least("units", units, 1)

    def build(self, input_shape: tf.TensorShape) -> None:
        self.input_dropout = self.add_dropout("input_dropout")
        self.convolutions = [self._add_convolution(width, input_shape) for width in self.windows]
        super().build(input_shape)

    def _add_convolution(self, width: int, input_shape: tf.TensorShape) -> Convolution:
        arguments = self.units, width, self.activation
        return self.add_child(Convolution, f"window_{width}", input_shape, *arguments, dropout=0.0)

    def output_size(self, dim: int) -> int:
        return len(self.windows) * self.units

    def call(
        self, x: tf.Tensor, mask: Optional[tf.Tensor] = None, training: Optional[bool] = None
    ) -> tf.Tensor:
        mask = token_mask(x, mask)
        maps = self._maps(x, mask, training)
        largest = tf.reduce_max(maps, axis=1)
        some = tf.reduce_any(mask, axis=1, keepdims=True)
        return tf.where(some, largest, tf.zeros([], maps.dtype))

    def attend(self, x: tf.Tensor, mask: Optional[tf.Tensor] = None) -> dict[str, tf.Tensor]:
        """Finds the tokens at which the feature maps have their maxima, without dropout.

        Returns:
          "maximum" <float32>[batch, length, len(windows) * units]: 1 at the first token with the
          maximum of a map, 0 elsewhere.
        """
        mask = token_mask(x, mask)
        maps = at_least_float32(self._maps(x, mask))
        # `argmax` needs a token.
        maps = tf.pad(maps, [[0, 0], [0, 1], [0, 0]], constant_values=maps.dtype.min)
        winner = tf.argmax(maps, axis=1)
        weights = tf.one_hot(winner, tf.shape(x)[1], axis=1)
        return {"maximum": tf.where(tf.expand_dims(mask, -1), weights, 0.0)}

    def _maps(self, x: tf.Tensor, mask: tf.Tensor, training: Optional[bool] = None) -> tf.Tensor:
        """Computes c, <float>[batch, length, len(windows) * units]; the lowest float on padding."""
        x = self.input_dropout(x, training=training)
        pairs = zip(self.convolutions, copies(x, len(self.windows)))
        parts = [convolution(copy, mask=mask, training=training) for convolution, copy in pairs]
        maps = tf.concat(parts, axis=-1)
        return tf.where(tf.expand_dims(mask, -1), maps, maps.dtype.min)
