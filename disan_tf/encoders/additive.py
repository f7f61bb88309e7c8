"""Additive attention on the word vectors, a baseline."""

from typing import Optional

from disan_tf.encoders.base import SentenceEncoder
from disan_tf.layers.attention.additive import AdditiveSelfAttention
from disan_tf.layers.children import build_child
from disan_tf.layers.masks import token_mask
from disan_tf.layers.serialization import serializable


@serializable
class AdditiveEncoder(SentenceEncoder):
    """`AdditiveSelfAttention` on the word vectors, the first baseline of DiSAN's Table 1.

    300 units on 300-dimensional vectors: 90,600 parameters.

    Args:
      units: size of the attention's hidden layer; None = the size of x.
      activation: activation of the hidden layer.
      attention_form, dropout, l2, seed: see `SentenceEncoder`.

    Call arguments:
      x: <float>[batch, length, dim], word vectors.
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      The sentence vector, <float>[batch, dim]; exactly 0 for a sentence without tokens.

    Example:
      >>> AdditiveEncoder()(tf.ones([2, 5, 8]), mask=tf.ones([2, 5], tf.bool)).shape
      TensorShape([2, 8])
    """

    def __init__(self, units: Optional[int] = None, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        options = self.child_options("attention")
        attention = AdditiveSelfAttention(self.units, self.activation, **options)
        self.attention = build_child(attention, input_shape)
        super().build(input_shape)

    def output_size(self, dim):
        return dim

    def call(self, x, mask=None, training=None):
        return self.attention(x, mask=mask, training=training)

    def attend(self, x, mask=None):
        """Computes the weights without dropout, "attention" <float32>[batch, length, 1]."""
        mask = token_mask(x, mask)
        return {"attention": self.attention.attention_weights(x, mask)}
