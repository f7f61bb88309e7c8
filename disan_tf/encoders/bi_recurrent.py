"""What the encoders that read a sentence in both directions have in common."""

import tensorflow as tf

from disan_tf.encoders.base import SentenceEncoder
from disan_tf.layers.recurrent.base import Recurrent
from disan_tf.ops.elementwise import copies


class BiRecurrentEncoder(SentenceEncoder):
    """A recurrent layer in each direction, then source2token.

    A subclass creates its layers with `add_directions` in `build`, before it calls the base's, and
    hands them out in `directions`. One that compresses the states in another way overrides
    `build_pool`, `pool` and `attend`.

    Args:
      units: of each recurrent layer.
      activation: of source2token (the authors' code: relu).
      attention_form, dropout, l2, seed: see `SentenceEncoder`.

    Call arguments:
      x: <float>[batch, length, dim], word vectors.
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      The sentence's vector, <float>[batch, 2 * units].
    """

    def __init__(self, units: int = 300, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.build_pool(2 * self.units)
        super().build(input_shape)

    def build_pool(self, dim: int) -> None:
        """Creates what `pool` needs for states of this size."""
        self.source2token = self.add_source2token(dim)

    def add_directions(self, kind: type, input_shape) -> tuple:
        """Two built layers of a kind of `Recurrent`, which read forward and backward."""
        forward = kind(self.units, **self.child_options("forward"))
        backward = kind(self.units, backward=True, **self.child_options("backward"))
        for layer in (forward, backward):
            layer.build(input_shape)
        return forward, backward

    def directions(self) -> tuple[Recurrent, Recurrent]:
        """The layers that read forward and backward."""
        raise NotImplementedError

    def call(self, x, mask, training=None):
        return self.pool(self.states(x, mask, training), mask, training)

    def pool(self, states, mask, training=None):
        """The sentence's vector of the states <float>[batch, length, 2 * units]."""
        return self.source2token(states, mask=mask, training=training)

    def attend(self, x, mask):
        """Weights without dropout, "source2token" <float32>[batch, length, 2 * units]."""
        return {"source2token": self.source2token.weights_of(self.states(x, mask), mask)}

    def states(self, x, mask, training=None):
        """Of both directions, <float>[batch, length, 2 * units]."""
        states = [
            layer(copy, mask=mask, training=training)
            for layer, copy in zip(self.directions(), copies(x, 2))
        ]
        return tf.concat(states, axis=-1)

    def get_config(self):
        return {**super().get_config(), "units": self.units}
