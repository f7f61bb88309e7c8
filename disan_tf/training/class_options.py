"""Options of trainings on classes: weights of the classes, and the score that selects the model."""

import numpy as np

from disan_tf.common.errors import UserError
from disan_tf.common.options import check_choice
from disan_tf.input_pipeline import PreparedCorpus, draw_examples
from disan_tf.models.base import SentenceModel

BALANCED = "balanced"


def check_class_options(
    class_weights: str = "",
    criterion: str = "",
    *,
    task: type[SentenceModel],
    has_policy: bool,
) -> None:
    """Checks `class_weights` and `criterion` of `config.train`.

    Args:
      class_weights: see `weights_of_classes`; "" = all 1.
      criterion: a score of `task.criteria`; "" = `task.criterion`.
      task: the class of the model.
      has_policy: whether policy gradient trains the model.

    Raises:
      ValueError: an option that the task or its training does not take, or a wrong weight.
    """
    if criterion:
        check_choice("criterion", criterion, task.criteria or [task.criterion])
    if class_weights and (has_policy or not task.criteria):
        raise ValueError(
            f"class_weights={class_weights} is for classes without hard attention; leave it out."
        )
    if class_weights not in ("", BALANCED):
        _numbers(class_weights)


def weights_of_classes(train, corpus: PreparedCorpus) -> np.ndarray:
    """Computes the weight of each class in the training loss, <float32>[classes].

    Args:
      train: `config.train`. Its `class_weights` is "balanced", for the mean number of examples in
        a class divided by the class' number, or has a number for each class, with commas between
        them.
      corpus: the prepared corpus.

    Raises:
      UserError: another number of weights than classes.
    """
    if train.class_weights == BALANCED:
        labels = corpus.split("train").labels
        labels = labels[draw_examples(len(labels), train.examples)] if train.examples else labels
        counts = np.bincount(labels, minlength=len(corpus.classes))
        return (counts.mean() / np.maximum(counts, 1)).astype(np.float32)
    numbers = _numbers(train.class_weights)
    if len(numbers) != len(corpus.classes):
        raise UserError(
            f"--config.train.class_weights={train.class_weights} must have "
            f"{len(corpus.classes)} numbers, for {', '.join(corpus.classes)}."
        )
    return np.array(numbers, np.float32)


def selecting_score(train, model) -> str:
    """Returns the score on dev that selects the model; `train` is `config.train`."""
    return train.get("criterion") or model.criterion


def _numbers(text: str) -> list[float]:
    try:
        numbers = [float(number) for number in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or not all(0.0 < number < np.inf for number in numbers):
        raise ValueError(
            f"class_weights={text} must be {BALANCED}, or numbers above 0 with commas between them."
        )
    return numbers
