"""The base class of heads with batch normalisation."""

import contextlib
import threading
from collections.abc import Iterator

import tensorflow as tf

from disan_tf.common.options import check_above_zero, check_at_least, check_layers, check_rate
from disan_tf.layers.base import BaseLayer
from disan_tf.layers.children import build_child
from disan_tf.layers.keras_layer import SAME_ON_REPLICAS
from disan_tf.ops import batch_share

_scope = threading.local()


@contextlib.contextmanager
def averaging(count: tf.Tensor) -> Iterator[None]:
    """Normalises by the batch whatever this thread calls or traces inside the context.

    The averages of batch normalisation become the means over this batch and the earlier batches,
    all with the same weight, whatever `training` is.

    Args:
      count: <float32>[], number of earlier batches; 0 discards the old averages.
    """
    _scope.count = count
    try:
        yield
    finally:
        _scope.count = None


class BatchNormHead(BaseLayer):
    """Base of heads whose hidden layers are normalised over the batch (Ioffe and Szegedy 2015).

    BN(x) = gamma * (x - mean) / sqrt(variance + epsilon) + beta

    feature by feature, in float32 under every policy. In training, mean and variance are the
    batch's; otherwise they are moving averages v <- momentum * v + (1 - momentum) * batch, which
    are saved with the weights. A batch of one example has variance 0 and becomes beta, where
    PyTorch raises an error. For the moving average PyTorch divides a variance by n - 1, Keras by
    n, which is 0.4 % less with 256 examples.

    Args:
      classes: number of classes.
      hidden_units: size of a hidden layer.
      hidden_layers: number of hidden layers.
      momentum: momentum of the moving averages; the default is PyTorch's (there momentum 0.1).
      epsilon: the default is PyTorch's.
      dropout, l2, seed: see `BaseLayer`.

    Raises:
      ValueError: a dropout rate or momentum outside [0, 1), an epsilon that is not above 0, or
        fewer than one class, hidden unit or layer.
    """

    def __init__(
        self,
        classes: int,
        hidden_units: int,
        hidden_layers: int = 2,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.classes = check_at_least("classes", classes, 1)
        self.hidden_units = check_at_least("hidden_units", hidden_units, 1)
        self.hidden_layers = check_layers("hidden_layers", hidden_layers)
        self.momentum = check_rate("momentum", momentum)
        self.epsilon = check_above_zero("epsilon", epsilon)

    def output_size(self, dim):
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


class BatchNormalization(tf.keras.layers.BatchNormalization):
    """Keras' layer; replicas that share a batch use the global batch's mean and variance.

    (With `synchronized`, Keras computes the variance as E[x^2] - E[x]^2, which rounds differently
    from one process, and reads the moving averages by a collective operation.)
    """

    def call(self, inputs, training=None):
        count = getattr(_scope, "count", None)
        if count is None:
            return super().call(inputs, training=training)
        x = tf.cast(inputs, tf.float32)
        moments = tf.nn.moments(x, axes=[0])
        for average, value in zip((self.moving_mean, self.moving_variance), moments):
            average.assign(average + (value - average) / (count + 1.0))
        normalised = tf.nn.batch_normalization(x, *moments, self.beta, self.gamma, self.epsilon)
        return tf.cast(normalised, inputs.dtype)

    def add_weight(self, *args, **kwargs):
        """Adds a weight; the moving averages are the same on all replicas."""
        if not kwargs.get("trainable", True):
            kwargs.update(SAME_ON_REPLICAS)
        return super().add_weight(*args, **kwargs)

    def _calculate_mean_and_var(self, x, axes, keep_dims, mask=None):
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
