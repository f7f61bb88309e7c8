"""The sections `train` and `evaluate` of a config as objects, which check what they hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from disan_tf.common.checks import check_at_least, check_choice, check_rate
from disan_tf.common.errors import UserError
from disan_tf.common.options import MAX_REAL, MIN_REAL
from disan_tf.input_pipeline import Batches, PreparedCorpus, draw_examples
from disan_tf.models.base import SentenceModel
from disan_tf.runs.schedule import Schedule
from disan_tf.text.labels import parse_number
from disan_tf.training.optimizers import Averaging, Optimizer

BALANCED = "balanced"
DISTRIBUTIONS = ("none", "mirrored", "multi_worker")
WITH_CURVES = ("train", "dev")  # written by every training


@dataclass(frozen=True)
class TrainingOptions:
    """The section `config.train`: its parts, and the options outside of them.

    Args:
      schedule, batches, optimizer, averaging: the options of these classes.
      dropout: the rate of every dropout without a rate of its own, in [0, 1).
      l2: the weight decay, see `disan_tf.layers.base.BaseLayer`.
      class_weights: the weight of each class in the loss: "balanced", for the mean number of
        examples in a class divided by the class' number; numbers with commas between them; or "",
        for weights of 1.
      criterion: the score on dev that selects the model; "" = the model's `criterion`.
      batch_norm_batches: the number of batches over which the statistics of batch normalisation are
        computed before an evaluation; 0 = moving averages. It must be 0 with hard attention.
      distribution: a member of `DISTRIBUTIONS`.
      jit_compile: whether XLA compiles the steps; "auto" = on a GPU, if it can.

    Raises:
      ValueError: an impossible value.
    """

    schedule: Schedule
    batches: Batches
    optimizer: Optimizer
    averaging: Averaging
    dropout: float
    l2: float
    class_weights: str = ""
    criterion: str = ""
    batch_norm_batches: int = 0
    distribution: str = "none"
    jit_compile: Any = False  # for configs that lack the option

    def __post_init__(self):
        check_rate("dropout", self.dropout)
        check_at_least("l2", self.l2, 0)
        check_at_least("batch_norm_batches", self.batch_norm_batches, 0)
        check_choice("jit_compile", str(self.jit_compile), ("auto", "True", "False"))
        check_choice("distribution", self.distribution, DISTRIBUTIONS)

    def check_task(self, task: type[SentenceModel], has_policy: bool) -> None:
        """Raises ValueError unless weights and criterion are possible for a class of models.

        `has_policy` tells whether policy gradient trains the model.
        """
        if self.criterion:
            check_choice("criterion", self.criterion, task.criteria or [task.criterion])
        if self.class_weights and (has_policy or not task.criteria):
            raise ValueError(
                f"class_weights={self.class_weights} is for classes without hard attention; leave "
                "it out."
            )
        if self.class_weights not in ("", BALANCED):
            _numbers(self.class_weights)

    def prepare_loss(self, model: SentenceModel, corpus: PreparedCorpus) -> None:
        """Gives a model the weights of its classes in the training loss."""
        if self.class_weights:
            model.class_weights = self.weights_of_classes(corpus)

    def weights_of_classes(self, corpus: PreparedCorpus) -> np.ndarray:
        """Computes the weight of each class in the training loss, <float32>[classes].

        Another number of weights than of classes is a UserError.
        """
        if self.class_weights == BALANCED:
            labels, examples = corpus.split("train").labels, self.batches.examples
            labels = labels[draw_examples(len(labels), examples)] if examples else labels
            counts = np.bincount(labels, minlength=len(corpus.classes))
            return (counts.mean() / np.maximum(counts, 1)).astype(np.float32)
        numbers = _numbers(self.class_weights)
        if len(numbers) != len(corpus.classes):
            raise UserError(
                f"--config.train.class_weights={self.class_weights} must have "
                f"{len(corpus.classes)} numbers, for {', '.join(corpus.classes)}."
            )
        return np.array(numbers, np.float32)

    def selecting_score(self, model: SentenceModel) -> str:
        """Returns the name of the score on dev that selects the model."""
        return self.criterion or model.criterion


@dataclass(frozen=True)
class EvaluationOptions:
    """The section `config.evaluate`.

    Args:
      batch_size: the number of examples in a batch.
      splits: the splits that are scored for curves besides dev, and never select the model.

    Raises:
      ValueError: an impossible value.
    """

    batch_size: int
    splits: Sequence[str]

    def __post_init__(self):
        check_at_least("batch_size", self.batch_size, 1)
        for split in self.splits:
            if split in WITH_CURVES:
                raise ValueError(
                    f"splits={self.splits} must not name {split}, which has a curve without that; "
                    f"--mode=evaluate --split={split} scores the best model on it."
                )


def _numbers(text: str) -> list[float]:
    try:
        numbers = [parse_number(number) for number in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or not all(MIN_REAL <= number <= MAX_REAL for number in numbers):
        raise ValueError(
            f"class_weights={text} must be {BALANCED}, or numbers above 0 with commas between "
            f"them, at most {MAX_REAL:,}."
        )
    return numbers
