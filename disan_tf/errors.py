"""The exception for a user's own mistakes, and how a command ends with it."""

import sys
from typing import Callable


class UserError(Exception):
    """Bad input from outside: a file, a flag, a checkpoint.

    The message is one sentence that names what is wrong, with file and line if there are any, and
    what to do about it. `run.py` prints it without a traceback and exits with status 2.
    """


def exit_status(command: Callable[[], None]) -> int:
    """Runs a command; returns 0, or 2 after printing the sentence of a `UserError`."""
    try:
        command()
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    return 0
