"""Training by back-propagation alone: one optimizer, whose learning rate may fall."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.checks import check_above_zero, check_at_least, check_choice, check_rate
from disan_tf.common.options import read_section
from disan_tf.layers.heads.batch_norm import BatchNormHead
from disan_tf.training.compilation import make_compiler
from disan_tf.training.optimizers import averaged_weights
from disan_tf.training.options import EvaluationOptions, TrainingOptions
from disan_tf.training.steps import make_evaluation_step, make_train_step

MONITORS = ("train", "dev")


@dataclass(frozen=True)
class PlateauRule:
    """The section `config.train.plateau`: when and how far a learning rate falls, see `Plateau`.

    Raises:
      ValueError: an impossible value.
    """

    factor: float
    patience: int
    threshold: float
    monitor: str = "train"

    def __post_init__(self):
        check_above_zero("factor", check_rate("factor", self.factor))
        check_at_least("patience", self.patience, 1)
        check_rate("threshold", self.threshold)
        check_choice("monitor", self.monitor, MONITORS)


@dataclass(frozen=True)
class BackPropagationOptions(TrainingOptions):
    """The section `config.train` of a training without policy gradient.

    `plateau` is the section of a `PlateauRule`, which this object holds; None or empty = no rule.
    """

    plateau: Optional[Mapping] = None

    def __post_init__(self):
        super().__post_init__()
        rule = self.plateau or None
        if rule and not isinstance(rule, PlateauRule):  # a copy has one
            (rule,) = read_section("train.plateau", rule, "a plateau", PlateauRule)
        object.__setattr__(self, "plateau", rule)


class BackPropagation:
    """Trains a model without hard attention; the interface of a training method for `Loop`.

    With `train.plateau`, the learning rate falls when a loss stops falling, see `Plateau`.

    Args:
      model: the built `SentenceModel`.
      config: the `Config` of the training.

    Attributes:
      train_options, evaluation_options: the classes of `config.train` and `config.evaluate`.
      compiler, train_step, evaluation_step: see `Compiler` and `disan_tf.training.steps`.
      extra_evaluations: name -> evaluation step whose scores on dev are also reported.
      saved: name -> trackable object that a checkpoint must hold besides the model.
      may_choose: whether the scores on dev may choose the current model.
    """

    extra_evaluations: dict = {}
    may_choose = True

    train_options: type[TrainingOptions] = BackPropagationOptions
    evaluation_options: type[EvaluationOptions] = EvaluationOptions

    def __init__(self, model, config):
        train, self._model = config.train, model
        variables = model.trainable_variables
        self.optimizer = train.optimizer.build(train.averaging, config.dtype, variables)
        self.compiler = make_compiler(train, model)
        rows = None if isinstance(model.head, BatchNormHead) else train.batches.batch_size
        clip_norm = train.optimizer.clip_norm
        self.train_step = make_train_step(model, self.optimizer, clip_norm, self.compiler, rows)
        rows = config.evaluate.batch_size
        self.evaluation_step = make_evaluation_step(model, compiler=self.compiler, rows=rows)
        self.saved = {"optimizer": self.optimizer}
        self._plateau = train.plateau and Plateau(self.optimizer, train.plateau)
        if self._plateau:
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

    def __init__(self, optimizer, rule: PlateauRule):
        self._optimizer, self._rule = optimizer, rule
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
        loss = float(self._dev.numpy()) if self._rule.monitor == "dev" else train_loss
        self._total.assign(0.0)
        self._steps.assign(0)
        self._dev.assign(np.nan)
        if np.isnan(loss):
            return
        if loss < float(self._best.numpy()) * (1.0 - self._rule.threshold):
            self._best.assign(loss)
            self._stale.assign(0)
            return
        self._stale.assign_add(1)
        if int(self._stale.numpy()) >= self._rule.patience:
            self._optimizer.learning_rate = self.learning_rate * self._rule.factor
            self._stale.assign(0)
