"""The base class of the papers' layers: shared arguments, sublayers and weights."""

import inspect
from typing import Any, Optional

import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import check_at_least, check_rate
from disan_tf.layers.dropout import Dropout, initial_seed, site_seed
from disan_tf.layers.keras_layer import (
    UNCAST,
    Dense,
    Initializer,
    build_child,
    mask_tensor,
    output_shape,
    vectors_spec,
)
from disan_tf.layers.linear import Linear, weight_decay
from disan_tf.layers.serialization import ConfiguredLayer, KerasOptions


class LayerOptions(KerasOptions, total=False):
    """Arguments that all layers have, see `BaseLayer`."""

    dropout: float
    l2: float
    seed: Optional[int]


class BaseLayer(ConfiguredLayer):
    """A Keras layer with the arguments that all layers of the papers share.

    A subclass creates and builds its sublayers in `build`, with the `add_...` methods: a sublayer
    has this layer's dropout rate, weight decay and dtype policy, and a seed that derives from this
    layer's seed and the sublayer's name. `disan_tf/layers/README.md` has the contract of every
    layer (masks, padding, precision).

    Args:
      dropout: rate of every `Dropout` in the layer, in [0, 1).
      l2: weight decay, which adds l2 * 0.5 * ||W||^2 to the loss for every regularised matrix W.
      seed: integer from which the seeds of all sublayers derive; None = drawn when the layer is
        made, so that `keras.utils.set_random_seed` reproduces it, and kept in the config.

    Call arguments of layers that document no others:
      x: <float>[batch, length, dim], finite on padding too: NaN there would make gradients NaN.
      mask: <bool>[batch, length], True = real token; None = the mask that Keras passes on from
        earlier layers, or else all tokens. If the output has vectors of tokens, it keeps the mask.
      training: whether dropout acts.

    Raises:
      ValueError: an impossible argument, as "name=value must be ...".

    Example:
      >>> block = DirectionalSelfAttention(16, direction="forward")
      >>> block(tf.ones([2, 5, 8]), mask=tf.ones([2, 5], tf.bool)).shape
      TensorShape([2, 5, 16])
    """

    keeps_tokens = True  # whether the output has a vector for each token of the (first) input
    output_size = None  # the size of input vectors -> the size of output vectors, if it is known
    reads_vectors = True  # whether the (first) input holds vectors, all of one size

    def __init__(
        self,
        dropout: float = 0.0,
        l2: float = 0.0,
        seed: Optional[int] = None,
        **kwargs: Unpack[KerasOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.dropout = check_rate("dropout", dropout)
        self.l2 = check_at_least("l2", l2, 0)
        self.seed = initial_seed(seed)
        self.supports_masking = True
        self.input_spec = vectors_spec(self) if self.reads_vectors else None

    def build(self, input_shape: tf.TensorShape) -> None:
        """Keeps the size of the input's vectors; a call with another size raises ValueError."""
        if self.reads_vectors:
            self.input_spec = vectors_spec(self, input_shape[-1])
        super().build(input_shape)

    def compute_output_shape(self, input_shape: tf.TensorShape) -> tf.TensorShape:
        """Returns the output's shape, without a call if the layer has an `output_size`."""
        if self.output_size is None:
            return super().compute_output_shape(input_shape)
        *tokens, dim = input_shape
        kept = tokens if self.keeps_tokens else tokens[:1]
        return output_shape([*kept, self.output_size(dim)])

    def compute_mask(
        self, inputs: tf.Tensor, mask: Optional[tf.Tensor] = None
    ) -> Optional[tf.Tensor]:
        """Returns the output's mask; None if the output has no vectors of tokens."""
        if mask is None or not self.keeps_tokens:
            return None
        return mask_tensor(mask)

    def add_child(
        self, kind: Any, name: str, input_shape: tf.TensorShape, *args: Any, **options: Any
    ) -> Any:
        """Builds a sublayer of a class; `options` override this layer's `child_options`.

        A class of this package gets the options that its constructor names. A class of Keras gets
        only the name and the dtype.
        """
        if not (isinstance(kind, type) and issubclass(kind, tf.keras.layers.Layer)):
            raise ValueError(
                f"kind={kind} must be a layer class; give its arguments after input_shape."
            )
        is_ours = issubclass(kind, ConfiguredLayer)
        constructor: Any = kind.__init__  # type: ignore[misc]
        names = inspect.signature(constructor).parameters if is_ours else ("name", "dtype")
        shared = {key: value for key, value in self.child_options(name).items() if key in names}
        return build_child(kind(*args, **{**shared, **options}), input_shape)

    def add_linear(self, name: str, input_dim: int, units: int, **options: Any) -> Linear:
        """Builds a `Linear` sublayer; `options` override the layer's dropout, l2 and dtype."""
        return self.add_child(Linear, name, [None, None, input_dim], units, **options)

    def add_dropout(self, name: str) -> Dropout:
        """Builds a `Dropout` sublayer."""
        seed = site_seed(self.seed, name)
        dropout = Dropout(self.dropout, seed, name=name, dtype=self.dtype_policy)
        return build_child(dropout, None)

    def add_projection(self, name: str, input_dim: int, units: int) -> tf.keras.layers.Dense:
        """Builds a matrix product without bias, dropout or weight decay."""
        projection = Dense(units, use_bias=False, name=name, dtype=self.dtype_policy)
        return build_child(projection, [None, None, input_dim])

    def add_uncast_weight(
        self, name: str, shape: list, initializer: Initializer, l2: float = 0.0
    ) -> tf.Variable:
        """Adds a weight that Keras leaves in float32 under mixed precision; the layer casts it."""
        options = {"initializer": initializer, "regularizer": weight_decay(l2), **UNCAST}
        return self.add_weight(name=name, shape=shape, **options)

    def child_options(self, name: str) -> dict:
        """Returns the shared constructor arguments for a `BaseLayer` sublayer of this name."""
        shared = {"dropout": self.dropout, "l2": self.l2, "seed": site_seed(self.seed, name)}
        return {**shared, "name": name, "dtype": self.dtype_policy}
