"""What the process does when it is asked to end: SIGTERM, SIGHUP, and Control-C."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Callable

from disan_tf.common.errors import Stopped

INTERRUPTED = 128 + signal.SIGINT
_SOON = 0.05  # seconds, after which a destructor should be over


def handle(program: str) -> None:
    """Makes SIGTERM raise `Stopped`, and a second Control-C end the process at once.

    SIGHUP, of a terminal that is closed, does as SIGTERM, unless it is ignored (nohup). Python
    ignores an exception that comes up in a destructor: such a one is raised again.

    Args:
      program: whose name begins the sentence of the second Control-C.
    """

    def terminate(number, _):
        name = signal.Signals(number).name
        raise Stopped(f"stopped by {name}; the same command begins again.", 128 + number)

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
    """Returns SIGTERM, and SIGHUP where there is one that is not ignored."""
    hang_up = getattr(signal, "SIGHUP", None)
    if hang_up is None or signal.getsignal(hang_up) == signal.SIG_IGN:
        return [signal.SIGTERM]
    return [signal.SIGTERM, hang_up]


@contextlib.contextmanager
def deferred() -> Iterator[Callable[[], int]]:
    """Remembers SIGTERM and SIGHUP in the block; yields a function that gives the first that came.

    It gives 0 where none came, and in a thread that is not the main one, which handles no signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: 0
        return
    came = []
    previous = {
        number: signal.signal(number, lambda it, _: came.append(it)) for number in ending_signals()
    }
    try:
        yield lambda: came[0] if came else 0
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
