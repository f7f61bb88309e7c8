"""Checkpoints, from which a training resumes as if it had never stopped."""

import re
import shutil
from pathlib import Path
from typing import Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.atomic import sync, write_atomically
from disan_tf.common.errors import UserError

_KEPT = 2  # checkpoints


class TrainingState:
    """The state of a training, saved as checkpoints.

    Args:
      directory: the folder of the checkpoints.
      model: its weights and dropout counters are saved.
      saved: name -> further trackable objects, such as the optimizer with its slots and loss scale.
      is_writer: whether this process saves, and repairs what killed processes left.

    Attributes:
      step, best_step, best_score: the number of steps done; step and score of the best evaluation.
      measured: the metrics of the steps since the last line in the log, as JSON.
    """

    def __init__(self, directory, model, saved: dict, is_writer: bool = True):
        self.step = tf.Variable(0, dtype=tf.int64, trainable=False)
        self.best_step = tf.Variable(0, dtype=tf.int64, trainable=False)
        self.best_score = tf.Variable(-np.inf, dtype=tf.float64, trainable=False)
        self.measured = tf.Variable("[]", trainable=False)
        self._checkpoint = tf.train.Checkpoint(
            model=model,
            step=self.step,
            best_step=self.best_step,
            best_score=self.best_score,
            measured=self.measured,
            **saved,
        )
        if is_writer:
            repair_state(Path(directory))
            _remove_leftovers(Path(directory))
        self._directory = Path(directory)

    def newest(self) -> str:
        """Returns the name of the newest checkpoint, or "" if there is none."""
        return Path(_named(self._directory) or "").name

    def restore(self, name: Optional[str] = None) -> int:
        """Restores a checkpoint and returns its step, or 0 if there is none.

        `name` is the result of `newest` in the writing process; None = in this process. A damaged
        or absent checkpoint is a UserError.
        """
        name = self.newest() if name is None else name
        if not name:
            return 0
        newest = str(self._directory / name)
        try:
            self._checkpoint.read(newest).assert_existing_objects_matched()
        except (tf.errors.OpError, AssertionError, IndexError, RuntimeError, ValueError) as error:
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise UserError(
                f"{newest}.* cannot be restored ({reason}); restore the files of that name, or "
                f"delete them and {Path(newest).parent / 'checkpoint'} to resume from the one "
                "before, if there is one."
            ) from None
        return int(self.step)

    def save(self) -> None:
        """Writes a checkpoint of the current step; removes the oldest when the disk has it."""
        step = int(self.step)
        name = f"step-{step}"
        older = [known for known in _names(self._directory) if _number(known) < step]
        self._checkpoint.write(str(self._directory / name))
        sync(self._directory)
        _write_state(self._directory, [*older, name])
        _remove_leftovers(self._directory)
        sync(self._directory)  # the removals


def has_checkpoint(directory: Path) -> bool:
    """Returns whether a folder has a whole checkpoint, from which a training would resume."""
    indexes = Path(directory).glob("step-*.index")
    return any(_step(index) and _is_readable(index.with_suffix("")) for index in indexes)


def repair_state(directory: Path) -> None:
    """Rewrites the file `checkpoint` if it is missing or damaged beside whole checkpoints.

    The file names the newest checkpoint; without it, TensorFlow begins at step 0.
    """
    names = _names(directory)
    if not names or _named(directory) in [str(directory / name) for name in names]:
        return
    names = [name for name in names if _is_readable(directory / name)]  # the last may be incomplete
    if not names:
        print(f"No checkpoint in {directory} is whole; the training begins again.")
        return
    _write_state(directory, names)
    print(
        f"{directory / 'checkpoint'} was missing or damaged; the training goes on from step "
        f"{_number(names[-1]):,}, the newest whole checkpoint."
    )


def _names(directory: Path) -> list[str]:
    """Returns the names of the checkpoints, the newest last."""
    steps = filter(None, map(_step, directory.glob("step-*.index")))
    return [f"step-{step}" for step in sorted(steps)]


def _number(name: str) -> int:
    return int(name[len("step-") :])


def _write_state(directory: Path, names: list[str]) -> None:
    """Writes the file `checkpoint`, which names the newest checkpoint, as TensorFlow does."""
    lines = [f'model_checkpoint_path: "{names[-1]}"']
    lines += [f'all_model_checkpoint_paths: "{name}"' for name in names]
    times = [(directory / f"{name}.index").stat().st_mtime for name in names]
    lines += [f"all_model_checkpoint_timestamps: {time}" for time in times]
    write_atomically(directory / "checkpoint", "\n".join(lines) + "\n")


def _is_readable(prefix: Path) -> bool:
    """Returns whether a checkpoint's index, which TensorFlow writes last, is whole."""
    try:
        tf.train.load_checkpoint(str(prefix))
    except (tf.errors.OpError, RuntimeError, ValueError):
        return False
    return True


def _remove_leftovers(directory: Path) -> None:
    """Removes files that killed processes were writing or about to remove."""
    for parts in directory.glob("step-*_temp"):
        shutil.rmtree(parts)
    for name in directory.glob("checkpoint.tmp*"):
        name.unlink()
    if _named(directory) is None:
        return
    state = tf.train.get_checkpoint_state(str(directory))
    for path in state.all_model_checkpoint_paths[:-_KEPT]:
        for file in directory.glob(f"{Path(path).name}.*"):
            file.unlink()


def _step(index: Path) -> Optional[int]:
    """Returns the step of a checkpoint, or None if one of its files is missing."""
    name = re.fullmatch(r"(step-([0-9]+))\.index", index.name)
    if name is None or not any(index.parent.glob(f"{name[1]}.data-*")):
        return None
    return int(name[2])


def _named(directory: Path) -> Optional[str]:
    """Returns the prefix that the file `checkpoint` names, or None if the file is damaged."""
    try:
        return tf.train.latest_checkpoint(str(directory))
    except (ValueError, tf.errors.OpError, OSError):  # ValueError: not UTF-8
        return None
