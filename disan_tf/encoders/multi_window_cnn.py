"""A convolution for each of several windows and the maximum over the tokens, a baseline."""

from collections.abc import Sequence

import tensorflow as tf

from disan_tf.encoders.base import SentenceEncoder
from disan_tf.layers.convolution.convolution import Convolution
from disan_tf.ops.elementwise import copies


class MultiWindowCNNEncoder(SentenceEncoder):
    """Kim (2014), "Convolutional Neural Networks for Sentence Classification", Eq. 1 to 3.

    Each window of so many tokens has feature maps of its own; of each map the largest value over
    the sentence remains. A baseline of ReSAN's Table 1: windows of 3, 4 and 5 tokens, 200 maps
    each. On 300-dimensional vectors: 720,600 parameters, with the head for language inference
    1,441,803 (ReSAN: 1.4m).

    Differences from Kim: a window stands around each token, with zeros outside the sentence (his
    lie inside, so a sentence shorter than a window would have none); and dropout, with one mask
    for all windows, acts on the word vectors, as in ReSAN's authors' code for BiBloSAN (his acts
    on the sentence's vector, where our heads have it too).

    Args:
      windows: tokens in each.
      units: feature maps of each.
      activation: of the maps (Kim and the authors' code: relu).
      attention_form, dropout, l2, seed: see `SentenceEncoder`.

    Call arguments:
      x: <float>[batch, length, dim], word vectors.
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      The sentence's vector, <float>[batch, len(windows) * units]; exactly 0 for a sentence without
      tokens.

    Raises:
      ValueError: no windows, or one under 1.
    """

    def __init__(self, windows: Sequence[int] = (3, 4, 5), units: int = 200, **kwargs):
        super().__init__(**kwargs)
        if not windows:
            raise ValueError(f"windows={windows!r}; name the tokens of at least one window.")
        self.windows = tuple(windows)
        self.units = units

    def build(self, input_shape):
        self.input_dropout = self.add_dropout("input_dropout")
        self.convolutions = [self._add_convolution(width) for width in self.windows]
        for convolution in self.convolutions:
            convolution.build(input_shape)
        super().build(input_shape)

    def _add_convolution(self, width):
        options = {**self.child_options(f"window_{width}"), "dropout": 0.0}
        return Convolution(self.units, width, self.activation, **options)

    def call(self, x, mask, training=None):
        maps = self._maps(x, mask, training)
        largest = tf.reduce_max(maps, axis=1)
        return tf.where(tf.reduce_any(mask, axis=1)[:, None], largest, tf.zeros([], maps.dtype))

    def attend(self, x, mask):
        """Which token, the first of equals, has the largest value of each map, without dropout.

        Returns:
          "maximum" <float32>[batch, length, len(windows) * units]: 1 at that token, 0 elsewhere.
        """
        winner = tf.argmax(tf.cast(self._maps(x, mask), tf.float32), axis=1)
        weights = tf.one_hot(winner, tf.shape(x)[1], axis=1)
        return {"maximum": tf.where(mask[:, :, None], weights, 0.0)}

    def _maps(self, x, mask, training=None):
        """Every feature map, <float>[batch, length, len(windows) * units]; lowest on padding."""
        x = self.input_dropout(x, training=training)
        maps = tf.concat(
            [
                convolution(copy, mask=mask, training=training)
                for convolution, copy in zip(self.convolutions, copies(x, len(self.windows)))
            ],
            axis=-1,
        )
        return tf.where(mask[:, :, None], maps, maps.dtype.min)

    def get_config(self):
        return {**super().get_config(), "windows": list(self.windows), "units": self.units}
