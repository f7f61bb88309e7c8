"""A dense layer with dropout on its input and weight decay on its matrix."""

from typing import Optional

import tensorflow as tf

from disan_tf.common.options import check_at_least
from disan_tf.layers.children import build_child
from disan_tf.layers.dropout import Dropout, initial_seed
from disan_tf.layers.keras_layer import Dense, output_shape, vectors_spec
from disan_tf.layers.precision import cast_weight
from disan_tf.layers.serialization import ConfiguredLayer, serializable
from disan_tf.ops.elementwise import bias_activation
from disan_tf.ops.xla import ensure_shape


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

    Raises:
      ValueError: fewer than one unit, or a rate outside [0, 1).

    Example:
      >>> Linear(3, activation="elu")(tf.ones([2, 5, 8])).shape
      TensorShape([2, 5, 3])
    """

    def __init__(
        self,
        units: int,
        activation=None,
        use_bias: bool = True,
        dropout: float = 0.0,
        l2: float = 0.0,
        seed: Optional[int] = None,
        kernel_initializer="glorot_uniform",
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.units = check_at_least("units", units, 1)
        self.activation = tf.keras.activations.get(activation)
        self.use_bias = use_bias
        self.rate = dropout
        self.l2 = l2
        self.seed = initial_seed(seed)
        self.kernel_initializer = tf.keras.initializers.get(kernel_initializer)

    def build(self, input_shape):
        self.dropout = Dropout(self.rate, self.seed, name="dropout", dtype=self.dtype_policy)
        build_child(self.dropout, input_shape)
        self.dense = Dense(
            self.units,
            self.activation,
            self.use_bias,
            self.kernel_initializer,
            kernel_regularizer=weight_decay(self.l2),
            name="dense",
            dtype=self.dtype_policy,
        )
        build_child(self.dense, input_shape)
        self.input_spec = vectors_spec(input_shape)
        super().build(input_shape)

    def compute_output_shape(self, input_shape):
        return output_shape([*input_shape[:-1], self.units])

    def call(self, x, training=None):
        return self.activate(self.product(x, training))

    def product(self, x, training=None):
        """Computes dropout(x) W, <float>[..., units]."""
        return project(self.dropout(x, training=training), cast_weight(self.dense.kernel, x.dtype))

    def activate(self, product, activation=None):
        """Computes activation(product + b), by default with the layer's own activation."""
        activation = activation or self.activation
        if not self.use_bias:
            return activation(product)
        return bias_activation(product, self.dense.bias, activation)

    def get_config(self):
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
