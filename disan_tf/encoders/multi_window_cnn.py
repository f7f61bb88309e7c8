"""Convolutions with several widths, then the maximum over the tokens: a baseline."""

from collections.abc import Sequence

import tensorflow as tf

from disan_tf.common.options import check_at_least, check_widths
from disan_tf.encoders.base import SentenceEncoder
from disan_tf.layers.children import build_child
from disan_tf.layers.convolution.convolution import Convolution
from disan_tf.layers.masks import token_mask
from disan_tf.layers.serialization import serializable
from disan_tf.ops.elementwise import copies


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

    Call arguments:
      x: <float>[batch, length, dim], word vectors.
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      The sentence vector, <float>[batch, len(windows) * units]; exactly 0 for a sentence without
      tokens.

    Raises:
      ValueError: no windows, a window of less than one token, or fewer than one unit.

    Example:
      >>> MultiWindowCNNEncoder(units=3)(tf.ones([2, 5, 8]), mask=tf.ones([2, 5], tf.bool)).shape
      TensorShape([2, 9])
    """

    def __init__(self, windows: Sequence[int] = (3, 4, 5), units: int = 200, **kwargs):
        super().__init__(**kwargs)
        self.windows = check_widths("windows", windows)
        self.units = check_at_least("units", units, 1)

    def build(self, input_shape):
        self.input_dropout = self.add_dropout("input_dropout")
        self.convolutions = [self._add_convolution(width, input_shape) for width in self.windows]
        super().build(input_shape)

    def _add_convolution(self, width, input_shape):
        options = {**self.child_options(f"window_{width}"), "dropout": 0.0}
        convolution = Convolution(self.units, width, self.activation, **options)
        return build_child(convolution, input_shape)

    def output_size(self, dim):
        return len(self.windows) * self.units

    def call(self, x, mask=None, training=None):
        mask = token_mask(x, mask)
        maps = self._maps(x, mask, training)
        largest = tf.reduce_max(maps, axis=1)
        return tf.where(
            tf.reduce_any(mask, axis=1, keepdims=True), largest, tf.zeros([], maps.dtype)
        )

    def attend(self, x, mask=None):
        """Finds the tokens at which the feature maps have their maxima, without dropout.

        Returns:
          "maximum" <float32>[batch, length, len(windows) * units]: 1 at the first token with the
          maximum of a map, 0 elsewhere.
        """
        mask = token_mask(x, mask)
        winner = tf.argmax(tf.cast(self._maps(x, mask), tf.float32), axis=1)
        weights = tf.one_hot(winner, tf.shape(x)[1], axis=1)
        return {"maximum": tf.where(tf.expand_dims(mask, -1), weights, 0.0)}

    def _maps(self, x, mask, training=None):
        """Computes c, <float>[batch, length, len(windows) * units]; the lowest float on padding."""
        x = self.input_dropout(x, training=training)
        maps = tf.concat(
            [
                convolution(copy, mask=mask, training=training)
                for convolution, copy in zip(self.convolutions, copies(x, len(self.windows)))
            ],
            axis=-1,
        )
        return tf.where(tf.expand_dims(mask, -1), maps, maps.dtype.min)
