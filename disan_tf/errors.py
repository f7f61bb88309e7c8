"""The one exception that a user's own mistake raises."""


class UserError(Exception):
    """Bad input from outside: a file, a flag, a checkpoint.

    The message is one sentence that names what is wrong (the file and line where there is one)
    and what to do about it. `run.py` prints it without a traceback and exits with status 2.
    """
