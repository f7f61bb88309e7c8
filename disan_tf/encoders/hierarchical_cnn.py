"""Gated convolutions in a stack, then source2token self-attention: a baseline."""

import tensorflow as tf

from disan_tf.common.options import check_at_least, check_layers
from disan_tf.encoders.base import SentenceEncoder
from disan_tf.layers.children import build_child
from disan_tf.layers.convolution.convolution import Convolution
from disan_tf.layers.masks import token_mask
from disan_tf.layers.serialization import serializable
from disan_tf.ops.elementwise import copies

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

    Call arguments:
      x: <float>[batch, length, dim], word vectors.
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      s, the sentence vector, <float>[batch, dim]; exactly 0 for a sentence without tokens.

    Raises:
      ValueError: fewer than one unit or layer, or a width under 1.

    Example:
      >>> HierarchicalCNNEncoder(3)(tf.ones([2, 5, 8]), mask=tf.ones([2, 5], tf.bool)).shape
      TensorShape([2, 8])
    """

    def __init__(self, units: int = 300, layers: int = 3, width: int = 5, **kwargs):
        super().__init__(**kwargs)
        self.units = check_at_least("units", units, 1)
        self.layers = check_layers("layers", layers)
        self.width = check_at_least("width", width, 1)

    def build(self, input_shape):
        dim = input_shape[-1]
        self.input_map = self.add_linear("input_map", dim, self.units)
        self.convolutions = [
            Convolution(2 * self.units, self.width, **self.child_options(f"convolution_{layer}"))
            for layer in range(self.layers)
        ]
        for convolution in self.convolutions:
            build_child(convolution, [None, None, self.units])
        self.output_map = self.add_linear("output_map", self.units, dim)
        self.source2token = self.add_source2token(dim)
        super().build(input_shape)

    def output_size(self, dim):
        return dim

    def call(self, x, mask=None, training=None):
        mask = token_mask(x, mask)
        u = self._states(x, mask, training)
        return self.source2token(u, mask=mask, training=training)

    def attend(self, x, mask=None):
        """Computes the weights without dropout, "source2token" <float32>[batch, length, dim]."""
        mask = token_mask(x, mask)
        return {"source2token": self.source2token.attention_weights(self._states(x, mask), mask)}

    def _states(self, x, mask, training=None):
        """Computes W2 x^L + b2, <float>[batch, length, dim]."""
        x = self.input_map(x, training=training)
        for convolution in self.convolutions:
            x, residual = copies(x, 2)
            a, b = tf.split(convolution(x, mask=mask, training=training), 2, axis=-1)
            x = RESIDUAL_SCALE * (a * tf.sigmoid(b) + residual)
        return self.output_map(x, training=training)
