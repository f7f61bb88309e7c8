"""The base class of samplers, which select tokens."""

from typing import NamedTuple, Optional

import tensorflow as tf

from disan_tf.common.options import check_at_least, check_choice
from disan_tf.layers.base import BaseLayer
from disan_tf.layers.children import build_child
from disan_tf.layers.dropout import site_seed
from disan_tf.layers.hard_attention.uniforms import Uniforms
from disan_tf.layers.keras_layer import output_shape
from disan_tf.layers.masks import token_mask

HOW = ("all", "sample", "greedy")
LEAST_PROBABILITY = 1e-10  # smallest argument of a logarithm, as in the authors' code


class Selection(NamedTuple):
    """The tokens that one sampler selected.

    Attributes:
      selected: z, <bool>[batch, length], never True on padding.
      log_probability: log p(z) in nats, <float32>[batch]; 0 if nothing was sampled.
    """

    selected: tf.Tensor
    log_probability: tf.Tensor


class Sampler(BaseLayer):
    """Base of layers that select tokens with probabilities of their own (ReSAN Sec. 3.1).

    A subclass defines `call`, which returns the probabilities, and `choose`.

    Args:
      units: size of the hidden layers; None = the size of x.
      activation: activation of the hidden layer that scores a token.
      dropout, l2, seed: see `BaseLayer`.

    Raises:
      ValueError: fewer than one unit.
    """

    def __init__(self, units: Optional[int] = None, activation="relu", **kwargs):
        super().__init__(**kwargs)
        self.units = check_at_least("units", units, 1)
        self.activation = tf.keras.activations.get(activation)

    def build(self, input_shape):
        seed = site_seed(self.seed, "uniforms")
        uniforms = Uniforms(seed, name="uniforms", dtype=self.dtype_policy)
        self.uniforms = build_child(uniforms, None)
        super().build(input_shape)

    def compute_output_shape(self, input_shape):
        return output_shape(input_shape[:2])

    def select(self, x, mask, how: str, training=None) -> Selection:
        """Selects tokens.

        Args:
          x: <float>[batch, length, dim].
          mask: <bool>[batch, length], True = real token.
          how: "all" (every real token), "sample" (a token with its probability) or "greedy" (the
            tokens with a probability of at least 0.5).
          training: whether dropout acts, which makes the probabilities noisy.

        Raises:
          ValueError: an unknown `how`.
        """
        mask = token_mask(x, mask)
        if check_choice("how", how, HOW) == "all":
            return Selection(mask, tf.zeros(tf.shape(mask)[:1]))
        selected, probabilities = self.choose(x, mask, how, training)
        return Selection(selected, log_probability(probabilities, selected, mask))

    def choose(self, x, mask, how: str, training=None):
        """Returns z <bool>[batch, length] and p(z_i = 1) <float32>[batch, length]; see `select`."""
        raise NotImplementedError

    def thresholds(self, shape: tf.Tensor, how: str) -> tf.Tensor:
        """Returns for each token the least probability at which it is selected, <float32>."""
        return self.uniforms(shape) if how == "sample" else tf.fill(shape, 0.5)


def log_probability(probabilities, selected, mask) -> tf.Tensor:
    """Computes log p(z) = sum_i log p(z_i) over the real tokens, in nats, <float32>[batch].

    Args:
      probabilities: p(z_i = 1), <float32>[batch, length].
      selected: z, <bool>[batch, length].
      mask: <bool>[batch, length], True = real token.
    """
    chosen = tf.where(selected, probabilities, 1.0 - probabilities)
    chosen = tf.where(mask, tf.maximum(chosen, LEAST_PROBABILITY), 1.0)
    return tf.reduce_sum(tf.math.log(chosen), axis=1)
