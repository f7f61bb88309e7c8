"""Handlers for the signals that end the process: SIGTERM, SIGHUP and Control-C."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Callable

from disan_tf.common.errors import Stopped

INTERRUPTED = 128 + signal.SIGINT
_SOON = 0.05  # seconds, enough for a destructor to return


def handle(program: str) -> None:
    """Makes SIGTERM raise `Stopped`, and a second Control-C end the process at once.

    SIGHUP, which a closed terminal sends, acts like SIGTERM unless it is ignored (nohup). Python
    ignores exceptions in a destructor, so the handlers raise them again. `program` is the program's
    name, which begins the message for the second Control-C.
    """

    def terminate(number, _):
        name = signal.Signals(number).name
        raise Stopped(f"stopped by {name}; the same command starts over.", 128 + number)

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


def ignore_closed_terminal() -> None:
    """Ignores SIGHUP from now on: the command's work is complete."""
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)


def ending_signals() -> list[int]:
    """Returns SIGTERM, and SIGHUP if it exists and is not ignored."""
    hang_up = getattr(signal, "SIGHUP", None)
    if hang_up is None or signal.getsignal(hang_up) == signal.SIG_IGN:
        return [signal.SIGTERM]
    return [signal.SIGTERM, hang_up]


@contextlib.contextmanager
def deferred() -> Iterator[Callable[[], int]]:
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
