"""The base class of heads with batch normalisation."""

import tensorflow as tf

from disan_tf.layers.base import BaseLayer
from disan_tf.layers.children import build_child
from disan_tf.options import check_at_least


class BatchNormHead(BaseLayer):
    """Base of heads whose hidden layers are normalised over the batch (Ioffe and Szegedy 2015).

    BN(x) = gamma * (x - mean) / sqrt(variance + epsilon) + beta

    feature by feature, in float32 under every policy. In training, mean and variance are those of
    the batch; otherwise they are moving averages v <- momentum * v + (1 - momentum) * batch, which
    are saved with the weights. A batch of one example has variance 0 and becomes beta, where
    PyTorch raises an error. For its moving average PyTorch divides a variance by n - 1, Keras by
    n: with 256 examples that is 0.4 % less.

    Args:
      classes: number of classes.
      hidden_units: size of a hidden layer.
      hidden_layers: number of hidden layers.
      momentum: of the moving averages; the default is PyTorch's (which calls it momentum 0.1).
      epsilon: the default is PyTorch's.
      dropout, l2, seed: see `BaseLayer`.

    Raises:
      ValueError: a dropout rate outside [0, 1), or fewer than one class, hidden unit or layer.
    """

    def __init__(
        self, classes: int, hidden_units: int, hidden_layers: int = 2, momentum: float = 0.9,
        epsilon: float = 1e-5, **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self.classes = check_at_least("classes", classes, 1)
        self.hidden_units = check_at_least("hidden_units", hidden_units, 1)
        self.hidden_layers = check_at_least("hidden_layers", hidden_layers, 1)
        self.momentum = momentum
        self.epsilon = epsilon

    def hidden_input_dims(self, input_dim: int) -> list:
        """The sizes of the inputs of the hidden layers, of features of this size."""
        return [input_dim] + [self.hidden_units] * (self.hidden_layers - 1)

    def add_norm(self, name: str, dim: int) -> tf.keras.layers.BatchNormalization:
        """A built BN of <float>[batch, dim]."""
        norm = tf.keras.layers.BatchNormalization(
            momentum=self.momentum, epsilon=self.epsilon, name=name, dtype=self.dtype_policy
        )
        build_child(norm, [None, dim])
        return norm

    def get_config(self):
        config = {
            "classes": self.classes,
            "hidden_units": self.hidden_units,
            "hidden_layers": self.hidden_layers,
            "momentum": self.momentum,
            "epsilon": self.epsilon,
        }
        return {**super().get_config(), **config}
