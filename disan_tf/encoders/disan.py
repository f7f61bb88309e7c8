"""DiSAN: a sentence encoder made of attention only."""

from typing import Optional

import tensorflow as tf

from disan_tf.layers.directional import DirectionalSelfAttention
from disan_tf.layers.dropout import site_seed
from disan_tf.layers.mechanism import Mechanism
from disan_tf.layers.source2token import Source2Token
from disan_tf.ops.fused import copies


class DiSAN(Mechanism):
    """Directional Self-Attention Network, section 4 of the DiSAN paper.

    Two DiSA blocks that share nothing, one forward and one backward (Eq. 14 to 20), are
    concatenated to [u_fw; u_bw], which source2token self-attention (Eq. 12 and 13) compresses
    into one vector. 300 units on 300-dimensional vectors: 1,624,200 parameters.

    Args:
      units: d_h of each DiSA block; None = the size of x.
      activation: of Eq. 12 and 14.
      attention_form: form of `disan_tf.ops.directional_attention`.
      dropout, l2, seed: see `Mechanism`.

    Call arguments:
      x: <float>[batch, length, dim], word vectors.
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      The sentence's vector, <float>[batch, 2 * units].
    """

    def __init__(
        self, units: Optional[int] = None, activation="elu", attention_form: str = "auto", **kwargs
    ):
        super().__init__(**kwargs)
        self.units = units
        self.activation = tf.keras.activations.get(activation)
        self.attention_form = attention_form

    def build(self, input_shape):
        dim = input_shape[-1]
        self.forward_block = self._block("forward", input_shape)
        self.backward_block = self._block("backward", input_shape)
        self.source2token = Source2Token(**self._options("source2token"))
        self.source2token.build([None, None, 2 * (self.units or dim)])
        super().build(input_shape)

    def _block(self, direction, input_shape):
        block = DirectionalSelfAttention(
            self.units, direction, attention_form=self.attention_form, **self._options(direction)
        )
        block.build(input_shape)
        return block

    def _options(self, name):
        return {
            "activation": self.activation,
            "dropout": self.dropout,
            "l2": self.l2,
            "seed": site_seed(self.seed, name),
            "name": name,
            "dtype": self.dtype_policy,
        }

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
          <float32>[batch, length, 2 * units].
        """
        forward = self.forward_block.attend(x, mask)
        backward = self.backward_block.attend(x, mask)
        u = tf.concat([forward["output"], backward["output"]], axis=-1)
        return {
            "forward_attention": forward["attention"],
            "backward_attention": backward["attention"],
            "forward_gate": forward["gate"],
            "backward_gate": backward["gate"],
            "source2token": self.source2token.weights_of(u, mask),
        }

    def get_config(self):
        config = {
            "units": self.units,
            "activation": tf.keras.activations.serialize(self.activation),
            "attention_form": self.attention_form,
        }
        return {**super().get_config(), **config}
