"""What the layers of the papers share: dropout, weight decay, seeds, precision of children."""

import tensorflow as tf

from disan_tf.layers.dropout import Dropout, site_seed
from disan_tf.layers.linear import Linear


class BaseLayer(tf.keras.layers.Layer):
    """Base of layers that are made of `Linear` maps.

    Args:
      dropout: rate at every dropout site of the layer.
      l2: weight of 0.5 * ||W||^2 for the regularised matrices of the layer.
      seed: the sites' seeds derive from it and from the sites' names.
    """

    def __init__(self, dropout: float = 0.0, l2: float = 0.0, seed: int = 0, **kwargs):
        super().__init__(**kwargs)
        self.dropout = dropout
        self.l2 = l2
        self.seed = seed

    def add_linear(self, name: str, input_dim: int, units: int, **options) -> Linear:
        """A built `Linear` child with this layer's dropout, weight decay and precision.

        `options` win over the layer's own, so that l2=0.0 makes a matrix that does not decay.
        """
        shared = {"dropout": self.dropout, "l2": self.l2, "dtype": self.dtype_policy}
        linear = Linear(units, name=name, seed=site_seed(self.seed, name), **{**shared, **options})
        linear.build([None, None, input_dim])
        return linear

    def add_dropout(self, name: str) -> Dropout:
        """A built `Dropout` child."""
        seed = site_seed(self.seed, name)
        dropout = Dropout(self.dropout, seed, name=name, dtype=self.dtype_policy)
        dropout.build(None)
        return dropout

    def add_projection(self, name: str, input_dim: int, units: int) -> tf.keras.layers.Dense:
        """A built product without bias, dropout or weight decay."""
        projection = tf.keras.layers.Dense(
            units, use_bias=False, name=name, dtype=self.dtype_policy
        )
        projection.build([None, None, input_dim])
        return projection

    def child_options(self, name: str) -> dict:
        """Arguments that every `BaseLayer` child gets."""
        return {
            "dropout": self.dropout,
            "l2": self.l2,
            "seed": site_seed(self.seed, name),
            "name": name,
            "dtype": self.dtype_policy,
        }

    def get_config(self):
        config = {"dropout": self.dropout, "l2": self.l2, "seed": self.seed}
        return {**super().get_config(), **config}
