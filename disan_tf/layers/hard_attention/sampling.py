"""Hard attention that chooses tokens: what samplers have in common, and the parallel one."""

from typing import NamedTuple, Optional

import tensorflow as tf

from disan_tf.layers.base import BaseLayer
from disan_tf.layers.dropout import site_seed

HOW = ("all", "sample", "greedy")
_LEAST = 1e-10  # authors' code: probabilities below it count as this in a logarithm


class Selection(NamedTuple):
    """What one sampler chose.

    Attributes:
      selected: <bool>[batch, length], never True on padding.
      log_probability: <float32>[batch], of choosing just this; 0 where there was no choice.
    """

    selected: tf.Tensor
    log_probability: tf.Tensor


class Uniforms(tf.keras.layers.Layer):
    """Random numbers in [0, 1) that are a pure function of (seed, call count).

    As in `disan_tf.layers.dropout.Dropout` the count is a variable that is saved with the weights,
    so that a resumed training draws what an unbroken one would.

    Args:
      seed: integer, see `site_seed`.

    Call arguments:
      shape: <int32>[rank].

    Returns:
      <float32> of that shape.
    """

    def __init__(self, seed: int = 0, **kwargs):
        super().__init__(**kwargs)
        self.seed = seed

    def build(self, input_shape):
        self.calls = self.add_weight(
            name="calls", shape=[], dtype=tf.int64, initializer="zeros", trainable=False
        )
        super().build(input_shape)

    def call(self, shape):
        seed = tf.stack([tf.constant(self.seed, tf.int64), self.calls.assign_add(1)])
        return tf.random.stateless_uniform(shape, seed)

    def get_config(self):
        return {**super().get_config(), "seed": self.seed}


class Sampler(BaseLayer):
    """A layer that chooses tokens; a subclass says with which probabilities.

    Args:
      units: of the hidden layers; None = the size of x.
      activation: of the hidden layer that scores a token.
      dropout, l2, seed: see `BaseLayer`.
    """

    def __init__(self, units: Optional[int] = None, activation="relu", **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.activation = tf.keras.activations.get(activation)

    def build(self, input_shape):
        self.uniforms = Uniforms(
            site_seed(self.seed, "uniforms"), name="uniforms", dtype=self.dtype_policy
        )
        self.uniforms.build(None)
        super().build(input_shape)

    def select(self, x, mask, how: str, training=None) -> Selection:
        """Chooses tokens.

        Args:
          x: <float>[batch, length, dim].
          mask: <bool>[batch, length], True = real token.
          how: "all" (every real token), "sample" (by the probabilities) or "greedy" (those whose
            probability is at least 0.5).
          training: whether dropout acts, so that the probabilities are noisy.

        Raises:
          ValueError: an unknown `how`.
        """
        if check_how(how) == "all":
            return Selection(mask, tf.zeros(tf.shape(mask)[:1]))
        selected, probabilities = self.choose(x, mask, how, training)
        return Selection(selected, log_probability(probabilities, selected, mask))

    def choose(self, x, mask, how: str, training=None):
        """The tokens <bool>[batch, length] and all probabilities <float32>[batch, length]."""
        raise NotImplementedError

    def thresholds(self, shape: tf.Tensor, how: str) -> tf.Tensor:
        """What a probability must reach for its token to be chosen, <float32>."""
        return self.uniforms(shape) if how == "sample" else tf.fill(shape, 0.5)

    def get_config(self):
        config = {
            "units": self.units,
            "activation": tf.keras.activations.serialize(self.activation),
        }
        return {**super().get_config(), **config}


class ReinforcedSequenceSampling(Sampler):
    """RSS, which chooses all tokens of a sentence in parallel, ReSAN Eq. 5 to 7.

    f(x)_i = [x_i; mean(x); x_i * mean(x)]                               (6)
    p(z_i = 1) = sigmoid(w . activation(W f(x)_i + b) + b')              (7)
    p(z) = prod_i p(z_i)                                                 (5)

    The mean is over the real tokens. As in the authors' code dropout acts on the inputs of W and w,
    also while tokens are sampled in training, and both decay. 300 units on 300-dimensional vectors:
    270,601 parameters.

    Args:
      units, activation: of W's layer.
      dropout, l2, seed: see `BaseLayer`.

    Call arguments:
      x: <float>[batch, length, dim].
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      p(z_i = 1), <float32>[batch, length]; 0 on padding.

    Example:
      >>> sampler = ReinforcedSequenceSampling(16)
      >>> x, mask = tf.ones([2, 5, 8]), tf.ones([2, 5], tf.bool)
      >>> sampler(x, mask=mask).shape
      TensorShape([2, 5])
      >>> sampler.select(x, mask, "sample").selected.shape
      TensorShape([2, 5])
    """

    def build(self, input_shape):
        dim = input_shape[-1]
        units = self.units or dim
        self.hidden = self.add_linear("hidden", 3 * dim, units, activation=self.activation)
        self.score = self.add_linear("score", units, 1)
        super().build(input_shape)

    def call(self, x, mask, training=None):
        hidden = self.hidden(features(x, mask), training=training)
        score = tf.cast(self.score(hidden, training=training)[:, :, 0], tf.float32)
        return tf.where(mask, tf.sigmoid(score), 0.0)

    def choose(self, x, mask, how, training=None):
        probabilities = self(x, mask=mask, training=training)
        reached = self.thresholds(tf.shape(mask), how) <= probabilities
        return reached & mask, probabilities


def check_how(how: str) -> str:
    """Returns `how`, or raises ValueError with the known ones."""
    if how not in HOW:
        raise ValueError(f"how={how!r}; choose {', '.join(HOW)}.")
    return how


def features(x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """[x_i; mean(x); x_i * mean(x)], ReSAN Eq. 6, <float>[batch, length, 3 * dim]."""
    mean = masked_mean(x, mask)[:, None]
    return tf.concat([x, tf.broadcast_to(mean, tf.shape(x)), x * mean], axis=-1)


def masked_mean(x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """The mean of the real tokens, <float>[batch, dim]; 0 of none. Its sum is float32."""
    real = tf.where(mask[:, :, None], tf.cast(x, tf.float32), 0.0)
    return tf.cast(tf.reduce_sum(real, axis=1) / counts(mask)[:, None], x.dtype)


def counts(mask: tf.Tensor) -> tf.Tensor:
    """The number of True, at least 1, <float32>[batch]."""
    return tf.maximum(1.0, tf.reduce_sum(tf.cast(mask, tf.float32), axis=1))


def log_probability(probabilities, selected, mask) -> tf.Tensor:
    """sum_i log p(z_i) over the real tokens, in nats, <float32>[batch].

    Args:
      probabilities: p(z_i = 1), <float32>[batch, length].
      selected: z, <bool>[batch, length].
      mask: <bool>[batch, length], True = real token.
    """
    taken = tf.where(selected, probabilities, 1.0 - probabilities)
    taken = tf.where(mask, tf.maximum(taken, _LEAST), 1.0)
    return tf.reduce_sum(tf.math.log(taken), axis=1)
