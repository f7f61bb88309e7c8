"""The heads of DRCN and DSA, with batch normalisation."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any, Optional

import tensorflow as tf
from typing_extensions import Unpack

from disan_tf.common.checks import check_above_zero, check_at_least, check_layers, check_rate
from disan_tf.layers.base import BaseLayer, LayerOptions
from disan_tf.layers.dropout import site_seed
from disan_tf.layers.keras_layer import SAME_ON_REPLICAS, build_child
from disan_tf.layers.linear import InitScale, Linear, he_normal, variance_factor
from disan_tf.layers.serialization import KerasOptions, serializable
from disan_tf.ops import batch_share
from disan_tf.ops.elementwise import LeakyReLU
from disan_tf.ops.masked_softmax import at_least_float32

_scope = threading.local()


@contextlib.contextmanager
def averaging(count: tf.Tensor) -> Iterator[None]:
    """Makes batch normalisation in this thread use the statistics of the batch, in the context.

    The averages of batch normalisation become the means over this batch and `count` <float32>[]
    earlier batches, all with the same weight, whatever `training` is; 0 discards the old averages.
    """
    _scope.count = count
    try:
        yield
    finally:
        _scope.count = None


class BatchNormHead(BaseLayer):
    """Base of heads whose hidden layers are normalised over the batch (Ioffe and Szegedy 2015).

    BN(x) = gamma * (x - mean) / sqrt(variance + epsilon) + beta

    feature by feature, in float32 under every policy. In training, mean and variance are taken
    over the batch; otherwise, they are moving averages, v <- momentum * v + (1 - momentum) * batch,
    which are saved with the weights. A batch of one example has variance 0 and becomes beta, where
    PyTorch raises an error. For the moving average PyTorch divides a variance by n - 1, Keras by
    n, which is 0.4 % less with 256 examples.

    Args:
      classes: number of classes.
      hidden_units: size of a hidden layer.
      hidden_layers: number of hidden layers.
      momentum: momentum of the moving averages, in [0, 1); PyTorch writes 0.9 as 0.1.
      epsilon: above 0; the default is PyTorch's.
      dropout, l2, seed: see `BaseLayer`; all matrices are regularised.

    Call arguments:
      x: features, <float>[batch, dim].
      training: whether dropout acts, and BN uses the batch's mean and variance.

    Returns:
      Logits, <float32>[batch, classes].
    """

    def __init__(
        self,
        classes: int,
        hidden_units: int,
        hidden_layers: int = 2,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        **kwargs: Unpack[LayerOptions],
    ) -> None:
        super().__init__(**kwargs)
        self.classes = check_at_least("classes", classes, 1)
        self.hidden_units = check_at_least("hidden_units", hidden_units, 1)
        self.hidden_layers = check_layers("hidden_layers", hidden_layers)
        self.momentum = check_rate("momentum", momentum)
        self.epsilon = check_above_zero("epsilon", epsilon)

    def output_size(self, dim: int) -> int:
        return self.classes

    def hidden_input_dims(self, input_dim: int) -> list:
        """Returns the hidden layers' input sizes, for features of size `input_dim`."""
        return [input_dim] + [self.hidden_units] * (self.hidden_layers - 1)

    def add_norm(self, name: str, dim: int) -> tf.keras.layers.BatchNormalization:
        """Builds a BN for <float>[batch, dim]."""
        norm = BatchNormalization(
            momentum=self.momentum, epsilon=self.epsilon, name=name, dtype=self.dtype_policy
        )
        return build_child(norm, [None, dim])


class _NormOptions(KerasOptions, total=False):
    hidden_layers: int
    momentum: float
    epsilon: float
    l2: float
    seed: Optional[int]


class _DropoutOptions(_NormOptions, total=False):
    dropout: float


class BatchNormalization(tf.keras.layers.BatchNormalization):
    """Keras' layer; replicas that share a batch use the global batch's mean and variance.

    (With `synchronized`, Keras computes the variance as E[x^2] - E[x]^2, which rounds differently
    from one process, and reads the moving averages by a collective operation.)
    """

    def call(self, inputs: tf.Tensor, training: Optional[bool] = None) -> tf.Tensor:
        count = getattr(_scope, "count", None)
        if count is None:
            return super().call(inputs, training=training)
        x = at_least_float32(inputs)
        count = tf.cast(count, x.dtype)
        moments = tf.nn.moments(x, axes=[0])
        for average, value in zip((self.moving_mean, self.moving_variance), moments):
            average.assign(average + (value - average) / (count + 1.0))
        normalised = tf.nn.batch_normalization(x, *moments, self.beta, self.gamma, self.epsilon)
        return tf.cast(normalised, inputs.dtype)

    def add_weight(self, *args: Any, **kwargs: Any) -> tf.Variable:
        """Adds a weight; the moving averages are the same on all replicas."""
        if not kwargs.get("trainable", True):
            kwargs.update(SAME_ON_REPLICAS)
        return super().add_weight(*args, **kwargs)

    def _calculate_mean_and_var(
        self, x: tf.Tensor, axes: list[int], keep_dims: bool, mask: Optional[tf.Tensor] = None
    ) -> tuple[tf.Tensor, tf.Tensor]:
        share = batch_share.current()
        if share is None:
            return super()._calculate_mean_and_var(x, axes, keep_dims, mask)
        examples = tf.cast(share.batch, x.dtype)
        mean = batch_share.total(batch_share.real_rows(tf.reduce_sum(x, axes, True))) / examples
        square = batch_share.real_rows(tf.reduce_sum(tf.square(x - mean), axes, True))
        variance = batch_share.total(square) / examples
        return (
            (mean, variance) if keep_dims else (tf.squeeze(mean, axes), tf.squeeze(variance, axes))
        )


