"""Options of a training: their checks, the steps at which it does what, weights of the classes."""

from collections.abc import Sequence
from typing import Optional

import numpy as np

from disan_tf.common.errors import UserError
from disan_tf.common.options import check_at_least, check_choice, suggestion
from disan_tf.input_pipeline import BatchPlan, PreparedCorpus, draw_examples
from disan_tf.models.base import SentenceModel

BALANCED = "balanced"
_WITH_CURVES = ("train", "dev")  # written by every training


def check_batches(batch_size: int, window: int, batch_tokens: int, examples: int) -> None:
    """Checks the options of `config.train` for batches; raises ValueError, see `BatchPlan`."""
    BatchPlan(np.zeros([0, 1], np.int64), batch_size, window, 0, batch_tokens, examples)


def check_steps(
    steps: int,
    evaluate_every: int,
    checkpoint_every: int,
    log_every: int,
    patience: int,
    epochs: int = 0,
) -> None:
    """Checks the options of `config.train` that count steps; raises ValueError for a low one.

    With `epochs`, 0 is possible for the steps that `disan_tf.runs.run_summary.in_steps` replaces.
    """
    least = 0 if epochs else 1
    check_at_least("epochs", epochs, 0)
    check_at_least("steps", steps, least)
    check_at_least("evaluate_every", evaluate_every, least)
    check_at_least("checkpoint_every", checkpoint_every, least)
    check_at_least("log_every", log_every, 1)
    check_at_least("patience", patience, 0)


def check_evaluation(
    batch_size: int, splits: Sequence[str], known_splits: Optional[Sequence[str]]
) -> None:
    """Checks the options of `config.evaluate`; raises ValueError."""
    check_at_least("batch_size", batch_size, 1)
    for split in splits:
        if split in _WITH_CURVES:
            raise ValueError(
                f"splits={splits} must not name {split}, which has a curve without that; "
                f"--mode=evaluate --split={split} scores the best model on it."
            )
        if known_splits is not None and split not in known_splits:
            others = [name for name in known_splits if name not in _WITH_CURVES]
            raise ValueError(
                f"splits={splits} must be of {', '.join(others)}{suggestion(split, others)}"
            )


def is_evaluated(train, step: int) -> bool:
    """Returns whether dev is scored after `step`; `train` is `config.train`."""
    return step == train.steps or step % train.evaluate_every == 0


def is_saved(train, step: int) -> bool:
    """Returns whether a checkpoint is written after `step`, as after every evaluation."""
    return is_evaluated(train, step) or step % train.checkpoint_every == 0


def is_logged(train, step: int) -> bool:
    """Returns whether the metrics since the last line are logged after `step`.

    They are also logged before every checkpoint, so that a resumed training logs the same lines as
    an uninterrupted one.
    """
    return is_saved(train, step) or step % train.log_every == 0


def check_class_options(
    class_weights: str = "", criterion: str = "", *, task: type[SentenceModel], has_policy: bool
) -> None:
    """Checks `class_weights` and `criterion` of `config.train`; raises ValueError.

    An empty `class_weights`, see `weights_of_classes`, gives every class the weight 1. An empty
    `criterion` means the criterion of the model class `task`. `has_policy` tells whether policy
    gradient trains the model.
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

    `train.class_weights` is "balanced", for the mean number of examples in a class divided by the
    class' number, or has a number for each class, with commas between them; another number of them
    is a UserError.
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
