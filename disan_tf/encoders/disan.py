"""DiSAN: a sentence encoder made of attention only."""

from typing import Optional

import tensorflow as tf

from disan_tf.encoders.base import SentenceEncoder
from disan_tf.layers.attention.directional import DirectionalSelfAttention
from disan_tf.ops.direction_mask import check_direction
from disan_tf.ops.elementwise import copies


class DiSAN(SentenceEncoder):
    """Directional Self-Attention Network, section 4 of the DiSAN paper.

    Two DiSA blocks that share nothing, one forward and one backward (Eq. 14 to 20), are
    concatenated to [u_fw; u_bw], which source2token self-attention (Eq. 12 and 13) compresses
    into one vector. 300 units on 300-dimensional vectors: 1,624,200 parameters.

    The paper's baseline without directions has two blocks too, both of which let a token attend to
    all others: `directions=("diagonal", "diagonal")`.

    Args:
      units: d_h of each DiSA block; None = the size of x.
      directions: of the two blocks, see `DirectionalSelfAttention`.
      activation: of Eq. 12 and 14.
      attention_form, dropout, l2, seed: see `SentenceEncoder`.

    Call arguments:
      x: <float>[batch, length, dim], word vectors.
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      The sentence's vector, <float>[batch, 2 * units].

    Raises:
      ValueError: an unknown direction, or not two of them.
    """

    def __init__(self, units: Optional[int] = None, directions=("forward", "backward"), **kwargs):
        super().__init__(**kwargs)
        self.units = units
        if isinstance(directions, str) or len(directions) != 2:
            raise ValueError(f"directions={directions!r}; DiSAN has two blocks.")
        self.directions = tuple(check_direction(direction) for direction in directions)

    def build(self, input_shape):
        dim = input_shape[-1]
        first, second = self.directions
        self.forward_block = self._block("forward", first, input_shape)
        self.backward_block = self._block("backward", second, input_shape)
        self.source2token = self.add_source2token(2 * (self.units or dim))
        super().build(input_shape)

    def _block(self, name, direction, input_shape):
        block = DirectionalSelfAttention(
            self.units, direction, self.activation, attention_form=self.attention_form,
            **self.child_options(name),
        )  # fmt: skip
        block.build(input_shape)
        return block

    def call(self, x, mask, training=None):
        to_forward, to_backward = copies(x, 2)
        forward = self.forward_block(to_forward, mask=mask, training=training)
        backward = self.backward_block(to_backward, mask=mask, training=training)
        u = tf.concat([forward, backward], axis=-1)  # [batch, length, 2 * units]
        return self.source2token(u, mask=mask, training=training)

    def attend(self, x, mask):
        """The named attention tensors of a batch, without dropout.

        Returns:
          "forward_attention", "backward_attention" <float32>[batch, head, dependent, units],
          "forward_gate", "backward_gate" <float32>[batch, length, units] and "source2token"
          <float32>[batch, length, 2 * units]. The blocks are "first" and "second" where both have
          one direction.
        """
        first = self.forward_block.attend(x, mask)
        second = self.backward_block.attend(x, mask)
        u = tf.concat([first["output"], second["output"]], axis=-1)
        names = self.directions if len(set(self.directions)) == 2 else ("first", "second")
        return {
            f"{names[0]}_attention": first["attention"],
            f"{names[1]}_attention": second["attention"],
            f"{names[0]}_gate": first["gate"],
            f"{names[1]}_gate": second["gate"],
            "source2token": self.source2token.weights_of(u, mask),
        }

    def get_config(self):
        config = {"units": self.units, "directions": list(self.directions)}
        return {**super().get_config(), **config}
