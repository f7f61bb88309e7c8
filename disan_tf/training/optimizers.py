"""The papers' optimizers, and what may be wrapped around them."""

import contextlib
import functools
from collections.abc import Mapping
from typing import Optional

import tensorflow as tf

from disan_tf.ops.native import runtime
from disan_tf.options import (
    check_above_zero,
    check_at_least,
    check_rate,
    check_section,
    chosen,
)


def adadelta(
    learning_rate: float = 0.5, rho: float = 0.95, epsilon: float = 1e-8
) -> tf.keras.optimizers.legacy.Optimizer:
    """TensorFlow 1's Adadelta (Zeiler 2012), with its defaults of rho and epsilon.

    The legacy Keras class equals it bit for bit on dense and on sparse gradients: rows of an
    embedding that are not in the batch keep their values and both accumulators. The newer class
    decays all rows, and the default epsilon of 1e-7 makes the steps about three times as large.
    Where native operations are used, dense gradients go through one of them, which differs in the
    last bits: it rounds the quotient of the two roots once, TensorFlow three times.
    """
    check_rate("rho", rho)
    check_above_zero("epsilon", epsilon)
    return _Adadelta(learning_rate, rho=rho, epsilon=epsilon, name="Adadelta")


def adam(learning_rate: float = 0.001) -> tf.keras.optimizers.legacy.Optimizer:
    """Adam (Kingma and Ba 2015) with the defaults of the paper and of PyTorch.

    Epsilon, 1e-8, is added to the root of the second moment before that is corrected for its
    bias (the paper's "epsilon hat"), PyTorch adds it after that: no difference to speak of.
    """
    return tf.keras.optimizers.legacy.Adam(learning_rate, epsilon=1e-8, name="Adam")


def rmsprop(learning_rate: float = 0.001) -> tf.keras.optimizers.legacy.Optimizer:
    """RMSProp (Hinton 2012) with the defaults of PyTorch, which adds epsilon to the root.

    Rows of an embedding that are not in the batch keep their values and their mean square. Where
    native operations are used, dense gradients go through one of them.
    """
    return _RMSprop(learning_rate, rho=0.99, epsilon=1e-8, name="RMSprop")


def adagrad(
    learning_rate: float = 0.2, start: float = 1.0, clip_norm: Optional[float] = None
) -> tf.keras.optimizers.legacy.Optimizer:
    """Adagrad (Duchi et al. 2011) as the official biLM is trained.

    Args:
      learning_rate: as there.
      start: the accumulated squares before the first step, as there.
      clip_norm: gradients of a greater global norm are scaled to it; None scales none.

    Raises:
      ValueError: a negative start, or a norm that is not above 0.
    """
    check_at_least("start", start, 0)
    if clip_norm is not None:
        check_above_zero("clip_norm", clip_norm)
    return tf.keras.optimizers.legacy.Adagrad(
        learning_rate, start, epsilon=0.0, global_clipnorm=clip_norm, name="Adagrad"
    )


OPTIMIZERS = {"adadelta": adadelta, "adagrad": adagrad, "adam": adam, "rmsprop": rmsprop}


def check_options(
    learning_rate: float, optimizer: str = "adadelta",
    optimizer_options: Optional[Mapping] = None, *, moving_average: float,
) -> None:  # fmt: skip
    """The options of `build_optimizer`, those of `config.train`.

    Raises:
      UserError: an unknown optimizer, or an option that it does not take.
      ValueError: an impossible value of another option.
    """
    check_at_least("learning_rate", learning_rate, 0)
    check_rate("moving_average", moving_average)
    make = chosen(OPTIMIZERS, "train", {"optimizer": optimizer}, "optimizer")
    make = functools.partial(make, learning_rate=learning_rate)
    check_section("train.optimizer_options", optimizer_options or {}, optimizer, make)


class _Adadelta(tf.keras.optimizers.legacy.Adadelta):
    """The legacy class, whose dense steps read and write each number once."""

    def _resource_apply_dense(self, grad, var, apply_state=None):
        if not runtime.is_used():
            return super()._resource_apply_dense(grad, var, apply_state)
        slots = [self.get_slot(var, name).handle for name in ("accum_grad", "accum_var")]
        settings = _settings(self, var, apply_state)
        return runtime.operations().disan_adadelta(var.handle, *slots, grad, *settings)


class _RMSprop(tf.keras.optimizers.legacy.RMSprop):
    """The legacy class, whose dense steps read and write each number once."""

    def _resource_apply_dense(self, grad, var, apply_state=None):
        if not runtime.is_used():
            return super()._resource_apply_dense(grad, var, apply_state)
        settings = _settings(self, var, apply_state)
        squares = self.get_slot(var, "rms").handle
        return runtime.operations().disan_rms_prop(var.handle, squares, grad, *settings)


def _settings(optimizer, var, apply_state):
    """Learning rate, rho and epsilon of a step, <float32>[]."""
    key = var.device, var.dtype.base_dtype
    settings = (apply_state or {}).get(key) or optimizer._fallback_apply_state(*key)
    return [tf.cast(settings[name], tf.float32) for name in ("lr_t", "rho", "epsilon")]


def build_optimizer(
    config, variables, learning_rate: Optional[float] = None
) -> tf.keras.optimizers.legacy.Optimizer:
    """The optimizer of a config: moving average and loss scaling as `train` and `dtype` say.

    It is `train.optimizer`, a key of `OPTIMIZERS` ("adadelta" where it is absent), with
    `train.optimizer_options`, if there are any. The learning rate is `train.learning_rate`, where
    no other is given.

    Its slots for `variables` exist at once: made inside the first training step, they would
    make TensorFlow trace that step twice.
    """
    make = OPTIMIZERS[config.train.get("optimizer", "adadelta")]
    options = config.train.get("optimizer_options", {})
    optimizer = make(learning_rate or config.train.learning_rate, **options)
    if config.train.moving_average:
        from disan_tf.addons import moving_average  # only then is tensorflow-addons needed

        optimizer = moving_average(optimizer, config.train.moving_average)
    if config.dtype == "mixed_float16":
        optimizer = tf.keras.mixed_precision.LossScaleOptimizer(optimizer)
    optimizer._create_all_weights(variables)
    return optimizer


@contextlib.contextmanager
def averaged_weights(optimizer, variables):
    """Inside, the optimizer's variables are their moving averages, if it keeps any."""
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
