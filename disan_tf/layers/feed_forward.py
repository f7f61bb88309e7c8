"""Layers of two dense layers: a highway layer, and an autoencoder whose code replaces its input."""

from typing import Optional

import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import check_at_least
from disan_tf.layers.base import BaseLayer, LayerOptions
from disan_tf.layers.keras_layer import Activation, activation_of
from disan_tf.layers.serialization import serializable
from disan_tf.layers.tokens import token_mask
from disan_tf.ops.batch_share import mean_of_tokens
from disan_tf.ops.masked_softmax import at_least_float32


@serializable
class Highway(BaseLayer):
    """A highway layer (Srivastava et al. 2015).

    g = sigmoid(x W_g + b_g),  y = g * activation(x W_t + b_t) + (1 - g) * x

    As in the ReSAN authors' code, dropout acts on the inputs of W_t and of W_g but not on the x
    that is carried over, and b_g is initialised to 0 (the paper proposes a negative value). 300
    units: 180,600 parameters.

    Args:
      activation: activation of the transformed part.
      dropout, l2, seed: see `BaseLayer`; W_t and W_g are regularised.

    Call arguments:
      x: <float>[..., dim], as the result.
      training: whether dropout acts.
    """

    def __init__(self, activation: Activation = "elu", **kwargs: Unpack[LayerOptions]) -> None:
        super().__init__(**kwargs)
        self.activation = activation_of(activation)

    def build(self, input_shape: tf.TensorShape) -> None:
        dim = input_shape[-1]
        self.transform = self.add_linear("transform", dim, dim, activation=self.activation)
        self.gate = self.add_linear("gate", dim, dim, activation="sigmoid")
        super().build(input_shape)

    def output_size(self, dim: int) -> int:
        return dim

    def call(self, x: tf.Tensor, training: Optional[bool] = None) -> tf.Tensor:
        gate = self.gate(x, training=training)
        return gate * self.transform(x, training=training) + (1.0 - gate) * x


@serializable
class Bottleneck(BaseLayer):
    """The autoencoder that keeps densely connected features small (Kim et al. 2018, "AE").

    z = dropout(ReLU(W_e x + b_e)),  x' = W_d z + b_d

    The result is z. Every training call adds a loss, in at least float32,

        weight * mean over the real tokens of ||x - x'||^2 / dim

    which is 0 for a batch without tokens. The paper does not say whether the gradient of this loss
    also flows through its target x. Here it does not, since features could shrink to be easier to
    reconstruct; the gradient reaches the layers below through z. Dropout acts on z, one reading of
    the paper's "encoded features of the autoencoder with a dropout rate of 0.2" (Sec. 4).

    200 units on 1000-dimensional features: 401,200 parameters.

    Args:
      units: size of z.
      weight: weight of the reconstruction error in the loss, at least 0.
      dropout, l2, seed: see `BaseLayer`; W_e and W_d are regularised.

    Call arguments:
      x: <float>[batch, length, dim].
      mask: <bool>[batch, length], True = real token.
      training: whether dropout acts and the reconstruction loss is added.

    Returns:
      z, <float>[batch, length, units]; exactly 0 on padding.
    """

    def __init__(
        self, units: int = 200, weight: float = 1.0, **kwargs: Unpack[LayerOptions]
    ) -> None:
        super().__init__(**kwargs)
        self.units = check_at_least("units", units, 1)
        self.weight = check_at_least("weight", weight, 0)

    def build(self, input_shape: tf.TensorShape) -> None:
        dim = input_shape[-1]
        self.encoder = self.add_linear("encoder", dim, self.units, activation="relu", dropout=0.0)
        self.decoder = self.add_linear("decoder", self.units, dim, dropout=0.0)
        self.code_dropout = self.add_dropout("code_dropout")
        super().build(input_shape)

    def output_size(self, dim: int) -> int:
        return self.units

    def call(
        self, x: tf.Tensor, mask: Optional[tf.Tensor] = None, training: Optional[bool] = None
    ) -> tf.Tensor:
        mask = token_mask(x, mask)
        real, zero = mask[:, :, None], tf.zeros([], x.dtype)
        x = tf.where(real, x, zero)
        z = tf.where(real, self.code_dropout(self.encoder(x), training=training), zero)
        if training:  # the mean of ||x - x'||^2 / dim over the real tokens
            target = at_least_float32(tf.stop_gradient(x))
            error = target - at_least_float32(self.decoder(z))
            weights = tf.cast(mask, error.dtype)
            errors = weights * tf.reduce_mean(tf.square(error), axis=-1)  # [batch, length]
            mean = mean_of_tokens(tf.reduce_sum(errors), tf.reduce_sum(weights))
            self.add_loss(self.weight * mean)
        return z
