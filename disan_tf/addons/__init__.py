"""Moving averages of weights, with or without tensorflow-addons (TFA).

TFA is no longer developed, and its last release goes with TensorFlow 2.15. Only `with_tfa` imports
TFA; `without_tfa` has the same function, and checkpoints of one continue with the other.
"""

import functools
from types import ModuleType

import tensorflow as tf

from disan_tf.common import keras_version

keras_version.check()


@functools.cache
def backend() -> ModuleType:
    """Returns `with_tfa` if TFA can be imported, otherwise `without_tfa`."""
    try:
        from disan_tf.addons import with_tfa
    except ImportError:
        from disan_tf.addons import without_tfa

        return without_tfa
    return with_tfa


def moving_average(
    optimizer, decay: float, warm_up: bool = False
) -> tf.keras.optimizers.legacy.Optimizer:
    """Wraps `optimizer` to keep exponential moving averages of the weights.

    After each step average = decay * average + (1 - decay) * weight, from the initial weight on;
    `assign_average_vars(variables)` gives variables the values of their averages. With `warm_up`
    the decay after t steps is at most (1 + t) / (10 + t): short trainings forget their start.
    """
    return backend().moving_average(optimizer, decay, warm_up)
