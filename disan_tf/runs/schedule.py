"""The schedule of a training: the options of `config.train` that count steps and epochs."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from disan_tf.common.checks import check_at_least
from disan_tf.common.errors import UserError
from disan_tf.common.options import read_section


@dataclass(frozen=True)
class Schedule:
    """The steps at which a training evaluates, saves, logs and ends.

    Args:
      steps: the number of training steps; 0 = `epochs` epochs.
      evaluate_every: the number of steps between evaluations on dev; 0 = once an epoch.
      checkpoint_every: the number of steps between checkpoints; 0 = at every evaluation.
      log_every: the number of steps between lines in `metrics.jsonl`.
      patience: the number of evaluations without a higher dev score after which the training ends;
        0 = it never ends early.
      epochs: the number of epochs if `steps` is 0; only with `epochs` may steps be 0.

    Raises:
      ValueError: a number is too low.
    """

    steps: int
    evaluate_every: int
    checkpoint_every: int
    log_every: int
    patience: int
    epochs: int = 0

    def __post_init__(self):
        least = 0 if self.epochs else 1
        check_at_least("epochs", self.epochs, 0)
        check_at_least("steps", self.steps, least)
        check_at_least("evaluate_every", self.evaluate_every, least)
        check_at_least("checkpoint_every", self.checkpoint_every, least)
        check_at_least("log_every", self.log_every, 1)
        check_at_least("patience", self.patience, 0)

    @classmethod
    def of_file(cls, path, train: Mapping) -> "Schedule":
        """Reads the schedule in the section `train`, with other options, of a `config.json`."""
        names = {field.name for field in fields(cls)}
        options = {name: value for name, value in train.items() if name in names}
        try:
            (schedule,) = read_section("train", options, "a training", cls)
        except UserError as error:
            raise UserError(f"{path}: {error}") from None
        return schedule

    def resolved(self, epoch_steps: int) -> "Schedule":
        """Returns the schedule in steps, once the number of steps in an epoch is known."""
        evaluate_every = self.evaluate_every or epoch_steps
        return replace(
            self,
            steps=self.steps or self.epochs * epoch_steps,
            evaluate_every=evaluate_every,
            checkpoint_every=self.checkpoint_every or evaluate_every,
        )

    def is_evaluated(self, step: int) -> bool:
        """Returns whether dev is scored after `step`."""
        return step == self.steps or step % self.evaluate_every == 0

    def is_saved(self, step: int) -> bool:
        """Returns whether a checkpoint is written after `step`, as after every evaluation."""
        return self.is_evaluated(step) or step % self.checkpoint_every == 0

    def is_logged(self, step: int) -> bool:
        """Returns whether the metrics since the last line are logged after `step`.

        They are also logged before every checkpoint, so that a resumed training logs the same lines
        as an uninterrupted one.
        """
        return self.is_saved(step) or step % self.log_every == 0

    def is_over(self, step: int, best_step: int) -> bool:
        """Returns whether the training ends at `step`; `best_step` had the best evaluation.

        Patience ends a training only at an evaluation. If a training was resumed with more steps,
        `best_step` may lie between two evaluations.
        """
        may_stop = self.patience > 0 and self.is_evaluated(step)
        is_stale = step - best_step >= self.patience * self.evaluate_every
        return step >= self.steps or (may_stop and is_stale)
