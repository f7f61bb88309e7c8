"""Locks, forks, signals and standard error: this process and its surroundings.

One process writes into a folder (`owned`, `locked`). If TensorFlow has computed in a process, its
forks lack TensorFlow's threads and would hang (`check_fork`). SIGTERM, SIGHUP and Control-C end the
process in order (`handle_signals`). TensorFlow's libraries write log lines to standard error
(`QuietImport`).
"""

import contextlib
import errno
import fcntl
import importlib.abc
import importlib.util
import os
import platform
import re
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Callable

from disan_tf.common.atomic import naming
from disan_tf.common.errors import Stopped, UserError
from disan_tf.common.paths import PathLike

INTERRUPTED = 128 + signal.SIGINT  # exit status
LOG_LEVEL = "TF_CPP_MIN_LOG_LEVEL"
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
_SOON = 0.05  # seconds, enough for a destructor to return
# "I0000 00:00:1795 4387 port.cc:153] ..." and "2026-01-31 12:00:00.5: I tensorflow/core/...".
_LOG_LINE = re.compile(
    rb"WARNING: All log messages before absl::|[IWE]\d{4} [\d:. ]+ \S+:\d+\]"
    rb"|\d{4}-\d\d-\d\d [\d:.]+: [IWE] "
)
_computing = None  # the process in which TensorFlow began


@contextlib.contextmanager
def locked(path: PathLike) -> Iterator[None]:
    """Holds the lock on a file; waits for other processes. The file is not removed."""
    with open(path, "a+") as lock:
        _lock(lock, fcntl.LOCK_EX)  # released whenever the process ends
        yield


def _lock(file, how: int) -> None:
    """Locks an open file, or warns if its file system has no locks, as on some networks."""
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


def handle_signals(program: str, then: Callable[[], str]) -> None:
    """Makes SIGTERM raise `Stopped`, and a second Control-C end the process at once.

    SIGHUP, which a closed terminal sends, acts like SIGTERM unless it is ignored (nohup). Python
    ignores exceptions in a destructor, so the handlers raise them again. `program` is the program's
    name, which begins the message for the second Control-C; `then` returns the end of `Stopped`'s
    message, which says what the same command does.
    """

    def terminate(number, _):
        name = signal.Signals(number).name
        raise Stopped(f"stopped by {name}; {then()}.", 128 + number)

    def interrupt(*_):
        signal.signal(signal.SIGINT, leave)
        raise KeyboardInterrupt

    def leave(*_):
        sys.stderr.write(f"{program}: stopped at once.\n")
        sys.stderr.flush()
        os._exit(INTERRUPTED)

    def ignored(unraisable):
        for error, number in ((Stopped, signal.SIGTERM), (KeyboardInterrupt, signal.SIGINT)):
            if issubclass(unraisable.exc_type, error):
                signal.signal(signal.SIGINT, interrupt)
                threading.Timer(_SOON, os.kill, (os.getpid(), number)).start()
                return
        sys.__unraisablehook__(unraisable)

    sys.unraisablehook = ignored
    for number in ending_signals():
        signal.signal(number, terminate)
    signal.signal(signal.SIGINT, interrupt)


def ending_signals() -> list[int]:
    """Returns SIGTERM, and SIGHUP if it is not ignored."""
    is_ignored = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    return [signal.SIGTERM] if is_ignored else [signal.SIGTERM, signal.SIGHUP]


@contextlib.contextmanager
def deferred_signals() -> Iterator[Callable[[], int]]:
    """Holds back SIGTERM and SIGHUP in the block; yields a function that returns the first.

    The function returns 0 if no signal came, and outside the main thread, which alone handles
    signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: 0
        return
    received = []
    previous = {
        number: signal.signal(number, lambda signum, _: received.append(signum))
        for number in ending_signals()
    }
    try:
        yield lambda: received[0] if received else 0
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


class QuietImport(importlib.abc.MetaPathFinder):
    """Imports TensorFlow without the log lines that its libraries write as they load.

    TF_CPP_MIN_LOG_LEVEL=3 hides these lines only once TensorFlow has loaded.
    """

    def find_spec(self, name, path=None, target=None):
        """Returns a spec for the package `tensorflow` that hides log lines as it loads."""
        if name != "tensorflow" or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)  # the other finders look for the package
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module = hidden_lines(_LOG_LINE)(spec.loader.exec_module)
        return spec


def no_standard_error() -> contextlib.AbstractContextManager:
    """Discards what libraries write to file number 2, such as a converter's summary."""
    return hidden_lines(re.compile(b""))


@contextlib.contextmanager
def hidden_lines(pattern: re.Pattern) -> Iterator[None]:
    """Collects the lines written to file number 2; prints those at the end that do not match.

    All are printed if the block fails. Nothing is collected if TF_CPP_MIN_LOG_LEVEL is below 2, as
    `--debug` sets it.
    """
    level = os.environ.get(LOG_LEVEL, "0")
    if level.isdecimal() and int(level) < 2:
        yield
        return
    sys.stderr.flush()
    terminal, failed = os.dup(2), True
    with tempfile.TemporaryFile() as collected:
        os.dup2(collected.fileno(), 2)
        try:
            yield
            failed = False
        finally:
            sys.stderr.flush()
            os.dup2(terminal, 2)
            collected.seek(0)
            for line in collected:
                if failed or not pattern.match(line):
                    os.write(terminal, line)
            os.close(terminal)
