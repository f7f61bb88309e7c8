"""Forks of a process in which TensorFlow computes: they lack its threads, and would hang."""

import os

from disan_tf.common.errors import UserError

_computing = None  # the process in which TensorFlow began


def check_fork() -> None:
    """Notes the process of the first call; call this before TensorFlow computes.

    Raises:
      UserError: this process is a fork of the noted one.
    """
    global _computing
    _computing = _computing or os.getpid()
    if _computing != os.getpid():
        raise UserError(
            f"process {os.getpid()} was forked from process {_computing} after TensorFlow had "
            "begun to compute there, and lacks its threads; start processes with multiprocessing's "
            '"spawn" or "forkserver", and load the model in each of them.'
        )
