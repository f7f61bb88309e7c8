"""What the sentence encoders have in common."""

import tensorflow as tf

from disan_tf.layers.attention.source2token import Source2Token
from disan_tf.layers.base import BaseLayer


class SentenceEncoder(BaseLayer):
    """Token vectors -> one vector; subclasses say how.

    A subclass defines `call(x, mask, training)`, which returns <float>[batch, size], and
    `attend(x, mask)`, a dictionary of named <float32>[batch, ...] tensors.

    An encoder with hard attention has `samplers`, whose weights learn by policy gradient, takes
    `selections` as an argument of its call, and has `select(x, mask, how, training)`, which returns
    `Selections` (`disan_tf.layers.hard_attention.selections`); see `Sampler.select`
    (`disan_tf.layers.hard_attention.sampler`). Without `selections` it chooses greedily.

    Args:
      activation: of the subclass's maps.
      attention_form: form of `disan_tf.ops.directional_attention`; an encoder without a DiSA block
        has no use for it.
      dropout, l2, seed: see `BaseLayer`.
    """

    samplers = ()  # the layers that choose tokens

    def __init__(self, activation="elu", attention_form: str = "auto", **kwargs):
        super().__init__(**kwargs)
        self.activation = tf.keras.activations.get(activation)
        self.attention_form = attention_form

    def add_source2token(self, dim: int) -> Source2Token:
        """A built `Source2Token` child for vectors of this size."""
        layer = Source2Token(self.activation, **self.child_options("source2token"))
        layer.build([None, None, dim])
        return layer

    def weight_vectors(self, x, mask):
        """Vectors with which a sentence weighs its own tokens; None where there are none.

        <float32>[batch, iterations, attentions, units], of the same arguments as `call`'s.
        """
        return None

    def get_config(self):
        config = {
            "activation": tf.keras.activations.serialize(self.activation),
            "attention_form": self.attention_form,
        }
        return {**super().get_config(), **config}
