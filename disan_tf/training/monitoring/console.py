"""Prints the progress of a training as lines of text, for logs and pipes."""

import time

import tensorflow as tf


class ConsoleLog(tf.keras.callbacks.Callback):
    """Prints a line at every evaluation: scores, speed, time left.

    Args:
      steps: the number of steps in the whole training.
      examples: the mean number of examples in a step.
    """

    def __init__(self, steps: int, examples: float):
        super().__init__()
        self._steps = steps
        self._examples = examples
        self._started = None

    def on_train_batch_begin(self, batch, logs=None):
        if self._started is None:
            self._first, self._started = batch, time.monotonic()

    def on_test_end(self, logs=None):
        steps = logs["step"] - self._first
        speed = steps / (time.monotonic() - self._started)
        left = (self._steps - logs["step"]) / speed / 60
        print(
            f"step {logs['step']:,} of {self._steps:,}: {describe_scores(logs)}, "
            f"{speed * self._examples:,.0f} examples/s, {left:.0f} min left",
            flush=True,
        )


def describe_scores(logs: dict) -> str:
    """Formats the logs of an evaluation, such as "dev loss 1.2500, dev accuracy 0.7500"."""
    scores = {name: value for name, value in logs.items() if name not in ("step", "watched")}
    return ", ".join(f"dev {name} {value:.4f}" for name, value in scores.items())
