"""A training's progress as lines of text, for logs and pipes."""

import time

import tensorflow as tf


class ConsoleLog(tf.keras.callbacks.Callback):
    """Prints a line at every evaluation: scores, speed, time left.

    Args:
      config: the training's config.
    """

    def __init__(self, config):
        super().__init__()
        self._train = config.train
        self._started = None

    def on_train_batch_begin(self, batch, logs=None):
        if self._started is None:
            self._first, self._started = batch, time.monotonic()

    def on_test_end(self, logs=None):
        steps = logs["step"] - self._first
        speed = steps / (time.monotonic() - self._started)
        left = (self._train.steps - logs["step"]) / speed / 60
        print(
            f"step {logs['step']:,} of {self._train.steps:,}: dev loss {logs['loss']:.4f}, "
            f"dev accuracy {logs['accuracy']:.4f}, "
            f"{speed * self._train.batch_size:,.0f} sentences/s, {left:.0f} min left",
            flush=True,
        )
