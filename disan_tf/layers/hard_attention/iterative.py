"""Iterative sampling, which selects one token after another."""

from typing import Optional

import tensorflow as tf

from disan_tf.layers.hard_attention.sampler import Sampler
from disan_tf.layers.linear import project
from disan_tf.layers.masks import token_mask
from disan_tf.layers.serialization import serializable
from disan_tf.ops.recurrence import scan_tokens


@serializable
class IterativeSequenceSampling(Sampler):
    """Sampling by a recurrent network (Lei et al. 2016), ReSAN Eq. 21 to 25.

    p(z) = prod_i p(z_i | z_1, ..., z_(i-1))                             (21)
    p_i = sigmoid(w . activation(W [h_(i-1); x_i] + b) + b')             (22)
    z_i ~ p_i                                                            (23)
    x'_i = [x_i; z_i]                                                    (24)
    h_i = tanh(W_rnn [h_(i-1); x'_i] + b_rnn)                            (25)

    The tokens of a sentence are sampled one after another, since a probability depends on the
    selection so far. The state does not change on padding. Dropout acts on x; the recurrence is
    float32. 300 units on 300-dimensional vectors: 361,201 parameters.

    Args:
      units: size of h, and of W's layer; None = the size of x.
      activation: activation of W's layer.
      backward: whether the last token is read first.
      dropout, l2, seed: see `BaseLayer`; W, w and W_rnn are regularised.

    Call arguments:
      x: <float>[batch, length, dim].
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts.

    Returns:
      p_i, given the greedy selection of the tokens read before, <float32>[batch, length]; 0 on
      padding.

    Raises:
      ValueError: fewer than one unit.

    Example:
      >>> sampler = IterativeSequenceSampling(16)
      >>> sampler(tf.ones([2, 5, 8]), mask=tf.ones([2, 5], tf.bool)).shape
      TensorShape([2, 5])
    """

    def __init__(
        self, units: Optional[int] = None, activation="relu", backward: bool = False, **kwargs
    ):
        super().__init__(units, activation, **kwargs)
        self.backward = backward

    def build(self, input_shape):
        dim = input_shape[-1]
        units = self.units or dim
        glorot, l2 = "glorot_uniform", self.l2
        self.hidden_kernel = self.add_uncast_weight(  # W
            "hidden_kernel", [dim + units, units], glorot, l2
        )
        self.score_kernel = self.add_uncast_weight("score_kernel", [units, 1], glorot, l2)  # w
        self.state_kernel = self.add_uncast_weight(  # W_rnn
            "state_kernel", [dim + units + 1, units], glorot, l2
        )
        self.hidden_bias = self.add_uncast_weight("hidden_bias", [units], "zeros")
        self.score_bias = self.add_uncast_weight("score_bias", [1], "zeros")
        self.state_bias = self.add_uncast_weight("state_bias", [units], "zeros")
        self.input_dropout = self.add_dropout("input_dropout")
        super().build(input_shape)

    def call(self, x, mask=None, training=None):
        return self.choose(x, token_mask(x, mask), "greedy", training)[1]

    def choose(self, x, mask, how, training=None):
        batch, units = tf.shape(x)[0], self.state_kernel.shape[1]
        steps = (
            tf.transpose(self._input_products(x, training), [1, 0, 2]),
            tf.transpose(self.thresholds(tf.shape(mask), how))[:, :, None],
            tf.transpose(mask)[:, :, None],
        )
        start = tf.zeros([batch, units]), tf.zeros([batch, 1]), tf.zeros([batch, 1], tf.bool)
        _, probabilities, selected = scan_tokens(
            lambda last, step: self._step(last[0], *step), steps, start, self.backward
        )
        return tf.transpose(selected[:, :, 0]), tf.transpose(probabilities[:, :, 0])

    def _input_products(self, x, training):
        """Computes x W and x W_rnn, plus b and b_rnn, <float32>[batch, length, ...]."""
        dim = x.shape[-1]
        x = self.input_dropout(x, training=training)
        kernels = tf.concat([self.hidden_kernel[:dim], self.state_kernel[:dim]], axis=1)
        products = tf.cast(project(x, tf.cast(kernels, x.dtype)), tf.float32)
        bias = tf.concat([self.hidden_bias, self.state_bias], axis=0)
        return products + tf.cast(bias, tf.float32)

    def _step(self, state, products, threshold, real):
        """Returns h_i <float32>[batch, units], p_i <float32>[batch, 1] and z_i <bool>[batch, 1]."""
        dim = self.hidden_kernel.shape[0] - self.hidden_kernel.shape[1]
        score_kernel, score_bias = _exact(self.score_kernel), _exact(self.score_bias)
        to_hidden, to_state = tf.split(products, 2, axis=-1)
        hidden = self.activation(to_hidden + tf.matmul(state, _exact(self.hidden_kernel[dim:])))
        probability = tf.sigmoid(tf.matmul(hidden, score_kernel) + score_bias)  # Eq. 22
        selected = (threshold <= probability) & real  # Eq. 23
        to_state += tf.matmul(state, _exact(self.state_kernel[dim:-1]))
        selected_kernel = _exact(self.state_kernel[-1:])
        new = tf.tanh(to_state + tf.cast(selected, tf.float32) * selected_kernel)  # Eq. 25
        return tf.where(real, new, state), tf.where(real, probability, 0.0), selected


def _exact(weight):
    """Returns a weight as float32."""
    return tf.cast(weight, tf.float32)
