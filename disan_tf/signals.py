"""What the process does when it is asked to end: SIGTERM, and Control-C."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Callable

from disan_tf.errors import Stopped

TERMINATED = 128 + signal.SIGTERM  # the exit status, as shells give it
INTERRUPTED = 128 + signal.SIGINT
_SOON = 0.05  # seconds, after which a destructor should be over


def handle(program: str) -> None:
    """Makes SIGTERM raise `Stopped`, and a second Control-C end the process at once.

    Python ignores an exception that comes up in a destructor: such a one is raised again.

    Args:
      program: whose name begins the sentence of the second Control-C.
    """

    def terminate(*_):
        raise Stopped("stopped by SIGTERM; the same command begins again.", TERMINATED)

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
    signal.signal(signal.SIGTERM, terminate)
    signal.signal(signal.SIGINT, interrupt)


@contextlib.contextmanager
def deferred() -> Iterator[Callable[[], bool]]:
    """In the block SIGTERM is remembered, not obeyed; gives a function that tells if it came.

    A thread that is not the main one cannot handle signals: there the function says no.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    came = []
    previous = signal.signal(signal.SIGTERM, lambda *_: came.append(True))
    try:
        yield lambda: bool(came)
    finally:
        signal.signal(signal.SIGTERM, previous)
