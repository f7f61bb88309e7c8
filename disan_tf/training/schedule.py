"""The steps after which a training logs, evaluates and saves, and checks of their options."""

from collections.abc import Sequence
from typing import Optional

import numpy as np

from disan_tf.common.options import check_at_least, suggestion
from disan_tf.input_pipeline import BatchPlan

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
    """Checks the options of `config.evaluate`.

    Raises:
      ValueError: a split that the corpus lacks, or a split that has a curve in any case.
    """
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
