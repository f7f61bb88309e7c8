"""Checkpoints, from which a training continues as if it had never stopped."""

from pathlib import Path

import numpy as np
import tensorflow as tf

from disan_tf.errors import UserError


class TrainingState:
    """The state of a training, saved as checkpoints.

    Args:
      directory: of the checkpoints.
      model: its weights and dropout counters are saved.
      saved: name -> further trackable objects, such as the optimizer with its slots and loss scale.

    Attributes:
      step: number of steps done.
      best_step: step of the best evaluation so far.
      best_score: score of the best evaluation so far.
    """

    def __init__(self, directory, model, saved: dict):
        self.step = tf.Variable(0, dtype=tf.int64, trainable=False)
        self.best_step = tf.Variable(0, dtype=tf.int64, trainable=False)
        self.best_score = tf.Variable(-np.inf, dtype=tf.float64, trainable=False)
        self._checkpoint = tf.train.Checkpoint(
            model=model, step=self.step, best_step=self.best_step, best_score=self.best_score,
            **saved,
        )  # fmt: skip
        self._manager = tf.train.CheckpointManager(
            self._checkpoint, str(directory), max_to_keep=2, checkpoint_name="step"
        )

    def restore(self) -> int:
        """Restores the newest checkpoint, if there is one, and returns its step; else returns 0.

        Raises:
          UserError: the checkpoint is damaged.
        """
        newest = self._manager.latest_checkpoint
        if newest is None:
            return 0
        try:
            self._checkpoint.restore(newest).assert_existing_objects_matched()
        except (tf.errors.OpError, AssertionError, IndexError, RuntimeError, ValueError) as error:
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise UserError(
                f"{newest}.* cannot be restored ({reason}); delete the files of that name and "
                f"{Path(newest).parent / 'checkpoint'} to start again, or restore them."
            ) from None
        return int(self.step)

    def save(self) -> None:
        """Writes a checkpoint of the current step."""
        self._manager.save(checkpoint_number=int(self.step))
