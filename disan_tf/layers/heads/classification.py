"""The head of DiSAN and ReSAN: a hidden layer and an output layer."""

from typing import Any, Optional

import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import check_at_least
from disan_tf.layers.base import BaseLayer, LayerOptions
from disan_tf.layers.feed_forward import Highway
from disan_tf.layers.keras_layer import Activation, activation_of
from disan_tf.layers.serialization import serializable
from disan_tf.ops.masked_softmax import at_least_float32


@serializable
class ClassificationHead(BaseLayer):
    """A head from features to logits: a hidden layer and an output layer (DiSAN Sec. 5.2).

    hidden = activation(W_h x + b_h)
    logits = W hidden + b

    Args:
      classes: number of classes.
      hidden_units: size of the hidden layer.
      activation: activation of the hidden layer and the highway layer.
      logit_bias: whether the output layer has a bias b (the authors' SST code has none).
      highway: whether a `Highway` layer stands between the two (ReSAN on SNLI).
      dropout, l2, seed: see `BaseLayer`; dropout acts on the inputs of all matrices, which are
        regularised.

    Call arguments:
      x: <float>[batch, dim].
      training: whether dropout acts.

    Returns:
      Logits, <float32>[batch, classes].
    """

    def __init__(
        self,
        classes: int,
        hidden_units: int,
        activation: Activation = "elu",
        logit_bias: bool = True,
        highway: bool = False,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.classes = check_at_least("classes", classes, 1)
        self.hidden_units = check_at_least("hidden_units", hidden_units, 1)
        self.activation = activation_of(activation)
        self.logit_bias = logit_bias
        self.has_highway = highway

    def build(self, input_shape: tf.TensorShape) -> None:
        self.hidden = self.add_linear(
            "hidden", input_shape[-1], self.hidden_units, activation=self.activation
        )
        if self.has_highway:
            shape = [None, self.hidden_units]
            self.highway = self.add_child(Highway, "highway", shape, self.activation)
        self.logits = self.add_linear(
            "logits", self.hidden_units, self.classes, use_bias=self.logit_bias
        )
        super().build(input_shape)

    def output_size(self, dim: int) -> int:
        return self.classes

    def call(self, x: tf.Tensor, training: Optional[bool] = None) -> tf.Tensor:
        hidden = self.hidden(x, training=training)
        if self.has_highway:
            hidden = self.highway(hidden, training=training)
        return at_least_float32(self.logits(hidden, training=training))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "highway": self.has_highway}
