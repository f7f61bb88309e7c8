"""Encoders with one kind of attention on the word vectors: baselines of DiSAN's Table 1."""

from typing import Optional

import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import check_at_least
from disan_tf.encoders.base import EncoderOptions, SentenceEncoder
from disan_tf.layers.attention.multi_head import MultiHeadSelfAttention, positional_encoding
from disan_tf.layers.attention.token_attention import AdditiveSelfAttention
from disan_tf.layers.serialization import serializable
from disan_tf.layers.tokens import token_mask
from disan_tf.ops.masked_softmax import wide_dtype


@serializable
class AdditiveEncoder(SentenceEncoder):
    """`AdditiveSelfAttention` on the word vectors, the first baseline of DiSAN's Table 1.

    300 units on 300-dimensional vectors: 90,600 parameters.

    Args:
      units: size of the attention's hidden layer; None = the size of x.
      activation: activation of the hidden layer.
      attention_form, dropout, l2, seed: see `SentenceEncoder`.

    Returns:
      The sentence vector, <float>[batch, dim].
    """

    def __init__(self, units: Optional[int] = None, **kwargs: Unpack[EncoderOptions]) -> None:
        super().__init__(**kwargs)
        self.units = check_at_least("units", units, 1)

    def build(self, input_shape: tf.TensorShape) -> None:
        options = {"units": self.units, "activation": self.activation}
        self.attention = self.add_child(AdditiveSelfAttention, "attention", input_shape, **options)
        super().build(input_shape)

    def output_size(self, dim: int) -> int:
        return dim

    def call(
        self, x: tf.Tensor, mask: Optional[tf.Tensor] = None, training: Optional[bool] = None
    ) -> tf.Tensor:
        return self.attention(x, mask=mask, training=training)

    def attend(self, x: tf.Tensor, mask: Optional[tf.Tensor] = None) -> dict[str, tf.Tensor]:
        """Computes the weights without dropout, "attention" <float32>[batch, length, 1]."""
        mask = token_mask(x, mask)
        return {"attention": self.attention.attention_weights(x, mask)}


@serializable
class Source2TokenEncoder(SentenceEncoder):
    """`Source2Token` on the word vectors, the second baseline of DiSAN's Table 1.

    300-dimensional vectors: 180,600 parameters.

    Args:
      activation: activation of Eq. 12.
      attention_form, dropout, l2, seed: see `SentenceEncoder`.

    Returns:
      The sentence vector, <float>[batch, dim].
    """

    def build(self, input_shape: tf.TensorShape) -> None:
        self.source2token = self.add_source2token(input_shape[-1])
        super().build(input_shape)

    def output_size(self, dim: int) -> int:
        return dim

    def call(
        self, x: tf.Tensor, mask: Optional[tf.Tensor] = None, training: Optional[bool] = None
    ) -> tf.Tensor:
        return self.source2token(x, mask=mask, training=training)

    def attend(self, x: tf.Tensor, mask: Optional[tf.Tensor] = None) -> dict[str, tf.Tensor]:
        """Computes the weights without dropout, "source2token" <float32>[batch, length, dim]."""
        mask = token_mask(x, mask)
        return {"source2token": self.source2token.attention_weights(x, mask)}


@serializable
class MultiHeadEncoder(SentenceEncoder):
    """`MultiHeadSelfAttention`, then `Source2Token`, the third baseline of DiSAN's Table 1.

    Positional encodings are added to the word vectors; the sum is 0 on padding. 8 heads of 75 units
    on 300-dimensional vectors: 1,261,200 parameters.

    Args:
      heads: number of heads.
      units: size of a head.
      activation: activation of source2token; the heads have none.
      attention_form, dropout, l2, seed: see `SentenceEncoder`.

    Returns:
      The sentence vector, <float>[batch, heads * units].
    """

    def __init__(self, heads: int = 8, units: int = 75, **kwargs: Unpack[EncoderOptions]) -> None:
        super().__init__(**kwargs)
        self.heads = check_at_least("heads", heads, 1)
        self.units = check_at_least("units", units, 1)

    def build(self, input_shape: tf.TensorShape) -> None:
        sizes = self.heads, self.units
        self.attention = self.add_child(MultiHeadSelfAttention, "attention", input_shape, *sizes)
        self.source2token = self.add_source2token(self.heads * self.units)
        super().build(input_shape)

    def output_size(self, dim: int) -> int:
        return self.heads * self.units

    def call(
        self, x: tf.Tensor, mask: Optional[tf.Tensor] = None, training: Optional[bool] = None
    ) -> tf.Tensor:
        mask = token_mask(x, mask)
        u = self.attention(_with_positions(x, mask), mask=mask, training=training)
        return self.source2token(u, mask=mask, training=training)

    def attend(self, x: tf.Tensor, mask: Optional[tf.Tensor] = None) -> dict[str, tf.Tensor]:
        """Computes the attention weights without dropout.

        They are "attention" <float32>[batch, head token, dependent token, heads] and "source2token"
        <float32>[batch, length, heads * units].
        """
        mask = token_mask(x, mask)
        x = _with_positions(x, mask)
        u = self.attention(x, mask=mask)
        return {
            "attention": self.attention.attention_weights(x, mask),
            "source2token": self.source2token.attention_weights(u, mask),
        }


def _with_positions(x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Adds positional encodings to x, <float>[batch, length, dim]; 0 on padding.

    The first real token has position 0, wherever the padding stands.
    """
    encoding = positional_encoding(tf.shape(x)[1], x.shape[-1], wide_dtype(x.dtype))
    encoding = tf.cast(encoding, x.dtype)
    places = tf.cumsum(tf.cast(mask, tf.int32), axis=1, exclusive=True)
    positions = tf.gather(encoding, places)
    return tf.where(tf.expand_dims(mask, -1), x + positions, tf.zeros([], x.dtype))
