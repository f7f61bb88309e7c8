"""The exceptions for users' mistakes and signals, and the messages for failures of the machine."""

import errno
import os
import re
import sys
from typing import Callable, Optional

_REMEDIES = {  # by error number
    (errno.ENOSPC, errno.EDQUOT, errno.EFBIG): "free some space, or choose another folder",
    (errno.EACCES, errno.EPERM): "choose a path that you may use, or change its permissions",
    (errno.EROFS,): "choose a folder that can be written",
    (errno.ENOENT,): "check the path",
    (errno.ENOTDIR,): "a file is in the place of a folder; choose another path",
    (errno.EISDIR, errno.EEXIST, errno.ENOTEMPTY): "it is in the way; move it, or choose another",
    (errno.ELOOP,): "its links lead in a circle; repair them",
    (errno.ENAMETOOLONG,): "choose a shorter path",
    (errno.EMFILE, errno.ENFILE): "close programs, or allow more open files (ulimit -n)",
    (errno.ENOMEM,): "close programs, or use smaller batches",
    (errno.ETXTBSY, errno.EBUSY): "another program uses it; end that and try again",
    (errno.EIO, errno.ESTALE): "check the disk or the network, and try again",
}
_LONGEST = 1500  # characters of a sentence
_BY_NUMBER = {number: remedy for numbers, remedy in _REMEDIES.items() for number in numbers}


class UserError(Exception):
    """Bad input from outside: a file, a flag, a checkpoint.

    The message is one sentence that names what is wrong, with file and line, and what to do about
    it.
    """


class Stopped(SystemExit):
    """The exception that a signal to end the process raises, with a sentence and an exit status."""

    def __init__(self, message: str, status: int):
        super().__init__(status)
        self.message = message


def explain(error: BaseException) -> Optional[str]:
    """Returns a sentence on an error that a user can remedy, or None for an error in our code.

    A user can remedy `UserError`s, a lack of memory, and errors of the operating system or of
    TensorFlow's file system. See `shorten`.
    """
    sentence = _sentence(error)
    return None if sentence is None else shorten(sentence)


def escape(text: str) -> str:
    """Returns a text whose control characters, which could steer a terminal, are escaped."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def shorten(sentence: str) -> str:
    """Escapes the control characters of a sentence, and cuts a long one in the middle."""
    sentence, half = escape(sentence), _LONGEST // 2
    if len(sentence) > _LONGEST:
        return f"{sentence[:half]} [...] {sentence[-half:]}"
    return sentence


def _sentence(error: BaseException) -> Optional[str]:
    if isinstance(error, UserError):
        return str(error)
    text = " ".join(str(error).split())
    wrapped = re.search(
        r"Exception encountered when calling layer .*?\)\. (.*) Call arguments", text
    )
    text = wrapped[1] if wrapped else text  # wrapped by Keras
    text = re.sub(r"\{\{.*?\}\} | \[Op:\w+\].*", "", text)  # TensorFlow's names of an operation
    is_memory = isinstance(error, MemoryError) or type(error).__name__ == "ResourceExhaustedError"
    if is_memory and not _number_of(text):
        reason = f" ({text[:200]})" if text else ""
        return f"There is not enough memory{reason}; use smaller batches or a smaller model."
    is_of_tensorflow = type(error).__module__.startswith("tensorflow")
    if isinstance(error, RuntimeError) and text.startswith("Symlink loop"):  # up to Python 3.12
        return f"{text}; its links lead in a circle; repair them."
    if not isinstance(error, OSError) and not (is_of_tensorflow and _number_of(text)):
        return None
    number = getattr(error, "errno", None) or _number_of(text)
    remedy = _BY_NUMBER.get(number, "try again")
    paths = [getattr(error, name, None) for name in ("filename", "filename2")]
    named = " -> ".join(os.fsdecode(path) for path in paths if isinstance(path, (str, bytes)))
    reason = os.strerror(number) if number and named else text[:300] or type(error).__name__
    return f"{named}: {reason}; {remedy}." if named else f"{reason}; {remedy}."


def _number_of(text: str) -> Optional[int]:
    """Returns the operating system's error number that a library's message names, or None."""
    match = re.search(r"errno = ([0-9]+)", text)  # HDF5
    if match:
        return int(match[1])
    if re.fullmatch("[0-9]+ requested and [0-9]+ written", text):  # NumPy
        return errno.ENOSPC
    text = text.lower()  # TensorFlow begins some messages with a small letter
    return next((code for code in _BY_NUMBER if os.strerror(code).lower() in text), None)


def exit_status(command: Callable[[], None]) -> int:
    """Runs a command; returns 0, or 2 after it has printed an error, see `explain`."""
    try:
        command()
    except (UserError, OSError, MemoryError) as error:
        print(explain(error), file=sys.stderr)
        return 2
    return 0
