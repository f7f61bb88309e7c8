"""Reduces a learning rate when a loss stops falling."""

import numpy as np
import tensorflow as tf

from disan_tf.common.options import check_above_zero, check_at_least, check_choice, check_rate

MONITORS = ("train", "dev")


def check_plateau(factor: float, patience: int, threshold: float, monitor: str = "train") -> None:
    """Checks the options of `Plateau`; raises ValueError for impossible values."""
    check_above_zero("factor", check_rate("factor", factor))
    check_at_least("patience", patience, 1)
    check_rate("threshold", threshold)
    check_choice("monitor", monitor, MONITORS)


class Plateau:
    """Multiplies a learning rate by `factor` after `patience` epochs without a lower loss.

    An epoch's loss is the mean training loss of its steps, or its last dev loss; an epoch without
    a dev loss is then not counted. A loss is lower if it is below best * (1 - threshold), as in
    the default mode of PyTorch's `ReduceLROnPlateau`; unlike in PyTorch, the learning rate is
    reduced after `patience` epochs, not after one more.

    Args:
      optimizer: its `learning_rate` is reduced.
      factor: in (0, 1).
      patience: epochs, at least 1; the count restarts after every reduction.
      threshold: relative, in [0, 1).
      monitor: the loss that must fall, "train" or "dev".

    Attributes:
      state: variables to be saved in checkpoints; the learning rate is saved with the optimizer.

    Raises:
      ValueError: see `check_plateau`.
    """

    def __init__(
        self, optimizer, factor: float, patience: int, threshold: float, monitor: str = "train"
    ):
        check_plateau(factor, patience, threshold, monitor)
        self._optimizer = optimizer
        self._monitor = monitor
        self._factor, self._patience, self._threshold = factor, patience, threshold
        self._total = tf.Variable(0.0, dtype=tf.float64, trainable=False)
        self._steps = tf.Variable(0, dtype=tf.int64, trainable=False)
        self._best = tf.Variable(np.inf, dtype=tf.float64, trainable=False)
        self._stale = tf.Variable(0, dtype=tf.int64, trainable=False)
        self._dev = tf.Variable(np.nan, dtype=tf.float64, trainable=False)  # NaN = not measured
        self.state = [self._total, self._steps, self._best, self._stale, self._dev]

    @property
    def learning_rate(self) -> float:
        """The current learning rate."""
        return float(self._optimizer.learning_rate.numpy())

    def add(self, loss: float) -> None:
        """Adds the training loss of a step to the epoch."""
        self._total.assign_add(loss)
        self._steps.assign_add(1)

    def evaluated(self, dev_loss: float) -> None:
        """Receives the loss of an evaluation on dev."""
        self._dev.assign(dev_loss)

    def end_epoch(self) -> None:
        """Ends the epoch, and reduces the learning rate if due."""
        train_loss = float(self._total.numpy()) / int(self._steps.numpy())
        loss = float(self._dev.numpy()) if self._monitor == "dev" else train_loss
        self._total.assign(0.0)
        self._steps.assign(0)
        self._dev.assign(np.nan)
        if np.isnan(loss):
            return
        if loss < float(self._best.numpy()) * (1.0 - self._threshold):
            self._best.assign(loss)
            self._stale.assign(0)
            return
        self._stale.assign_add(1)
        if int(self._stale.numpy()) >= self._patience:
            self._optimizer.learning_rate = self.learning_rate * self._factor
            self._stale.assign(0)
