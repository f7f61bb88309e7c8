"""DiSAN, a sentence encoder that consists of attention alone."""

from collections.abc import Sequence
from typing import Optional

import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import check_at_least
from disan_tf.encoders.base import EncoderOptions, SentenceEncoder
from disan_tf.layers.attention.directional import DirectionalSelfAttention
from disan_tf.layers.serialization import serializable
from disan_tf.layers.tokens import token_mask
from disan_tf.ops.elementwise import copies
from disan_tf.ops.masked_softmax import Direction


@serializable
class DiSAN(SentenceEncoder):
    """Directional Self-Attention Network, DiSAN Sec. 4.

    u_fw = DiSA(x) with the forward mask                     (14, 15, 17, 19, 20)
    u_bw = DiSA(x) with the backward mask                    (14, 15, 18, 19, 20)
    s = source2token([u_fw; u_bw])                           (12, 13)

    The two `DirectionalSelfAttention` blocks share no parameters. In the paper's baseline without
    directions, both let a token attend to all others: `directions=("diagonal", "diagonal")`.

    300 units on 300-dimensional vectors: 1,624,200 parameters.

    Args:
      units: d_h of the DiSA blocks; None = the size of x.
      directions: directions of the two blocks, see `DirectionalSelfAttention`.
      activation: activation of Eq. 12 and 14.
      attention_form, dropout, l2, seed: see `SentenceEncoder`.

    Returns:
      s, the sentence vector, <float>[batch, 2 * units]; exactly 0 for a sentence without tokens.
    """

    def __init__(
        self,
        units: Optional[int] = None,
        directions: Sequence[Direction] = ("forward", "backward"),
        **kwargs: Unpack[EncoderOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.units = check_at_least("units", units, 1)
        if len(directions) != 2:
            raise ValueError(f"directions={directions} must be two, one for each block.")
        self.directions = tuple(directions)

    def build(self, input_shape: tf.TensorShape) -> None:
        dim = input_shape[-1]
        first, second = self.directions
        self.forward_block = self._block("forward", first, input_shape)
        self.backward_block = self._block("backward", second, input_shape)
        self.source2token = self.add_source2token(2 * (self.units or dim))
        super().build(input_shape)

    def _block(
        self, name: str, direction: Direction, input_shape: tf.TensorShape
    ) -> DirectionalSelfAttention:
        options = {"activation": self.activation, "attention_form": self.attention_form}
        arguments = self.units, direction
        return self.add_child(DirectionalSelfAttention, name, input_shape, *arguments, **options)

    def output_size(self, dim: int) -> int:
        return 2 * (self.units or dim)

    def call(
        self, x: tf.Tensor, mask: Optional[tf.Tensor] = None, training: Optional[bool] = None
    ) -> tf.Tensor:
        mask = token_mask(x, mask)
        x_fw, x_bw = copies(x, 2)
        u_fw = self.forward_block(x_fw, mask=mask, training=training)
        u_bw = self.backward_block(x_bw, mask=mask, training=training)
        u = tf.concat([u_fw, u_bw], axis=-1)  # [batch, length, 2 * units]
        return self.source2token(u, mask=mask, training=training)

    def attend(self, x: tf.Tensor, mask: Optional[tf.Tensor] = None) -> dict[str, tf.Tensor]:
        """Computes the attention weights and gates, without dropout.

        Returns:
          "forward_attention", "backward_attention" <float32>[batch, head, dependent, units],
          "forward_gate", "backward_gate" <float32>[batch, length, units] and "source2token"
          <float32>[batch, length, 2 * units]. If both blocks have the same direction, the
          names begin with "first" and "second" instead.
        """
        mask = token_mask(x, mask)
        first = self.forward_block.attend(x, mask)
        second = self.backward_block.attend(x, mask)
        u = tf.concat([first["output"], second["output"]], axis=-1)
        names = self.directions if len(set(self.directions)) == 2 else ("first", "second")
        blocks = list(zip(names, (first, second)))
        shown = {
            f"{name}_{it}": block[it] for it in ("attention", "gate") for name, block in blocks
        }
        return {**shown, "source2token": self.source2token.attention_weights(u, mask)}
