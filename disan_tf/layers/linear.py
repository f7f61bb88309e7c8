"""A dense layer with dropout and weight decay; initial values and casts of weights."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any, Literal, Optional

import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import check_at_least, check_rate
from disan_tf.layers.dropout import Dropout, initial_seed
from disan_tf.layers.keras_layer import (
    Activation,
    Dense,
    Initializer,
    activation_of,
    build_child,
    initializer_of,
    output_shape,
    vectors_spec,
)
from disan_tf.layers.serialization import ConfiguredLayer, KerasOptions, serializable
from disan_tf.ops.elementwise import bias_activation
from disan_tf.ops.tracing import ensure_shape

InitScale = Literal["keep", "rate"]
_scope = threading.local()


@serializable
class Linear(ConfiguredLayer):
    """A dense layer, activation(dropout(x) W + b), which the other layers use.

    As in the authors' code, dropout acts on the input, and l2 * 0.5 * ||W||^2 is added to the loss
    for W, but not for b.

    Args:
      units: size of the result.
      activation: Keras activation or None.
      use_bias: whether there is a b, which is initialised to 0.
      dropout: rate, in [0, 1).
      l2: weight of 0.5 * ||W||^2 in the loss.
      seed: seed of the dropout masks; None = drawn, see `initial_seed`.
      kernel_initializer: for W, a Keras initializer or its name.

    Call arguments:
      x: <float>[..., dim].
      training: whether dropout acts.

    Returns:
      <float>[..., units].
    """

    reads_vectors = True

    def __init__(
        self,
        units: int,
        activation: Activation = None,
        use_bias: bool = True,
        dropout: float = 0.0,
        l2: float = 0.0,
        seed: Optional[int] = None,
        kernel_initializer: Initializer = "glorot_uniform",
        **kwargs: Unpack[KerasOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.units = check_at_least("units", units, 1)
        self.activation = activation_of(activation)
        self.use_bias = use_bias
        self.rate = check_rate("dropout", dropout)
        self.l2 = check_at_least("l2", l2, 0)
        self.seed = initial_seed(seed)
        self.kernel_initializer = initializer_of(kernel_initializer)

    def build(self, input_shape: tf.TensorShape) -> None:
        self.dropout = Dropout(self.rate, self.seed, name="dropout", dtype=self.dtype_policy)
        build_child(self.dropout, input_shape)
        arguments = self.units, self.activation, self.use_bias, self.kernel_initializer
        options = {"kernel_regularizer": weight_decay(self.l2), "dtype": self.dtype_policy}
        self.dense = build_child(Dense(*arguments, name="dense", **options), input_shape)
        self.input_spec = vectors_spec(self, input_shape[-1])
        super().build(input_shape)

    def compute_output_shape(self, input_shape: tf.TensorShape) -> tf.TensorShape:
        return output_shape([*input_shape[:-1], self.units])

    def call(self, x: tf.Tensor, training: Optional[bool] = None) -> tf.Tensor:
        return self.activate(self.product(x, training))

    def product(self, x: tf.Tensor, training: Optional[bool] = None) -> tf.Tensor:
        """Computes dropout(x) W, <float>[..., units]."""
        return project(self.dropout(x, training=training), cast_weight(self.dense.kernel, x.dtype))

    def activate(self, product: tf.Tensor, activation: Any = None) -> tf.Tensor:
        """Computes activation(product + b), by default with the layer's own activation."""
        activation = activation or self.activation
        if not self.use_bias:
            return activation(product)
        return bias_activation(product, self.dense.bias, activation)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "dropout": self.rate}


def project(x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
    """Computes x W for <float>[..., dim] and <float>[dim, units] of one dtype, by a rank-2 product.

    In a product of higher rank the gradient of W would be a batch of matrices before it is summed.
    """
    dim, units = kernel.shape
    product = tf.matmul(tf.reshape(x, [-1, dim]), kernel)
    product = tf.reshape(product, tf.concat([tf.shape(x)[:-1], [units]], axis=0))
    return ensure_shape(product, [*x.shape[:-1], units])


def weight_decay(l2: float) -> Optional[tf.keras.regularizers.Regularizer]:
    """Returns the regulariser l2 * 0.5 * ||W||^2 (Keras' L2 has no 0.5); None for l2 = 0."""
    return tf.keras.regularizers.L2(0.5 * l2) if l2 else None


@contextlib.contextmanager
def shared_conversions() -> Iterator[None]:
    """Makes `cast_weight` cast each weight once inside the context.

    A tied encoder uses its weights for both sentences: mixed precision would cast them, and their
    gradients, twice.
    """
    if getattr(_scope, "casts", None) is not None:  # an outer block already shares
        yield
        return
    _scope.casts = {}
    try:
        yield
    finally:
        _scope.casts = None


def cast_weight(weight: tf.Variable, dtype: tf.DType) -> tf.Tensor:
    """Returns the value of `weight` as `dtype`."""
    casts = getattr(_scope, "casts", None)
    if casts is None:
        return tf.cast(weight, dtype)
    graph = tf.compat.v1.get_default_graph()  # a loop's body is another graph, with other tensors
    key = id(weight), id(graph), dtype
    if key not in casts:  # both are stored too, so that no other object can reuse their ids
        casts[key] = weight, graph, tf.cast(weight, dtype)
    return casts[key][-1]


def he_normal(seed: int, keep: float = 1.0) -> tf.keras.initializers.VarianceScaling:
    """Returns the normal distribution with mean 0 and standard deviation sqrt(2 * keep / fan_in).

    With keep = 1 this is the rule of He et al. (2015), Sec. 2.2, for rectified activations.
    Gehring et al. (2017), Sec. 3.5, multiply the variance by the probability `keep` that dropout
    keeps an entry, because dropout divides the entries that it keeps by that probability. Keras'
    HeNormal has keep = 1 and is truncated; this distribution is not.

    fan_in is the number of inputs of a unit: dim for a matrix [dim, units], width * dim for the
    kernel of a convolution [width, dim, units]. Layers of one shape that share a seed get the same
    weights.
    """
    return tf.keras.initializers.VarianceScaling(
        2.0 * keep, mode="fan_in", distribution="untruncated_normal", seed=seed
    )


def variance_factor(init_scale: InitScale, rate: float) -> float:
    """Returns the factor `keep` of `he_normal` for a layer with dropout on its input.

    Args:
      init_scale: "keep", the probability 1 - rate that an entry is kept (Gehring et al. 2017, Sec.
        3.5); or "rate", the rate itself, as the DSA paper's appendix says literally
        ("square root of the dropout rate" times the weights), and 1 without dropout.
      rate: dropout rate in [0, 1).
    """
    return 1.0 - rate if init_scale == "keep" else rate or 1.0
