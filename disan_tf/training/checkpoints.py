"""The state from which a training goes on as if it had never stopped."""

from pathlib import Path

import numpy as np
import tensorflow as tf

from disan_tf.errors import UserError


class TrainingState:
    """Weights, dropout counters, step, best score and what the method of learning has, on disk.

    Args:
      directory: where the checkpoints lie.
      model: its weights and dropout counters are saved.
      saved: name -> what else is saved, such as the optimizer with its slots and loss scale.
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
        """Goes back to the newest checkpoint, if there is one; returns its step.

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
        """Writes a checkpoint of the present step."""
        self._manager.save(checkpoint_number=int(self.step))
