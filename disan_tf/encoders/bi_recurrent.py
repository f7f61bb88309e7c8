"""The base class of encoders that read a sentence in both directions."""

import tensorflow as tf

from disan_tf.common.options import check_at_least
from disan_tf.encoders.base import SentenceEncoder
from disan_tf.layers.children import build_child
from disan_tf.layers.masks import token_mask
from disan_tf.layers.recurrent.base import Recurrent
from disan_tf.ops.elementwise import copies


class BiRecurrentEncoder(SentenceEncoder):
    """Base of encoders with a recurrent layer in each direction, then `Source2Token`.

    A subclass creates its layers with `add_directions` in `build`, before `super().build`, and
    returns them from `directions`. A subclass that compresses the states in another way
    overrides `build_pool`, `pool` and `attend`.

    Args:
      units: size of the recurrent layers.
      activation: activation of source2token (the authors' code: relu).
      attention_form, dropout, l2, seed: see `SentenceEncoder`.

    Call arguments:
      x: <float>[batch, length, dim], word vectors.
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      The sentence vector, <float>[batch, 2 * units]; exactly 0 for a sentence without tokens.

    Raises:
      ValueError: fewer than one unit.
    """

    def __init__(self, units: int = 300, **kwargs):
        super().__init__(**kwargs)
        self.units = check_at_least("units", units, 1)

    def build(self, input_shape):
        self.build_pool(2 * self.units)
        super().build(input_shape)

    def build_pool(self, dim: int) -> None:
        """Creates the layers of `pool`, for states of size `dim`."""
        self.source2token = self.add_source2token(dim)

    def add_directions(self, layer_class: type, input_shape) -> tuple:
        """Builds two layers of a `Recurrent` subclass, which read forward and backward."""
        forward = layer_class(self.units, **self.child_options("forward"))
        backward = layer_class(self.units, backward=True, **self.child_options("backward"))
        for layer in (forward, backward):
            build_child(layer, input_shape)
        return forward, backward

    def directions(self) -> tuple[Recurrent, Recurrent]:
        """Returns the layers that read forward and backward."""
        raise NotImplementedError

    def output_size(self, dim):
        return 2 * self.units

    def call(self, x, mask=None, training=None):
        mask = token_mask(x, mask)
        return self.pool(self.states(x, mask, training), mask, training)

    def pool(self, states, mask, training=None):
        """Computes the sentence vector from the states <float>[batch, length, 2 * units]."""
        return self.source2token(states, mask=mask, training=training)

    def attend(self, x, mask=None):
        """Computes weights without dropout, "source2token" <float32>[batch, length, 2 * units]."""
        mask = token_mask(x, mask)
        return {"source2token": self.source2token.attention_weights(self.states(x, mask), mask)}

    def states(self, x, mask, training=None):
        """Computes [h_fw; h_bw], <float>[batch, length, 2 * units]."""
        states = [
            layer(copy, mask=mask, training=training)
            for layer, copy in zip(self.directions(), copies(x, 2))
        ]
        return tf.concat(states, axis=-1)
