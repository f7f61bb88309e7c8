"""The papers' optimizers, with moving averages of the weights and loss scaling."""

import contextlib
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Optional

import tensorflow as tf

from disan_tf.addons import moving_average
from disan_tf.common.checks import check_above_zero, check_at_least, check_rate
from disan_tf.common.options import chosen, read_section
from disan_tf.ops.native import runtime
from disan_tf.ops.tracing import is_jit_compiled


def adadelta(
    learning_rate: float = 0.5, rho: float = 0.95, epsilon: float = 1e-8
) -> tf.keras.optimizers.legacy.Optimizer:
    """Returns TensorFlow 1's Adadelta (Zeiler 2012), with its default rho and epsilon.

    Keras' legacy class is bit-identical to it on dense and on sparse gradients: embedding rows
    that are not in the batch keep their values and both accumulators. Keras' newer class decays all
    rows, and the legacy class' default epsilon, 1e-7, makes steps about three times as large.

    Dense gradients use a native operation if available. Its results differ in the last bits: it
    rounds the quotient of the two roots once, TensorFlow three times.
    """
    check_rate("rho", rho)
    check_above_zero("epsilon", epsilon)
    return _Adadelta(learning_rate, rho=rho, epsilon=epsilon, name="Adadelta")


def adam(learning_rate: float = 0.001) -> tf.keras.optimizers.legacy.Optimizer:
    """Returns Adam (Kingma and Ba 2015) with the defaults of the paper and PyTorch.

    Epsilon, 1e-8, is added to the root of the second moment before its bias is corrected (the
    paper's "epsilon hat"); PyTorch adds it afterwards. The difference is negligible.
    """
    return _Adam(learning_rate, epsilon=1e-8, name="Adam")


def rmsprop(learning_rate: float = 0.001) -> tf.keras.optimizers.legacy.Optimizer:
    """Returns RMSProp (Hinton 2012) with PyTorch's defaults; epsilon is added to the root.

    Embedding rows that are not in the batch keep their values; their mean square decays. Dense
    gradients use a native operation if available.
    """
    return _RMSprop(learning_rate, rho=0.99, epsilon=1e-8, name="RMSprop")


def adagrad(learning_rate: float = 0.2, start: float = 1.0) -> tf.keras.optimizers.legacy.Optimizer:
    """Returns Adagrad (Duchi et al. 2011) with the official biLM's learning rate and initial sum.

    `start` is the sum of squares before the first step; a negative one is a ValueError.
    """
    check_at_least("start", start, 0)
    return _Adagrad(learning_rate, start, epsilon=0.0, name="Adagrad")


OPTIMIZERS = {"adadelta": adadelta, "adagrad": adagrad, "adam": adam, "rmsprop": rmsprop}


@dataclass(frozen=True)
class Averaging:
    """The options of `config.train` for the moving average of the weights.

    Args:
      moving_average: the decay, in [0, 1); 0 = no average.
      moving_average_warm_up: whether the decay begins low, see `disan_tf.addons.moving_average`.

    Raises:
      ValueError: an impossible decay.
    """

    moving_average: float
    moving_average_warm_up: bool = False

    def __post_init__(self):
        check_rate("moving_average", self.moving_average)


@dataclass(frozen=True)
class Optimizer:
    """The options of `config.train` for the optimizer.

    Args:
      learning_rate: at least 0.
      optimizer: a key of `OPTIMIZERS`.
      optimizer_options: further arguments of that function.
      clip_norm: the global norm to which larger gradients are scaled down; 0 = no clipping.

    Raises:
      UserError: an unknown optimizer or option of it.
      ValueError: an impossible value.
    """

    learning_rate: float
    optimizer: str = "adadelta"
    optimizer_options: Optional[Mapping] = None
    clip_norm: float = 0.0

    def __post_init__(self):
        check_at_least("learning_rate", self.learning_rate, 0)
        check_at_least("clip_norm", self.clip_norm, 0)
        make = chosen(OPTIMIZERS, "train", {"optimizer": self.optimizer}, "optimizer")
        make = functools.partial(make, learning_rate=self.learning_rate)
        options = self.optimizer_options or {}
        read_section("train.optimizer_options", options, self.optimizer, make)

    def build(
        self,
        averaging: Averaging,
        dtype: str,
        variables: Sequence[tf.Variable],
        learning_rate: Optional[float] = None,
    ) -> tf.keras.optimizers.legacy.Optimizer:
        """Builds the optimizer, with the moving average and the loss scaling around it.

        Args:
          averaging: the moving average of the weights.
          dtype: the precision of the model; "mixed_float16" adds loss scaling.
          variables: the trained variables. Their slots are created here: slots that the first
            training step created would make TensorFlow trace that step twice.
          learning_rate: None = the configured one.
        """
        make = OPTIMIZERS[self.optimizer]
        optimizer = make(learning_rate or self.learning_rate, **(self.optimizer_options or {}))
        if averaging.moving_average:
            decay = averaging.moving_average, averaging.moving_average_warm_up
            optimizer = moving_average(optimizer, *decay)
        if dtype == "mixed_float16":
            optimizer = tf.keras.mixed_precision.LossScaleOptimizer(optimizer)
        optimizer._create_all_weights(variables)
        return optimizer


