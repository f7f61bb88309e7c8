"""Every use of tensorflow-addons, which is no longer developed: this file alone imports it."""

import math
import warnings
from typing import Callable, Optional

import tensorflow as tf

with warnings.catch_warnings():
    warnings.simplefilter("ignore", UserWarning)  # its end-of-life notice
    import tensorflow_addons as tfa


def progress_bar(
    batch_size: Optional[int] = None, describe: Callable[[dict], str] = str
) -> tf.keras.callbacks.Callback:
    """A progress bar for terminals: steps, time left, loss, score, sentences per second.

    Args:
      batch_size: sentences in a step; None = the speed is not shown.
      describe: a function that turns the logs of an evaluation into text.
    """
    return _ProgressBar(batch_size, describe)


class _ProgressBar(tfa.callbacks.TQDMProgressBar):
    """TFA's bar, adapted to a loop that resumes and evaluates in the middle of an epoch."""

    def __init__(self, batch_size, describe):
        super().__init__(
            epoch_bar_format="{n_fmt}/{total_fmt} {bar} {remaining} left - {desc}",
            metrics_format="{name}: {value:0.4g}",
            leave_overall_progress=False,
        )
        self._batch_size = batch_size
        self._describe = describe

    def on_epoch_begin(self, epoch, logs=None):
        if self.overall_progress_tqdm.n < epoch:
            _start_at(self.overall_progress_tqdm, epoch)
        super().on_epoch_begin(epoch)

    def on_train_batch_begin(self, batch, logs=None):
        if self.steps_so_far == 0:
            _start_at(self.epoch_progress_tqdm, batch % self.total_steps)

    def on_epoch_end(self, epoch, logs=None):
        # TFA fills the bar up to `total_steps`, but a training may end inside an epoch.
        self.total_steps = self.epoch_progress_tqdm.n + self.steps_to_update
        steps = max(self.num_samples_seen, 1)
        super().on_epoch_end(epoch, {name: total / steps for name, total in self.logs.items()})

    def on_test_begin(self, logs=None):
        """No bar for evaluations, unlike in TFA."""

    def on_test_end(self, logs=None):
        self.tqdm.write(f"step {logs['step']:,}: {self._describe(logs)}")

    def format_metrics(self, logs=None, factor=1):
        text = super().format_metrics(logs or {}, factor)
        rate = self.epoch_progress_tqdm.format_dict["rate"]  # steps per second; None at first
        if rate and self._batch_size:
            text += f"{self.metrics_separator}{rate * self._batch_size:,.0f} sentences/s"
        return text


def _start_at(bar, done):
    """Starts a new tqdm bar at `done` steps, which do not count for its speed."""
    bar.initial = bar.n = bar.last_print_n = done


def moving_average(optimizer, decay: float) -> tf.keras.optimizers.legacy.Optimizer:
    """`optimizer`, wrapped to keep exponential moving averages of the weights."""
    return tfa.optimizers.MovingAverage(optimizer, average_decay=decay)


def f1_scores(labels: tf.Tensor, predictions: tf.Tensor, classes: int) -> tf.Tensor:
    """F1 of each class, <float32>[classes], from <int32>[examples] labels and predictions.

    The F1 of a class that is neither a label nor a prediction is 0.
    """
    metric = tfa.metrics.F1Score(classes)
    metric.update_state(tf.one_hot(labels, classes), tf.one_hot(predictions, classes))
    return metric.result()


def cohen_kappa(labels: tf.Tensor, predictions: tf.Tensor, classes: int) -> float:
    """Cohen's kappa of <int32>[examples] labels and predictions.

    If all labels and predictions are of one class it is undefined, and 0 is returned.
    """
    metric = tfa.metrics.CohenKappa(classes, sparse_labels=True)
    metric.update_state(labels, predictions)  # one-hot rows fail for two classes
    kappa = float(metric.result())
    return 0.0 if math.isnan(kappa) else kappa
