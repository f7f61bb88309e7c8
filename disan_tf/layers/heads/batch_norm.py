"""What heads with batch normalisation have in common."""

import tensorflow as tf

from disan_tf.layers.base import BaseLayer


class BatchNormHead(BaseLayer):
    """Base of heads whose hidden layers are normalised over the batch (Ioffe and Szegedy 2015).

    BN(x) = gamma * (x - mean) / sqrt(variance + epsilon) + beta, feature by feature, in float32
    under every policy. In training mean and variance are those of the batch, else moving averages
    of them, v <- momentum * v + (1 - momentum) * batch, which are saved with the weights. A batch
    of one example has the variance 0 and becomes beta; PyTorch refuses it. PyTorch also averages
    variances with n - 1 in the denominator, Keras with n: for 256 examples the moving variance is
    0.4 % less here.

    Args:
      classes: number of classes.
      hidden_units: size of each hidden layer.
      hidden_layers: how many.
      momentum: of the moving averages; PyTorch's default, which it calls momentum 0.1.
      epsilon: PyTorch's default.
      dropout, l2, seed: see `BaseLayer`.

    Raises:
      ValueError: a dropout rate outside [0, 1), or no hidden layer.
    """

    def __init__(
        self, classes: int, hidden_units: int, hidden_layers: int = 2, momentum: float = 0.9,
        epsilon: float = 1e-5, **kwargs,
    ):  # fmt: skip
        super().__init__(**kwargs)
        if not 0.0 <= self.dropout < 1.0:  # here, for He's rule would meet it before `Dropout` does
            raise ValueError(f"dropout={self.dropout!r}; a dropout rate lies in [0, 1).")
        if hidden_layers < 1:
            raise ValueError(f"hidden_layers={hidden_layers!r}; a head has at least 1.")
        self.classes = classes
        self.hidden_units = hidden_units
        self.hidden_layers = hidden_layers
        self.momentum = momentum
        self.epsilon = epsilon

    def add_norm(self, name: str, dim: int) -> tf.keras.layers.BatchNormalization:
        """A built BN of <float>[batch, dim]."""
        norm = tf.keras.layers.BatchNormalization(
            momentum=self.momentum, epsilon=self.epsilon, name=name, dtype=self.dtype_policy
        )
        norm.build([None, dim])
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
