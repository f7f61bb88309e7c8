"""The functions of `disan_tf.addons` without tensorflow-addons."""

import collections
import time

import numpy as np
import tensorflow as tf
from tqdm.auto import tqdm

from disan_tf.addons.bar_text import EPOCH_FORMAT, METRIC_FORMAT, SEPARATOR, speed, start_at

OVERALL_FORMAT = "{l_bar}{bar} {n_fmt}/{total_fmt} ETA: {remaining}s,  {rate_fmt}{postfix}"
UPDATE_SECONDS = 0.1  # TFA's: small batches are not slowed down by drawing


class ProgressBar(tf.keras.callbacks.Callback):
    """A bar for the epochs and one for the steps of an epoch, as TFA draws them."""

    def __init__(self, batch_size, describe):
        super().__init__()
        self._batch_size = batch_size
        self._describe = describe
        self.last_update_time = time.time()

    def on_train_begin(self, logs=None):
        self.overall_progress_tqdm = tqdm(
            desc="Training",
            total=self.params["epochs"],
            bar_format=OVERALL_FORMAT,
            leave=False,
            dynamic_ncols=True,
            unit="epochs",
        )

    def on_train_end(self, logs=None):
        self.overall_progress_tqdm.close()

    def on_epoch_begin(self, epoch, logs=None):
        if self.overall_progress_tqdm.n < epoch:
            start_at(self.overall_progress_tqdm, epoch)
        print(f"Epoch {epoch + 1}/{self.params['epochs']}")
        self.epoch_progress_tqdm = tqdm(
            total=self.params["steps"], bar_format=EPOCH_FORMAT, dynamic_ncols=True, unit="steps"
        )
        self._sums, self._steps, self._pending = collections.defaultdict(float), 0, 0

    def on_train_batch_begin(self, batch, logs=None):
        if self._steps == 0:
            start_at(self.epoch_progress_tqdm, batch % self.params["steps"])

    def on_train_batch_end(self, batch, logs=None):
        self._steps += 1
        self._pending += 1
        for name, value in logs.items():
            self._sums[name] += value
        if time.time() - self.last_update_time >= UPDATE_SECONDS:
            self._update()
            self.last_update_time = time.time()

    def on_epoch_end(self, epoch, logs=None):
        self.epoch_progress_tqdm.miniters = self.epoch_progress_tqdm.mininterval = 0  # draw it
        self._update()
        self.epoch_progress_tqdm.close()
        self.overall_progress_tqdm.update(1)

    def on_test_end(self, logs=None):
        tqdm.write(f"step {logs['step']:,}: {self._describe(logs)}")

    def _update(self):
        bar = self.epoch_progress_tqdm
        metrics = (
            METRIC_FORMAT.format(name=name, value=total / self._steps)
            for name, total in self._sums.items()
        )
        bar.desc = SEPARATOR.join(metrics) + speed(bar, self._batch_size)
        bar.update(self._pending)
        self._pending = 0


class MovingAverage(tf.keras.optimizers.legacy.Optimizer):
    """An optimizer that keeps moving averages of the weights, with TFA's variables and names."""

    def __init__(self, optimizer, average_decay, name="MovingAverage"):
        super().__init__(name)
        self._optimizer = optimizer
        self._decay = average_decay
        self._track_trackable(optimizer, "awg_optimizer")  # the name in TFA's checkpoints

    def assign_average_vars(self, variables):
        """Gives each variable the value of its average."""
        for variable in variables:
            variable.assign(self.get_slot(variable, "average"))

    def apply_gradients(self, grads_and_vars, name=None, **kwargs):
        self._optimizer._iterations = self.iterations  # one count of steps, as in TFA
        return super().apply_gradients(grads_and_vars, name, **kwargs)

    @property
    def learning_rate(self):
        """The wrapped optimizer's learning rate, a variable."""
        return self._optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value):
        self._optimizer.learning_rate = value

    @property
    def weights(self):
        return self._weights + self._optimizer.weights

    def get_config(self):
        wrapped = tf.keras.optimizers.serialize(self._optimizer)
        return {**super().get_config(), "optimizer": wrapped, "average_decay": self._decay}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        wrapped = tf.keras.optimizers.deserialize(
            config["optimizer"], custom_objects, use_legacy_optimizer=True
        )
        return cls(wrapped, config["average_decay"], config["name"])

    def _create_hypers(self):
        self._optimizer._create_hypers()

    def _create_slots(self, var_list):
        self._optimizer._create_slots(var_list)
        for variable in var_list:
            self.add_slot(variable, "average", variable.read_value())

    def _prepare_local(self, var_device, var_dtype, apply_state):
        self._optimizer._prepare_local(var_device, var_dtype, apply_state)

    def _resource_apply_dense(self, grad, var, apply_state=None):
        step = self._optimizer._resource_apply_dense(grad, var, apply_state=apply_state)
        return self._update_average(var, step)

    def _resource_apply_sparse_duplicate_indices(self, grad, var, indices, apply_state=None):
        step = self._optimizer._resource_apply_sparse_duplicate_indices(
            grad, var, indices, apply_state=apply_state
        )
        return self._update_average(var, step)

    def _update_average(self, variable, step):
        with tf.control_dependencies([step]):
            average = self.get_slot(variable, "average")
            return tf.keras.backend.moving_average_update(average, variable, self._decay)


moving_average = MovingAverage


def f1_scores(labels, predictions, classes):
    matrix = tf.math.confusion_matrix(labels, predictions, classes, dtype=tf.float32)
    occurrences = tf.reduce_sum(matrix, axis=0) + tf.reduce_sum(matrix, axis=1)
    return tf.math.divide_no_nan(2 * tf.linalg.diag_part(matrix), occurrences)


def cohen_kappa(labels, predictions, classes):
    matrix = tf.math.confusion_matrix(labels, predictions, classes, dtype=tf.float64).numpy()
    shares = matrix / matrix.sum()
    by_chance = shares.sum(axis=0) @ shares.sum(axis=1)
    return float((np.trace(shares) - by_chance) / (1 - by_chance)) if by_chance < 1 else 0.0
