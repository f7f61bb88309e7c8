"""Every use of tensorflow-addons, whose development has ended: drop it by editing this file."""

import warnings

import tensorflow as tf

with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)  # its end-of-life notice
    import tensorflow_addons as tfa


def progress_bar() -> tf.keras.callbacks.Callback:
    """A terminal's progress bar: steps, time left, loss, accuracy, sentences per second."""
    return tfa.callbacks.TQDMProgressBar(
        epoch_bar_format="{n_fmt}/{total_fmt} {bar} {remaining} left - {desc}",
        metrics_format="{name}: {value:0.4g}",
        leave_overall_progress=False,
    )


def moving_average(optimizer, decay: float) -> tf.keras.optimizers.legacy.Optimizer:
    """`optimizer`, which also keeps an exponential moving average of the weights."""
    return tfa.optimizers.MovingAverage(optimizer, average_decay=decay)


def f1_scores(labels: tf.Tensor, predictions: tf.Tensor, classes: int) -> tf.Tensor:
    """F1 of each class, <float32>[classes], from <int32>[examples] labels and predictions."""
    metric = tfa.metrics.F1Score(classes)
    metric.update_state(tf.one_hot(labels, classes), tf.one_hot(predictions, classes))
    return metric.result()


def cohen_kappa(labels: tf.Tensor, predictions: tf.Tensor, classes: int) -> float:
    """Cohen's kappa of <int32>[examples] labels and predictions."""
    metric = tfa.metrics.CohenKappa(classes, sparse_labels=True)
    metric.update_state(labels, tf.one_hot(predictions, classes))
    return float(metric.result())
