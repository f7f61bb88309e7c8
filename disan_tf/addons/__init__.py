"""Moving averages of weights, with or without tensorflow-addons (TFA).

TFA is no longer developed, and its last release goes with TensorFlow 2.15. Only this module imports
TFA; `without_tfa` has the same optimizer, and checkpoints of one continue with the other.
"""

import functools
import warnings

import tensorflow as tf

from disan_tf.common import keras_version

keras_version.check()


@functools.cache
def optimizer_class() -> type:
    """Returns TFA's `MovingAverage` if TFA can be imported, otherwise `without_tfa`'s class."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # its end-of-life notice
            from tensorflow_addons.optimizers import MovingAverage
    except ImportError:
        from disan_tf.addons.without_tfa import MovingAverage
    return MovingAverage


def moving_average(
    optimizer, decay: float, warm_up: bool = False
) -> tf.keras.optimizers.legacy.Optimizer:
    """Wraps `optimizer` to keep exponential moving averages of the weights.

    After each step average = decay * average + (1 - decay) * weight, from the initial weight on;
    `assign_average_vars(variables)` gives variables the values of their averages. With `warm_up`
    the decay after t steps is at most (1 + t) / (10 + t): short trainings forget their start.
    """
    return optimizer_class()(optimizer, average_decay=decay, dynamic_decay=warm_up)
