"""Training by back-propagation alone: one optimizer for all weights."""

import contextlib
from collections.abc import Mapping
from typing import Callable, Optional

from disan_tf.common.options import check_section
from disan_tf.layers.heads.batch_norm import BatchNormHead
from disan_tf.training.compilation import make_compiler
from disan_tf.training.methods.plateau import Plateau, check_plateau
from disan_tf.training.optimizers import averaged_weights, build_optimizer
from disan_tf.training.steps import make_evaluation_step, make_train_step


def check_plateau_section(plateau: Optional[Mapping] = None) -> None:
    """Checks `config.train.plateau`; raises UserError, see `check_plateau`."""
    if plateau:
        check_section("train.plateau", plateau, "a plateau", check_plateau)


class BackPropagation:
    """Trains a model without hard attention; the interface of a training method for `Trainer`.

    With `config.train.plateau`, the learning rate falls when a loss stops falling, see `Plateau`.

    Args:
      model: the `SentenceModel`.
      train: `config.train`.
      dtype: the precision of the model.
      evaluate, policy: `config.evaluate` and `config.policy`, which methods for hard attention
        read.

    Attributes:
      compiler: compiles the steps.
      evaluation_step: see `disan_tf.training.steps.make_evaluation_step`.
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
