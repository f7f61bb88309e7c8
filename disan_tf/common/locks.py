"""Locks, so that one process writes into a folder."""

import contextlib
import errno
import fcntl
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

from disan_tf.common.errors import UserError
from disan_tf.common.files import PathLike, naming

_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)


@contextlib.contextmanager
def locked(path: PathLike) -> Iterator[None]:
    """Holds the lock on a file; waits for other processes. The file is not removed."""
    with open(path, "a+") as lock:
        _lock(lock, fcntl.LOCK_EX)  # released whenever the process ends
        yield


def _lock(file, how: int) -> None:
    """Locks an open file, or warns if its file system has no locks, as some networks' have none."""
    try:
        fcntl.flock(file, how)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        print(
            f"warning: {file.name} cannot be locked ({error.strerror}); do not run two commands "
            f"that write into {Path(file.name).parent} at once.",
            file=sys.stderr,
        )


@contextlib.contextmanager
def owned(folder: PathLike, wait: bool = False) -> Iterator[None]:
    """Holds the lock on a folder, so that one process writes into it; makes the folder if absent.

    The lock is the file `.lock`. With `wait` it waits for another owner.

    Raises:
      Owned: another process holds the lock, and `wait` is False.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "a+", encoding="utf-8") as lock:
        try:
            _lock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            lock.seek(0)
            owner = lock.read(200).strip() or "another process"
            raise Owned(
                f"{folder} is being written by {owner}; wait until that ends, or choose another "
                "--workdir."
            ) from None
        with naming(lock.name):
            lock.truncate(0)
            lock.write(f"process {os.getpid()} on {platform.node()}\n")
            lock.flush()
        yield


class Owned(UserError):
    """The error if another process writes into a folder."""
