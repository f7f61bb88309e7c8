"""Gated convolutions on top of each other with source2token self-attention, a baseline."""

import tensorflow as tf

from disan_tf.encoders.base import SentenceEncoder
from disan_tf.layers.convolution.convolution import Convolution
from disan_tf.ops.elementwise import copies

RESIDUAL_SCALE = 0.5**0.5  # halves the variance of a sum, Gehring et al. section 3.5


class HierarchicalCNNEncoder(SentenceEncoder):
    """The encoder of Gehring et al. (2017), "Convolutional Sequence to Sequence Learning".

    x^0 = W1 x + b1
    [a; b] = convolution(x^(l-1)),  x^l = sqrt(0.5) * (a * sigmoid(b) + x^(l-1)) at each layer l
    u = W2 x^L + b2,  s = source2token(u)

    where x^(l-1) is 0 on padding as the convolution sees it, and W2 leads back to the size of x.
    A baseline of ReSAN's Table 1, which says "3-layer 300D CNN with kernel length 5", gated linear
    units, residual connections and 3.4m parameters. These fit it more or less, with 300 units, on
    300-dimensional vectors and with the head for language inference:

    | 3,063,003 | the convolutions alone, and the mean of the tokens |
    | 3,243,603 | and source2token instead of the mean |
    | 3,424,203 | and the maps W1 and W2, as Gehring et al. have: the one that is built here |

    The authors' code for BiBloSAN, whose paper has the same row, is the second. It has a relu
    before the gate, no residual connection around the first convolution, and no sqrt(0.5); this
    encoder follows Gehring et al.

    Left out of Gehring et al., because ReSAN names none: position embeddings, weight
    normalisation, their initialisation, and the scaling of the encoder's gradients. W2's input is
    dropped too, as that of every map of this package.

    Args:
      units: size of x^l.
      layers: number of convolutions, L.
      width: tokens in a window.
      activation: of source2token (the authors' code: relu).
      attention_form, dropout, l2, seed: see `SentenceEncoder`.

    Call arguments:
      x: <float>[batch, length, dim], word vectors.
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      The sentence's vector, <float>[batch, dim].

    Raises:
      ValueError: a width under 1.
    """

    def __init__(self, units: int = 300, layers: int = 3, width: int = 5, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.layers = layers
        self.width = width

    def build(self, input_shape):
        dim = input_shape[-1]
        self.input_map = self.add_linear("input_map", dim, self.units)
        self.convolutions = [
            Convolution(2 * self.units, self.width, **self.child_options(f"convolution_{layer}"))
            for layer in range(self.layers)
        ]
        for convolution in self.convolutions:
            convolution.build([None, None, self.units])
        self.output_map = self.add_linear("output_map", self.units, dim)
        self.source2token = self.add_source2token(dim)
        super().build(input_shape)

    def call(self, x, mask, training=None):
        u = self._states(x, mask, training)
        return self.source2token(u, mask=mask, training=training)

    def attend(self, x, mask):
        """Weights without dropout, "source2token" <float32>[batch, length, dim]."""
        return {"source2token": self.source2token.weights_of(self._states(x, mask), mask)}

    def _states(self, x, mask, training=None):
        """u, <float>[batch, length, dim]."""
        x = self.input_map(x, training=training)
        for convolution in self.convolutions:
            x, residual = copies(x, 2)
            a, b = tf.split(convolution(x, mask=mask, training=training), 2, axis=-1)
            x = RESIDUAL_SCALE * (a * tf.sigmoid(b) + residual)
        return self.output_map(x, training=training)

    def get_config(self):
        config = {"units": self.units, "layers": self.layers, "width": self.width}
        return {**super().get_config(), **config}