class RowSteps:
    """Mixin of Keras' legacy optimizers: takes sparse gradients under XLA too.

    A sparse step changes the rows of the batch, weights and slots. Keras finds the distinct rows,
    whose number depends on the batch. Under XLA each occurrence of a row computes the row's step
    from the sum of its gradients, so several occurrences write equal values.

    Attributes:
      row_slots: the names of the slots that `step_rows` reads; None = the optimizer's step on a
        dense gradient changes the same rows (Adam, RMSProp).
    """

    row_slots = None

    def step_rows(self, gradients, values, *slots, **settings):
        """Returns new values and slots of rows, all <float>[rows, dim]."""
        raise NotImplementedError

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices, apply_state=None):
        if not is_jit_compiled():
            return super()._resource_apply_sparse_duplicate_indices(
                grad, handle, indices, apply_state=apply_state
            )
        if self.row_slots is None:
            dense = tf.math.unsorted_segment_sum(grad, indices, handle.shape[0])
            return self._resource_apply_dense(dense, handle, apply_state=apply_state)
        tables = [handle, *(self.get_slot(handle, name) for name in self.row_slots)]
        indices, sums = sums_of_rows(grad, indices)
        rows = [tf.gather(table, indices) for table in tables]
        rows = self.step_rows(sums, *rows, **_all_settings(self, handle, apply_state))
        pairs = zip(tables, rows)
        return tf.group(*(it.scatter_update(tf.IndexedSlices(new, indices)) for it, new in pairs))


def sums_of_rows(values: tf.Tensor, rows: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the row numbers in ascending order, and for each the sum of its row's values.

    `values` <float>[occurrences, dim] and `rows` <int>[occurrences] have the results' shapes.
    """
    rows, sums, numbers = _sums_of_distinct_rows(values, rows)
    return rows, tf.gather(sums, numbers)


def sum_rows(gradient):
    """Returns a gradient; of a sparse one, each row once, with the sum of its occurrences."""
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    rows, numbers = tf.unique(gradient.indices)
    sums = tf.math.unsorted_segment_sum(gradient.values, numbers, tf.size(rows))
    return tf.IndexedSlices(sums, rows, gradient.dense_shape)


def summed_values(gradient) -> tf.Tensor:
    """Returns the values of `sum_rows`.

    Under XLA, whose shapes cannot depend on the data, rows of zeros follow.
    """
    if is_jit_compiled() and isinstance(gradient, tf.IndexedSlices):
        return _sums_of_distinct_rows(gradient.values, gradient.indices)[1]
    summed = sum_rows(gradient)
    return getattr(summed, "values", summed)


def _sums_of_distinct_rows(values, rows):
    """Returns sorted rows, the sums of the distinct rows and then zeros, and each row's number."""
    order = tf.argsort(rows, stable=True)
    rows, values = tf.gather(rows, order), tf.gather(values, order)
    is_new = tf.pad(tf.cast(rows[1:] != rows[:-1], tf.int32), [[1, 0]])
    numbers = tf.cumsum(is_new)
    return rows, tf.math.unsorted_segment_sum(values, numbers, tf.size(rows)), numbers


class _Adam(RowSteps, tf.keras.optimizers.legacy.Adam):
    """Keras' legacy class, with sparse gradients under XLA."""


class _Adagrad(RowSteps, tf.keras.optimizers.legacy.Adagrad):
    """Keras' legacy class, with sparse gradients under XLA."""

    row_slots = ("accumulator",)

    def step_rows(self, gradients, values, squares, *, lr_t, epsilon, **_):
        squares += tf.square(gradients)
        return values - lr_t * gradients / (tf.sqrt(squares) + epsilon), squares


class _Adadelta(RowSteps, tf.keras.optimizers.legacy.Adadelta):
    """Keras' legacy class, with one native pass over the values for a dense gradient."""

    row_slots = ("accum_grad", "accum_var")

    def step_rows(self, gradients, values, squares, moves, *, lr_t, rho, epsilon, **_):
        squares = rho * squares + (1.0 - rho) * tf.square(gradients)
        move = tf.sqrt(moves + epsilon) * tf.math.rsqrt(squares + epsilon) * gradients
        return values - lr_t * move, squares, rho * moves + (1.0 - rho) * tf.square(move)

    def _resource_apply_dense(self, grad, var, apply_state=None):
        if not runtime.is_used():
            return super()._resource_apply_dense(grad, var, apply_state)
        slots = [self.get_slot(var, name).handle for name in self.row_slots]
        settings = _settings(self, var, apply_state)
        return runtime.operations().disan_adadelta(var.handle, *slots, grad, *settings)


class _RMSprop(RowSteps, tf.keras.optimizers.legacy.RMSprop):
    """Keras' legacy class, with one native pass over the values for a dense gradient."""

    def _resource_apply_dense(self, grad, var, apply_state=None):
        if not runtime.is_used():
            return super()._resource_apply_dense(grad, var, apply_state)
        settings = _settings(self, var, apply_state)
        squares = self.get_slot(var, "rms").handle
        return runtime.operations().disan_rms_prop(var.handle, squares, grad, *settings)


def _settings(optimizer, var, apply_state):
    """Returns the step's learning rate, rho and epsilon, <float32>[]."""
    settings = _all_settings(optimizer, var, apply_state)
    return [tf.cast(settings[name], tf.float32) for name in ("lr_t", "rho", "epsilon")]


def _all_settings(optimizer, var, apply_state) -> dict:
    key = var.device, var.dtype.base_dtype
    return (apply_state or {}).get(key) or optimizer._fallback_apply_state(*key)


@contextlib.contextmanager
def averaged_weights(optimizer, variables):
    """Gives variables the values of their moving averages, if any, inside the context."""
    optimizer = getattr(optimizer, "inner_optimizer", optimizer)
    if not hasattr(optimizer, "assign_average_vars"):
        yield
        return
    trained = [variable.numpy() for variable in variables]
    optimizer.assign_average_vars(variables)
    try:
        yield
    finally:
        for variable, value in zip(variables, trained):
            variable.assign(value)
