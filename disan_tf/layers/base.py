"""The base class of the papers' layers: shared arguments, sublayers and weights."""

from typing import Optional

import tensorflow as tf

from disan_tf.common.options import check_at_least, check_rate
from disan_tf.layers.children import build_child
from disan_tf.layers.dropout import Dropout, initial_seed, site_seed
from disan_tf.layers.keras_layer import UNCAST, Dense, mask_tensor, output_shape, vectors_spec
from disan_tf.layers.linear import Linear, weight_decay
from disan_tf.layers.serialization import ConfiguredLayer


class BaseLayer(ConfiguredLayer):
    """A Keras layer with the arguments that all layers of the papers share.

    A subclass creates and builds its sublayers in `build`, with the `add_...` methods or with
    `child_options`: each sublayer then has this layer's dropout rate, weight decay and dtype
    policy, and a seed that derives from this layer's seed and the sublayer's name. The contract
    of every layer (masks, padding, precision) is in `disan_tf/layers/README.md`.

    The mask may be implicit: Keras passes it on from earlier layers. An explicit mask has priority,
    and without a mask all tokens are real. The output keeps the mask if it has a vector for each
    token.

    Args:
      dropout: rate of every `Dropout` in the layer, in [0, 1).
      l2: weight decay, which adds l2 * 0.5 * ||W||^2 to the loss for every regularised matrix W.
      seed: integer from which the seeds of all sublayers derive; None = drawn when the layer is
        made, so that `keras.utils.set_random_seed` reproduces it, and kept in the config.

    Raises:
      ValueError: a dropout rate outside [0, 1), or a negative `l2`.
    """

    keeps_tokens = True  # whether the output has a vector for each token of the (first) input
    output_size = None  # the size of input vectors -> the size of output vectors, if it is known
    reads_vectors = True  # whether the (first) input holds vectors, all of one size

    def __init__(
        self,
        dropout: float = 0.0,
        l2: float = 0.0,
        seed: Optional[int] = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.dropout = check_rate("dropout", dropout)
        self.l2 = check_at_least("l2", l2, 0)
        self.seed = initial_seed(seed)
        self.supports_masking = True

    def build(self, input_shape):
        """Keeps the size of the input's vectors; a call with another size raises ValueError."""
        if self.reads_vectors:
            self.input_spec = vectors_spec(input_shape)
        super().build(input_shape)

    def compute_output_shape(self, input_shape):
        """Returns the output's shape, without a call if the layer has an `output_size`."""
        if self.output_size is None:
            return super().compute_output_shape(input_shape)
        *tokens, dim = input_shape
        kept = tokens if self.keeps_tokens else tokens[:1]
        return output_shape([*kept, self.output_size(dim)])

    def compute_mask(self, inputs, mask=None):
        """Returns the output's mask; None if the output has no vectors of tokens."""
        if mask is None or not self.keeps_tokens:
            return None
        return mask_tensor(mask)

    def add_linear(self, name: str, input_dim: int, units: int, **options) -> Linear:
        """Builds a `Linear` sublayer; `options` override the layer's dropout, l2 and dtype."""
        shared = {"dropout": self.dropout, "l2": self.l2, "dtype": self.dtype_policy}
        linear = Linear(units, name=name, seed=site_seed(self.seed, name), **{**shared, **options})
        return build_child(linear, [None, None, input_dim])

    def add_dropout(self, name: str) -> Dropout:
        """Builds a `Dropout` sublayer."""
        seed = site_seed(self.seed, name)
        dropout = Dropout(self.dropout, seed, name=name, dtype=self.dtype_policy)
        return build_child(dropout, None)

    def add_projection(self, name: str, input_dim: int, units: int) -> tf.keras.layers.Dense:
        """Builds a matrix product without bias, dropout or weight decay."""
        projection = Dense(units, use_bias=False, name=name, dtype=self.dtype_policy)
        return build_child(projection, [None, None, input_dim])

    def add_uncast_weight(self, name: str, shape: list, initializer, l2: float = 0.0):
        """Adds a weight that Keras leaves in float32 under mixed precision; the layer casts it.

        Args:
          name: name of the weight.
          shape: shape of the weight.
          initializer: a Keras initializer or its name.
          l2: see `BaseLayer`; 0 = the weight does not decay.
        """
        return self.add_weight(
            name=name,
            shape=shape,
            initializer=initializer,
            regularizer=weight_decay(l2),
            **UNCAST,
        )

    def child_options(self, name: str) -> dict:
        """Returns the shared constructor arguments for a `BaseLayer` sublayer of this name."""
        return {
            "dropout": self.dropout,
            "l2": self.l2,
            "seed": site_seed(self.seed, name),
            "name": name,
            "dtype": self.dtype_policy,
        }
