"""The functions of `disan_tf.addons` by tensorflow-addons; this file alone imports it."""

import math
import warnings

import tensorflow as tf

from disan_tf.addons.bar_text import EPOCH_FORMAT, METRIC_FORMAT, SEPARATOR, speed, start_at

with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)  # its end-of-life notice
    import tensorflow_addons as tfa


class ProgressBar(tfa.callbacks.TQDMProgressBar):
    """TFA's bar, adapted to a loop that resumes and evaluates in the middle of an epoch."""

    def __init__(self, batch_size, describe):
        super().__init__(
            epoch_bar_format=EPOCH_FORMAT,
            metrics_separator=SEPARATOR,
            metrics_format=METRIC_FORMAT,
            leave_overall_progress=False,
        )
        self._batch_size = batch_size
        self._describe = describe

    def on_epoch_begin(self, epoch, logs=None):
        if self.overall_progress_tqdm.n < epoch:
            start_at(self.overall_progress_tqdm, epoch)
        super().on_epoch_begin(epoch)

    def on_train_batch_begin(self, batch, logs=None):
        if self.steps_so_far == 0:
            start_at(self.epoch_progress_tqdm, batch % self.total_steps)

    def on_epoch_end(self, epoch, logs=None):
        # TFA fills the bar up to `total_steps`, but a training may end inside an epoch.
        self.total_steps = self.epoch_progress_tqdm.n + self.steps_to_update
        steps = max(self.num_samples_seen, 1)
        super().on_epoch_end(epoch, {name: total / steps for name, total in self.logs.items()})

    def on_test_begin(self, logs=None):
        """Shows no bar for evaluations, unlike TFA."""

    def on_test_end(self, logs=None):
        self.tqdm.write(f"step {logs['step']:,}: {self._describe(logs)}")

    def format_metrics(self, logs=None, factor=1):
        metrics = super().format_metrics(logs or {}, factor)
        return metrics + speed(self.epoch_progress_tqdm, self._batch_size)


def moving_average(optimizer, decay):
    return tfa.optimizers.MovingAverage(optimizer, average_decay=decay)


def f1_scores(labels, predictions, classes):
    metric = tfa.metrics.F1Score(classes)
    metric.update_state(tf.one_hot(labels, classes), tf.one_hot(predictions, classes))
    return metric.result()


def cohen_kappa(labels, predictions, classes):
    metric = tfa.metrics.CohenKappa(classes, sparse_labels=True)
    metric.update_state(labels, predictions)  # one-hot rows fail for two classes
    kappa = float(metric.result())
    return 0.0 if math.isnan(kappa) else kappa
