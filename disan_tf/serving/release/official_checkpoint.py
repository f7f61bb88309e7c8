"""Reads a checkpoint of the authors' TensorFlow 1 code, without running code of it."""

import numpy as np
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.serving.release.official_variables import is_weight

STEP = "global_step"
_UNREADABLE = (tf.errors.OpError, ValueError, RuntimeError, IndexError)  # of TensorFlow's reader


class OfficialCheckpoint:
    """The weights of a checkpoint.

    Args:
      path: the common prefix of its files, or a folder with a file `checkpoint`.

    Attributes:
      shapes: the shape of each weight, by the variable's name.

    Raises:
      UserError: the files are missing or damaged.
    """

    def __init__(self, path: str):
        self._path = path
        try:
            self._reader = tf.train.load_checkpoint(str(path))
            self._shapes = self._reader.get_variable_to_shape_map()
        except _UNREADABLE as error:
            raise self._unreadable(error) from None
        self.shapes = {
            name: tuple(shape) for name, shape in self._shapes.items() if is_weight(name)
        }

    def __str__(self):
        return f"--checkpoint={self._path}"

    def read(self, name: str) -> np.ndarray:
        """Returns a weight; raises UserError if it is damaged or has other than finite numbers."""
        value = self._read(name)
        if value.dtype.kind != "f" or not np.all(np.isfinite(value)):
            raise UserError(
                f"{name} of {self} must hold finite floating-point numbers; choose another "
                "checkpoint."
            )
        return value

    def step(self) -> int:
        """Returns the number of training steps, or 0; raises UserError unless it is a number."""
        if self._shapes.get(STEP) != []:
            return 0
        value = np.asarray(self._read(STEP))
        if value.dtype.kind not in "iuf" or not np.isfinite(value):
            raise UserError(f"{STEP} of {self} must be a finite number; choose another checkpoint.")
        return max(0, int(value))

    def _read(self, name):
        try:
            return self._reader.get_tensor(name)
        except _UNREADABLE as error:
            raise self._unreadable(error) from None

    def _unreadable(self, error) -> UserError:
        reason = " ".join(str(error).split())[:200]
        return UserError(
            f"{self} cannot be read ({reason}); name the common prefix of intact files, without "
            ".index, .meta or .data-00000-of-00001."
        )
