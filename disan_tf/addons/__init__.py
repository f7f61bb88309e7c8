"""Functions of tensorflow-addons (TFA): moving averages of weights, F1, kappa.

TFA is no longer developed, and its last release goes with TensorFlow 2.15. Only `with_tfa` imports
TFA; `without_tfa` has the same functions, and checkpoints of one continue with the other.
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


def f1_scores(labels: tf.Tensor, predictions: tf.Tensor, classes: int) -> tf.Tensor:
    """Computes F1 of each class, <float32>[classes], from <int32>[examples] labels and predictions.

    The F1 of a class that is neither a label nor a prediction is 0.
    """
    return backend().f1_scores(labels, predictions, classes)


def cohen_kappa(labels: tf.Tensor, predictions: tf.Tensor, classes: int) -> float:
    """Computes Cohen's kappa of <int32>[examples] labels and predictions.

    If all labels and predictions are of one class, kappa is undefined, and 0 is returned.
    """
    return backend().cohen_kappa(labels, predictions, classes)
