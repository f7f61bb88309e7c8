"""Files that are never half written, and text files whose errors name the line."""

import contextlib
import fcntl
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Union

from disan_tf.errors import UserError

PathLike = Union[str, Path]


def write_atomically(path: PathLike, data: Union[str, bytes]) -> None:
    """Writes `data` under a temporary name in the same folder, then renames it to `path`."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    data = data.encode("utf-8") if isinstance(data, str) else data
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)  # mkstemp makes private files
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


@contextlib.contextmanager
def locked(path: PathLike) -> Iterator[None]:
    """Holds the lock of a file; waits for other processes. The file is left behind, empty."""
    with open(path, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # released when the process ends, however it ends
        yield


def write_json(path: PathLike, value) -> None:
    """Writes `value` as indented JSON, atomically."""
    write_atomically(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def read_json(path: PathLike, remedy: str):
    """Reads a JSON file.

    Raises:
      UserError: the file is missing or is not JSON; the sentence ends with `remedy`.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path} does not exist: {remedy}.") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not readable JSON ({error}): {remedy}.") from None


def check_format(path: PathLike, content, known: int, remedy: str) -> None:
    """Raises UserError unless the content of a JSON file has the format number `known`."""
    number = content.get("format") if isinstance(content, dict) else None
    if number != known:
        raise UserError(
            f"{path} has format {number}, and this version of disan_tf reads format {known}: "
            f"{remedy}."
        )


def read_lines(path: PathLike, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Yields `(line number from 1, text without its line end)`, splitting on newlines alone.

    Unicode line separators inside a line belong to the text; a byte order mark at the start of
    the file does not. Memory holds one line at a time.

    Raises:
      UserError: the file is missing, or a line does not decode.
    """
    try:
        file = open(path, "rb")  # noqa: SIM115 (the with below closes it)
    except OSError as error:
        raise UserError(f"{path} cannot be opened ({error.strerror}).") from None
    with file:
        for number, line in enumerate(file, start=1):
            try:
                text = line.rstrip(b"\r\n").decode(encoding)
                yield number, text[1:] if number == 1 and text[:1] == "\ufeff" else text
            except UnicodeDecodeError as error:
                raise UserError(
                    f"{path}, line {number}: byte 0x{line[error.start]:02x} at column "
                    f"{error.start + 1} is not {encoding.upper()}; convert the file to "
                    f"{encoding.upper()} or restore the official one."
                ) from None


def sha256(path: PathLike) -> str:
    """The SHA-256 digest of a file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


@contextlib.contextmanager
def scratch_folder(target: PathLike) -> Iterator[Path]:
    """A temporary folder beside `target`, where it can be written and then renamed.

    Raises:
      UserError: the folder of `target` cannot be written to.
    """
    target = Path(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        folder = tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise UserError(f"{target.parent} cannot be written ({error.strerror}).") from None
    with folder as scratch:
        yield Path(scratch)