@serializable
class DRCNHead(BatchNormHead):
    """A head of fully connected layers with batch normalisation (DRCN Sec. 3.1.3, 4.1).

    x_0 = dropout(features)
    x_l = ReLU(BN_l(x_(l-1) W_l + b_l))   for l = 1, ..., L
    logits = x_L W + b

    In training BN cancels b_l. All matrices are initialised by Glorot's rule, since the papers do
    not say how; biases to 0. The size of 1000 is from Kim et al. (2018, Sec. 4), the dropout
    on the features alone from the multiway DRCN paper (Sec. 4.1).

    500 features, 1000 units, two hidden layers and 3 classes: 1,509,003 parameters.

    Arguments, call arguments and result: see `BatchNormHead`.
    """

    def __init__(
        self,
        classes: int,
        hidden_units: int = 1000,
        dropout: float = 0.2,
        **kwargs: Unpack[_NormOptions],
    ) -> None:
        super().__init__(classes, hidden_units, dropout=dropout, **kwargs)

    def build(self, input_shape: tf.TensorShape) -> None:
        dims = self.hidden_input_dims(input_shape[-1])
        rates = [self.dropout] + [0.0] * (self.hidden_layers - 1)
        self.hidden = [
            self.add_linear(f"hidden_{n}", dim, self.hidden_units, dropout=rate)
            for n, (dim, rate) in enumerate(zip(dims, rates), 1)
        ]
        self.norms = [self.add_norm(f"norm_{n}", self.hidden_units) for n, _ in enumerate(dims, 1)]
        self.logits = self.add_linear("logits", self.hidden_units, self.classes, dropout=0.0)
        super().build(input_shape)

    def call(self, x: tf.Tensor, training: Optional[bool] = None) -> tf.Tensor:
        for hidden, norm in zip(self.hidden, self.norms):
            x = tf.nn.relu(norm(hidden(x, training=training), training=training))
        return at_least_float32(self.logits(x))


@serializable
class DSAHead(BatchNormHead):
    """A head of hidden layers with batch normalisation (DSA Appendix A and B).

    x_0 = features
    x_l = LeakyReLU(dropout(BN_l(x_(l-1))) W_l + b_l)   for l = 1, ..., L
    logits = x_L W + b

    with L = 2 for language inference and 1 for sentiment. All matrices are initialised by
    `he_normal`, with the `variance_factor` of the dropout on their inputs (none on W's input),
    biases to 0.

    Parameters: 816,903 with 2400 features, 300 units and 3 classes; 5,200,131 with 9600 features
    and 512 units; 183,005 with 600 features, one hidden layer of 300 units and 5 classes.

    Args:
      negative_slope: slope of LeakyReLU; PyTorch's default is 0.01.
      init_scale: see `variance_factor`.

    Other arguments, call arguments and result: see `BatchNormHead`.
    """

    def __init__(
        self,
        classes: int,
        hidden_units: int,
        negative_slope: float = 0.01,
        init_scale: InitScale = "keep",
        **kwargs: Unpack[_DropoutOptions],
    ) -> None:
        super().__init__(classes, hidden_units, **kwargs)
        self.negative_slope = check_above_zero("negative_slope", negative_slope)
        self.init_scale = init_scale

    def build(self, input_shape: tf.TensorShape) -> None:
        dims = self.hidden_input_dims(input_shape[-1])
        self.norms = [self.add_norm(f"norm_{n}", dim) for n, dim in enumerate(dims, 1)]
        self.hidden = [
            self._add_map(f"hidden_{n}", dim, self.hidden_units, self.dropout)
            for n, dim in enumerate(dims, 1)
        ]
        self.logits = self._add_map("logits", self.hidden_units, self.classes, dropout=0.0)
        super().build(input_shape)

    def _add_map(self, name: str, input_dim: int, units: int, dropout: float) -> Linear:
        seed = site_seed(self.seed, f"{name}/kernel")
        initializer = he_normal(seed, variance_factor(self.init_scale, dropout))
        return self.add_linear(
            name, input_dim, units, dropout=dropout, kernel_initializer=initializer
        )

    def call(self, x: tf.Tensor, training: Optional[bool] = None) -> tf.Tensor:
        for norm, hidden in zip(self.norms, self.hidden):
            product = hidden.product(norm(x, training=training), training)
            x = hidden.activate(product, LeakyReLU(self.negative_slope))
        return at_least_float32(self.logits(x))
