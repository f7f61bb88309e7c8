"""The base of all samplers of tokens, with their random numbers and selections."""

from typing import NamedTuple, Optional

import tensorflow as tf

from disan_tf.common.options import check_at_least, check_choice
from disan_tf.layers.base import BaseLayer
from disan_tf.layers.children import build_child
from disan_tf.layers.dropout import add_count, next_seed, site_seed
from disan_tf.layers.keras_layer import output_shape
from disan_tf.layers.masks import token_mask
from disan_tf.layers.pooling import token_counts
from disan_tf.layers.serialization import ConfiguredLayer, serializable
from disan_tf.ops import batch_share

_MANTISSA, _ONE = 0x7FFFFF, 0x3F800000  # bits of a float32: its mantissa, and 1.0


@serializable
class Uniforms(ConfiguredLayer):
    """Random numbers in [0, 1), a function of (seed, number of calls) alone, also under XLA.

    As in `Dropout`, the number of calls is a variable that is saved with the weights, so that a
    resumed training draws the same numbers as one that was never interrupted.

    Args:
      seed: integer, see `disan_tf.layers.dropout.site_seed`.

    Call arguments:
      shape: <int32>[rank]; the first number counts the rows of the batch.

    Returns:
      <float32> of that shape.

    Example:
      >>> Uniforms(seed=1)(tf.constant([2, 5])).shape
      TensorShape([2, 5])
    """

    def __init__(self, seed: int, **kwargs):
        super().__init__(**kwargs)
        self.seed = seed

    def build(self, input_shape):
        self.calls = add_count(self)
        super().build(input_shape)

    def call(self, shape):
        seed, share = next_seed(self.seed, self.calls), batch_share.current()
        if share is None:
            return _uniform(shape, seed)
        numbers = _uniform(tf.concat([[share.batch], shape[1:]], axis=0), seed)
        return numbers[share.first : share.first + share.rows]


def _uniform(shape, seed):
    """Computes the numbers of `tf.random.stateless_uniform` from its random bits.

    XLA draws the same bits as TensorFlow, but turns them into other numbers.
    """
    bits = tf.random.stateless_uniform(
        shape, seed, minval=None, maxval=None, dtype=tf.uint32, alg="philox"
    )
    mantissas = tf.bitwise.bitwise_and(bits, tf.constant(_MANTISSA, tf.uint32))
    from_1_to_2 = tf.bitwise.bitwise_or(mantissas, tf.constant(_ONE, tf.uint32))
    return tf.bitcast(from_1_to_2, tf.float32) - 1.0


class Selections(NamedTuple):
    """The tokens that the samplers of a sentence encoder selected, in both directions.

    Attributes:
      heads: forward and backward, <bool>[batch, length], tokens that receive context.
      dependents: forward and backward, <bool>[batch, length], tokens that are attended to.
      log_probability: log probability of all selections in nats, <float32>[batch]; 0 if nothing
        was sampled.
      head_fraction: heads over real tokens, the mean of both directions, <float32>[batch].
      dependent_fraction: dependents over real tokens, likewise.
    """

    heads: tuple
    dependents: tuple
    log_probability: tf.Tensor
    head_fraction: tf.Tensor
    dependent_fraction: tf.Tensor


def merge_selections(heads, dependents, mask: tf.Tensor) -> Selections:
    """Merges the samplers' selections.

    Args:
      heads: a `Selection` for each direction; an object that occurs several times counts once.
      dependents: a `Selection` for each direction.
      mask: <bool>[batch, length], True = real token.
    """
    distinct = {id(selection): selection for selection in [*heads, *dependents]}.values()
    return Selections(
        heads=tuple(selection.selected for selection in heads),
        dependents=tuple(selection.selected for selection in dependents),
        log_probability=tf.add_n([selection.log_probability for selection in distinct]),
        head_fraction=_fraction(heads, mask),
        dependent_fraction=_fraction(dependents, mask),
    )


def _fraction(selections, mask):
    chosen = [tf.reduce_sum(tf.cast(one.selected, tf.float32), axis=1) for one in selections]
    return tf.add_n(chosen) / (len(chosen) * token_counts(mask))


HOW = ("all", "sample", "greedy")
MIN_PROBABILITY = 1e-10  # smallest argument of a logarithm, as in the authors' code


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
    chosen = tf.where(mask, tf.maximum(chosen, MIN_PROBABILITY), 1.0)
    return tf.reduce_sum(tf.math.log(chosen), axis=1)
