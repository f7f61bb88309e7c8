"""Training by back-propagation alone: one optimizer for all weights."""

import contextlib
from collections.abc import Mapping
from typing import Callable, Optional

from disan_tf.common.options import check_section
from disan_tf.training.methods.plateau import Plateau, check_plateau
from disan_tf.training.optimizers import averaged_weights, build_optimizer
from disan_tf.training.steps import make_evaluation_step, make_train_step


def check_plateau_section(plateau: Optional[Mapping] = None) -> None:
    """The option of `config.train` that is this method's; raises UserError, see `check_plateau`."""
    if plateau:
        check_section("train.plateau", plateau, "a plateau", check_plateau)


class BackPropagation:
    """How a model without hard attention is trained; what `Trainer` asks of a method of training.

    With `config.train.plateau` the learning rate falls when a loss does not, see `Plateau`.

    Args:
      config: a config of `configs/`.
      model: the `SentenceModel`.

    Attributes:
      evaluation_step: see `disan_tf.training.steps.make_evaluation_step`.
      other_evaluations: name -> evaluation step whose scores on dev are reported too.
      saved: name -> what a checkpoint must hold besides the model, so that nothing is forgotten.
      may_choose: whether the model is now one that the best score on dev may choose.
    """

    other_evaluations: dict = {}
    may_choose = True

    @staticmethod
    def options(config) -> dict[str, Callable]:
        """Section of a config -> a function of the options in it that are this method's."""
        return {"train": check_plateau_section}

    def __init__(self, config, model):
        self._model = model
        self.optimizer = build_optimizer(config, model.trainable_variables)
        self.train_step = make_train_step(model, self.optimizer, config.train.clip_norm)
        self.evaluation_step = make_evaluation_step(model)
        self.saved = {"optimizer": self.optimizer}
        self._plateau = None
        if config.train.get("plateau"):
            self._plateau = Plateau(self.optimizer, **config.train.plateau)
            self.saved["plateau"] = self._plateau.state

    def train(self, step: int, *batch) -> dict:
        """One step on a batch after `step` steps; returns what the step measured, as floats.

        If there is a "phase" among it, steps of another one begin a new line of metrics.jsonl.
        """
        measured = {name: float(value) for name, value in self.train_step(*batch).items()}
        if self._plateau:
            self._plateau.add(measured["loss"])
        return measured

    def extra_metrics(self, means: dict) -> dict:
        """What a line of metrics.jsonl says besides the means of what the steps measured."""
        return {"learning_rate": self._plateau.learning_rate} if self._plateau else {}

    def evaluated(self, step: int, scores: dict) -> None:
        """Takes note of the scores on dev after `step` steps."""
        if self._plateau:
            self._plateau.evaluated(scores["loss"])

    def end_epoch(self) -> None:
        """Takes note that all batches of an epoch were learnt from, and dev was scored if due."""
        if self._plateau:
            self._plateau.end_epoch()

    def averaged_weights(self) -> contextlib.AbstractContextManager:
        """Inside, the model has its moving-average weights, if the config wants any."""
        return averaged_weights(self.optimizer, self._model.trainable_variables)
