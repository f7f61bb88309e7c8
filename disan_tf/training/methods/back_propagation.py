"""Training by back-propagation alone: one optimizer, whose learning rate may fall."""

import contextlib
from collections.abc import Mapping
from typing import Callable, Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.options import (
    check_above_zero,
    check_at_least,
    check_choice,
    check_rate,
    check_section,
)
from disan_tf.layers.heads.batch_norm import BatchNormHead
from disan_tf.training.compilation import make_compiler
from disan_tf.training.optimizers import averaged_weights, build_optimizer
from disan_tf.training.steps import make_evaluation_step, make_train_step

MONITORS = ("train", "dev")


def check_plateau_section(plateau: Optional[Mapping] = None) -> None:
    """Checks `config.train.plateau`; raises UserError, see `check_plateau`."""
    if plateau:
        check_section("train.plateau", plateau, "a plateau", check_plateau)


class BackPropagation:
    """Trains a model without hard attention; the interface of a training method for `Trainer`.

    With `config.train.plateau`, the learning rate falls when a loss stops falling, see `Plateau`.

    Attributes:
      compiler, train_step, evaluation_step: see `Compiler` and `disan_tf.training.steps`.
      extra_evaluations: name -> evaluation step whose scores on dev are also reported.
      saved: name -> trackable object that a checkpoint must hold besides the model.
      may_choose: whether the scores on dev may choose the current model.
    """

    extra_evaluations: dict = {}
    may_choose = True

    @staticmethod
    def checks(train_steps: Optional[int]) -> dict[str, list[Callable]]:
        """Returns, by section of a config, functions that check this method's options."""
        return {"train": [check_plateau_section]}

    def __init__(self, model, train, dtype: str, evaluate=None, policy=None):
        self._model = model
        self.optimizer = build_optimizer(train, dtype, model.trainable_variables)
        self.compiler = make_compiler(train, model)
        rows = None if isinstance(model.head, BatchNormHead) else train.batch_size
        self.train_step = make_train_step(
            model, self.optimizer, train.clip_norm, self.compiler, rows
        )
        rows = evaluate and evaluate.batch_size
        self.evaluation_step = make_evaluation_step(model, compiler=self.compiler, rows=rows)
        self.saved = {"optimizer": self.optimizer}
        self._plateau = None
        if train.get("plateau"):
            self._plateau = Plateau(self.optimizer, **train.plateau)
            self.saved["plateau"] = self._plateau.state

    def train(self, step: int, *batch) -> dict:
        """Trains on a batch after `step` steps; returns the step's metrics as floats.

        If the metrics have a "phase", each phase begins a new line in metrics.jsonl.
        """
        measured = {name: float(value) for name, value in self.train_step(*batch).items()}
        if self._plateau:
            self._plateau.add(measured["loss"])
        return measured

    def extra_metrics(self, means: dict) -> dict:
        """Returns the metrics that metrics.jsonl holds besides the steps' means."""
        return {"learning_rate": self._plateau.learning_rate} if self._plateau else {}

    def evaluated(self, step: int, scores: dict) -> None:
        """Receives the scores on dev after `step` steps."""
        if self._plateau:
            self._plateau.evaluated(scores["loss"])

    def end_epoch(self) -> None:
        """Ends an epoch, after its last batch and the evaluation, if due."""
        if self._plateau:
            self._plateau.end_epoch()

    def averaged_weights(self) -> contextlib.AbstractContextManager:
        """Returns a context in which the model has its moving-average weights, if configured."""
        return averaged_weights(self.optimizer, self._model.trainable_variables)


def check_plateau(factor: float, patience: int, threshold: float, monitor: str = "train") -> None:
    """Checks the options of `Plateau`; raises ValueError for impossible values."""
    check_above_zero("factor", check_rate("factor", factor))
    check_at_least("patience", patience, 1)
    check_rate("threshold", threshold)
    check_choice("monitor", monitor, MONITORS)


class Plateau:
    """Multiplies a learning rate by `factor` after `patience` epochs without a lower loss.

    An epoch's loss is the mean training loss of its steps, or, for the `monitor` "dev", its last
    dev loss; an epoch without a dev loss is then not counted. A loss is lower if it is below best *
    (1 - threshold), as in the default mode of PyTorch's `ReduceLROnPlateau`; unlike in PyTorch, the
    learning rate is reduced after `patience` epochs, not after one more. The count restarts after a
    reduction.

    Attributes:
      state: variables to be saved in checkpoints; the learning rate is saved with the optimizer.
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
