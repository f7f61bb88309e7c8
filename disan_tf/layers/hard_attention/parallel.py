"""Reinforced sequence sampling, which selects all tokens of a sentence in parallel."""

import tensorflow as tf

from disan_tf.layers.hard_attention.sampler import Sampler
from disan_tf.layers.linear import project
from disan_tf.layers.masks import token_mask
from disan_tf.layers.pooling import masked_mean
from disan_tf.layers.precision import cast_weight
from disan_tf.layers.serialization import serializable


@serializable
class ReinforcedSequenceSampling(Sampler):
    """RSS, which selects all tokens of a sentence in parallel, ReSAN Eq. 5 to 7.

    p(z) = prod_i p(z_i)                                                 (5)
    f(x)_i = [x_i; mean(x); x_i * mean(x)]                               (6)
    p(z_i = 1) = sigmoid(w . activation(W f(x)_i + b) + b')              (7)

    The mean is over the real tokens. As in the authors' code, dropout acts on the inputs of W and
    w, also while tokens are sampled in training. 300 units on 300-dimensional vectors: 270,601
    parameters.

    Args:
      units: size of W's layer; None = the size of x.
      activation: activation of W's layer.
      dropout, l2, seed: see `BaseLayer`; W and w are regularised.

    Call arguments:
      x: <float>[batch, length, dim].
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      p(z_i = 1), <float32>[batch, length]; 0 on padding.

    Raises:
      ValueError: fewer than one unit.

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

    def call(self, x, mask=None, training=None):
        mask = token_mask(x, mask)
        if training and self.dropout:
            hidden = self.hidden(sampling_features(x, mask), training=True)
        else:
            hidden = self.hidden.activate(self._product(x, mask))
        score = tf.cast(self.score(hidden, training=training)[:, :, 0], tf.float32)
        return tf.where(mask, tf.sigmoid(score), 0.0)

    def _product(self, x, mask):
        """Computes W f(x)_i without dropout, with one product of a sentence's mean for all tokens.

        Dropout draws a mask for each token, so that a sentence's tokens have no common product.
        Measured: ReSAN's layer takes 9 % less time in inference.
        """
        kernel = cast_weight(self.hidden.dense.kernel, x.dtype)
        of_tokens, of_mean, of_both = tf.split(kernel, 3)
        mean = tf.expand_dims(masked_mean(x, mask), 1)
        features = tf.concat([x, x * mean], axis=-1)
        return project(features, tf.concat([of_tokens, of_both], axis=0)) + project(mean, of_mean)

    def choose(self, x, mask, how, training=None):
        probabilities = self(x, mask=mask, training=training)
        reached = self.thresholds(tf.shape(mask), how) <= probabilities
        return reached & mask, probabilities


def sampling_features(x: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Computes f(x)_i of ReSAN Eq. 6, <float>[batch, length, 3 * dim]."""
    mean = tf.expand_dims(masked_mean(x, mask), 1)
    return tf.concat([x, tf.broadcast_to(mean, tf.shape(x)), x * mean], axis=-1)
