"""The functions of `disan_tf.addons` by tensorflow-addons; this file alone imports it."""

import functools
import math
import warnings

import tensorflow as tf

with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)  # its end-of-life notice
    import tensorflow_addons as tfa


def moving_average(optimizer, decay, warm_up=False):
    return tfa.optimizers.MovingAverage(optimizer, average_decay=decay, dynamic_decay=warm_up)


def f1_scores(labels, predictions, classes):
    metric = tfa.metrics.F1Score(classes)
    metric.update_state(tf.one_hot(labels, classes), tf.one_hot(predictions, classes))
    return metric.result()


@functools.cache
def _kappa(classes):
    """Returns one metric for all calls, because TFA traces the update of each new metric."""
    return tfa.metrics.CohenKappa(classes, sparse_labels=True)


def cohen_kappa(labels, predictions, classes):
    metric = _kappa(classes)
    metric.reset_state()
    metric.update_state(labels, predictions)  # one-hot rows fail for two classes
    kappa = float(metric.result())
    return 0.0 if math.isnan(kappa) else kappa
