"""Shows the progress of a training: a bar on a terminal, lines of text in logs and pipes."""

import math
import time
from typing import Callable, NamedTuple

import tensorflow as tf
from tqdm import tqdm

from disan_tf.common.progress import QuietBar, format_seconds

_STEPS = "step {n:,}/{total:,} {bar} {desc}"


class ConsoleLog(tf.keras.callbacks.Callback):
    """Prints a line at every evaluation: scores, speed, time left.

    Args:
      steps: the number of steps in the whole training.
      examples: the mean number of examples in a step.
      epoch_steps: the number of steps in an epoch.
    """

    def __init__(self, steps: int, examples: float, epoch_steps: int):
        super().__init__()
        self._steps, self._epoch_steps = steps, epoch_steps
        self._examples = examples
        self._started = None

    def on_train_begin(self, logs=None):
        if logs and logs["step"]:
            print(describe_start(logs), flush=True)

    def on_train_batch_begin(self, batch, logs=None):
        if self._started is None:
            self._first, self._started = batch, time.monotonic()

    def on_test_end(self, logs=None):
        steps = logs["step"] - self._first
        speed = steps / (time.monotonic() - self._started)
        left = format_seconds((self._steps - logs["step"]) / speed)
        print(
            f"step {logs['step']:,} of {self._steps:,}, epoch "
            f"{logs['step'] / self._epoch_steps:.1f}: {describe_scores(logs)}, "
            f"{speed * self._examples:,.0f} examples/s, {left} left",
            flush=True,
        )


class Schedule(NamedTuple):
    """The length of a training, see `config.train`; a `patience` of 0 never ends it early."""

    steps: int
    evaluate_every: int
    patience: int


class TrainingBar(tf.keras.callbacks.Callback):
    """Draws two lines on a terminal: steps, speed and time left; loss, dev score and best so far.

    Args:
      schedule: the length of the training.
      sentences: the mean number of sentences in a step.
      criterion: the name of the dev score that chooses the best model.
      best: returns the step and the score of the best evaluation so far.
    """

    def __init__(
        self,
        schedule: Schedule,
        sentences: float,
        criterion: str,
        best: Callable[[], tuple[int, float]],
    ):
        super().__init__()
        self._schedule, self._sentences = schedule, sentences
        self._criterion, self._best = criterion, best
        self._loss, self._losses = 0.0, 0
        self._score, self._bars = "", ()

    def on_train_begin(self, logs=None):
        self.on_train_end()
        self._first = self._step = logs["step"]
        if self._first:
            print(describe_start(logs), flush=True)
        self._started = time.monotonic()
        common = {"dynamic_ncols": True, "leave": False}
        steps = self._schedule.steps
        done = min(self._first, steps)
        self._steps = QuietBar(total=steps, initial=done, bar_format=_STEPS, **common)
        self._scores = QuietBar(bar_format="{desc}", **common)
        self._bars = (self._scores, self._steps)

    def on_train_batch_end(self, batch, logs=None):
        self._loss, self._losses = self._loss + logs["loss"], self._losses + 1
        self._step = batch + 1
        if self._steps.update(1):  # tqdm draws at most ten times a second
            self._draw()

    def on_test_end(self, logs=None):
        tqdm.write(f"step {logs['step']:,}: {describe_scores(logs)}")
        self._score = f"dev {self._criterion} {logs[self._criterion]:.4f}"
        self._draw()
        self._loss, self._losses = 0.0, 0

    def on_train_end(self, logs=None):
        for bar in self._bars:
            bar.close()

    def _draw(self):
        self._steps.set_description_str(self.describe_time())
        self._scores.set_description_str(self.describe_progress())

    def describe_time(self) -> str:
        """Describes speed, time left and patience, such as "820 sentences/s, 24 s left"."""
        steps, schedule = self._step - self._first, self._schedule
        speed = steps / max(time.monotonic() - self._started, 1e-9)
        if not speed:
            return ""
        left = format_seconds((schedule.steps - self._step) / speed)
        stale = (self._step - self._best()[0]) // schedule.evaluate_every
        patience = f"patience {stale}/{schedule.patience}"
        earlier = f" (or earlier: {patience})" if schedule.patience else ""
        return f"{speed * self._sentences:,.0f} sentences/s, {left} left{earlier}"

    def describe_progress(self) -> str:
        """Describes the mean training loss since the last evaluation, and the dev scores."""
        step, score = self._best()
        parts = [f"train loss {float(self._loss) / self._losses:.4f}"] if self._losses else []
        parts += [self._score] if self._score else []
        parts += [f"best {score:.4f} at step {step:,}"] if math.isfinite(score) else []
        return ", ".join(parts)


def describe_start(logs: dict) -> str:
    """Describes where a training goes on that has taken a step before."""
    if logs.get("is_over"):
        return (
            f"this training had finished at step {logs['step']:,}; to train longer, raise "
            "--config.train.steps, --config.train.epochs or --config.train.patience"
        )
    return f"resuming at step {logs['step']:,}"


def describe_scores(logs: dict) -> str:
    """Formats the logs of an evaluation, such as "dev loss 1.2500, dev accuracy 0.7500"."""
    scores = {name: value for name, value in logs.items() if name not in ("step", "watched")}
    return ", ".join(f"dev {name} {value:.4f}" for name, value in scores.items())
