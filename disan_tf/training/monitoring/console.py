"""Shows the progress of a training: a bar on a terminal, lines of text in logs and pipes."""

import math
import time
from typing import Callable

import tensorflow as tf
from tqdm import tqdm

from disan_tf.common.progress import QuietBar, format_seconds

_STEPS = "step {n:,}/{total:,} {bar} {rate_noinv_fmt}, at most {remaining} left{postfix}"


class ConsoleLog(tf.keras.callbacks.Callback):
    """Prints a line at every evaluation: scores, speed, time left.

    A training has `steps` steps, an epoch `epoch_steps`, a step `examples` on average.
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
            f"{speed * self._examples:,.0f} examples/s, at most {left} left",
            flush=True,
        )


class TrainingBar(tf.keras.callbacks.Callback):
    """Draws a bar on a terminal: steps, speed and time left; loss, dev score and best so far.

    `criterion` is the dev score that chooses the best model; `best` returns step and score of the
    best evaluation so far.
    """

    def __init__(self, steps: int, criterion: str, best: Callable[[], tuple[int, float]]):
        super().__init__()
        self._steps, self._criterion, self._best = steps, criterion, best
        self._losses, self._score, self._bar = [], "", None

    def on_train_begin(self, logs=None):
        if logs["step"]:
            print(describe_start(logs), flush=True)
        done = min(logs["step"], self._steps)
        self._bar = QuietBar(total=self._steps, initial=done, unit=" steps", bar_format=_STEPS)

    def on_train_batch_end(self, batch, logs=None):
        self._losses.append(float(logs["loss"]))
        self._bar.set_postfix_str(self.describe_progress(), refresh=False)
        self._bar.update(1)  # tqdm draws at most ten times a second

    def on_test_end(self, logs=None):
        tqdm.write(f"step {logs['step']:,}: {describe_scores(logs)}")
        self._score = f"dev {self._criterion} {logs[self._criterion]:.4f}"
        self._losses.clear()

    def on_train_end(self, logs=None):
        if self._bar is not None:
            self._bar.close()

    def describe_progress(self) -> str:
        """Describes the mean training loss since the last evaluation, and the dev scores."""
        step, score = self._best()
        losses = self._losses
        parts = [f"train loss {sum(losses) / len(losses):.4f}"] if losses else []
        parts += [self._score] if self._score else []
        parts += [f"best {score:.4f} at step {step:,}"] if math.isfinite(score) else []
        return ", ".join(parts)


def describe_start(logs: dict) -> str:
    """Describes the step from which training resumes."""
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
