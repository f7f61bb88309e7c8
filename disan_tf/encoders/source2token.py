"""Source2token self-attention on the word vectors, a baseline."""

from disan_tf.encoders.base import SentenceEncoder
from disan_tf.layers.masks import token_mask
from disan_tf.layers.serialization import serializable


@serializable
class Source2TokenEncoder(SentenceEncoder):
    """`Source2Token` on the word vectors, the second baseline of DiSAN's Table 1.

    300-dimensional vectors: 180,600 parameters.

    Args:
      activation: activation of Eq. 12.
      attention_form, dropout, l2, seed: see `SentenceEncoder`.

    Call arguments:
      x: <float>[batch, length, dim], word vectors.
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      The sentence vector, <float>[batch, dim]; exactly 0 for a sentence without tokens.

    Example:
      >>> Source2TokenEncoder()(tf.ones([2, 5, 8]), mask=tf.ones([2, 5], tf.bool)).shape
      TensorShape([2, 8])
    """

    def build(self, input_shape):
        self.source2token = self.add_source2token(input_shape[-1])
        super().build(input_shape)

    def output_size(self, dim):
        return dim

    def call(self, x, mask=None, training=None):
        return self.source2token(x, mask=mask, training=training)

    def attend(self, x, mask=None):
        """Computes the weights without dropout, "source2token" <float32>[batch, length, dim]."""
        mask = token_mask(x, mask)
        return {"source2token": self.source2token.attention_weights(x, mask)}
