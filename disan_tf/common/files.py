"""Atomic writes, locks, and readers whose errors name the file and the line."""

import contextlib
import errno
import fcntl
import glob
import gzip
import hashlib
import io
import json
import os
import platform
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO, Union

from disan_tf.common.errors import UserError
from disan_tf.common.schema import Schema, check_schema

PathLike = Union[str, Path]

_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
LONGEST_LINE = 1 << 22  # bytes; a line of many megabytes is no sentence and perhaps no text
LONGEST_JSON = 1 << 25  # bytes; Python's objects may take thirty times as many
_GZIP = b"\x1f\x8b"


def write_atomically(path: PathLike, data: Union[str, bytes]) -> None:
    """Writes `data` under a temporary name in the same folder, then renames it to `path`.

    Raises:
      OSError: the file cannot be written; the error names the path.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    data = data.encode("utf-8") if isinstance(data, str) else data
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=temporary_prefix(path))
    try:
        with _named_write(path), os.fdopen(handle, "wb") as file:
            file.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)  # mkstemp makes private files
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def open_output(path: PathLike, shown: PathLike) -> BinaryIO:
    """Opens a file to write; errors of its writes, also of those as it closes, name `shown`."""
    return io.BufferedWriter(_Output(path, shown))


class _Output(io.FileIO):
    def __init__(self, path: PathLike, shown: PathLike):
        super().__init__(path, "wb")
        self._shown = shown

    def write(self, data) -> int:
        with _named_write(self._shown):
            return super().write(data)


@contextlib.contextmanager
def _named_write(path: PathLike) -> Iterator[None]:
    """Names a path in the errors of writes to an open file, which name none."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise OSError(error.errno, error.strerror or str(error), str(path)) from None
        raise


def write_arrays(path: PathLike, **arrays) -> None:
    """Writes arrays as a compressed `.npz` file, atomically."""
    import numpy as np  # most commands' help needs no NumPy

    content = io.BytesIO()  # on a full disk, closing a zip file raises a second error
    np.savez_compressed(content, **arrays)
    write_atomically(path, content.getvalue())


def temporary_prefix(target: PathLike) -> str:
    """Returns the prefix of a temporary name for `target`; removes leftovers of killed processes.

    The prefix has this machine's name and this process' number. Temporary files of other machines
    and of running processes are kept.
    """
    target, machine = Path(target), re.sub(r"[^\w-]", "", platform.node())[:32]
    for leftover in target.parent.glob(f".{glob.escape(target.name)}.tmp-{machine}-*"):
        process = leftover.name.rsplit("-", 2)[1]
        if process.isdecimal() and not _lives(int(process)):
            _remove(leftover)
    return f".{target.name}.tmp-{machine}-{os.getpid()}-"


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # the process runs for another user
        pass
    return True


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):  # removed by another process, or not permitted
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def check_open(stream, flag: str) -> None:
    """Raises UserError for a standard stream that was closed before the program began.

    `disan_tf.cli.command_line` replaces a closed stream by the null device.
    """
    if getattr(stream, "name", None) == os.devnull:
        raise UserError(f"the standard stream is closed; name a file with {flag}.")


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

    Args:
      folder: the folder; its lock is the file `.lock` in it.
      wait: whether to wait for another owner.

    Raises:
      UserError: another process holds the lock, and `wait` is False.
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
        lock.truncate(0)
        lock.write(f"process {os.getpid()} on {platform.node()}\n")
        lock.flush()
        yield


class Owned(UserError):
    """The error if another process writes into a folder."""


def write_json(path: PathLike, value) -> None:
    """Writes `value` as indented JSON, atomically."""
    write_atomically(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def read_json(path: PathLike, remedy: str, schema: Schema = dict):
    """Reads a JSON file.

    Args:
      path: the file.
      remedy: the end of error messages.
      schema: the schema of the content, see `check_schema`.

    Raises:
      UserError: the file is missing, or see `decode_json`; or it does not match the schema.
    """
    try:
        with open(path, "rb") as file:
            content = file.read(LONGEST_JSON + 1)
    except FileNotFoundError:
        raise UserError(f"{path} does not exist: {remedy}.") from None
    return check_schema(path, decode_json(content, path, remedy), schema, remedy)


def decode_json(content: bytes, name, remedy: str):
    """Returns the value of a JSON text.

    Args:
      content: the text in UTF-8.
      name, remedy: the beginning and the end of error messages.

    Raises:
      UserError: the text is longer than `LONGEST_JSON`, is not JSON, or repeats a key.
    """
    if len(content) > LONGEST_JSON:
        raise UserError(f"{name} has more than {LONGEST_JSON:,} bytes of JSON: {remedy}.")
    try:
        return json.loads(content.decode("utf-8"), object_pairs_hook=distinct_keys)
    except (ValueError, RecursionError) as error:  # not UTF-8 is a ValueError
        raise UserError(f"{name} is not readable JSON ({error}): {remedy}.") from None


def distinct_keys(pairs: list[tuple]) -> dict:
    """Returns the dictionary of a JSON object; raises ValueError for a repeated key."""
    content = dict(pairs)
    if len(content) < len(pairs):
        seen = set()
        key = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise ValueError(f"the key {key[:80]!r} is repeated")
    return content


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

    Unicode line separators are kept as text; a byte order mark at the start is dropped. Memory
    holds one line at a time.

    Raises:
      UserError: the file is missing, or a line cannot be decoded or is longer than `LONGEST_LINE`.
    """
    remedy = f"convert the file to {encoding.upper()} or restore the official one"
    with open_bytes(path) as file:
        for number, line in enumerate(bounded_lines(file, path), start=1):
            yield number, decode_line(line, path, number, remedy, encoding)


def open_bytes(path: PathLike) -> BinaryIO:
    """Opens a file, which gzip may have compressed, to read its bytes; see `gunzipped`.

    Raises:
      UserError: the file cannot be opened.
    """
    try:
        return gunzipped(open(path, "rb"))
    except OSError as error:
        raise UserError(f"{path} cannot be opened ({error.strerror}).") from None


def gunzipped(file: io.BufferedReader) -> BinaryIO:
    """Returns the open file, or a file that decompresses it if it is compressed with gzip."""
    return _Gunzipped(fileobj=file, mode="rb") if file.peek(2)[:2] == _GZIP else file


class _Gunzipped(gzip.GzipFile):
    """A decompressing file that also closes the compressed file."""

    def close(self):
        compressed = self.fileobj
        super().close()
        if compressed is not None:
            compressed.close()


@contextlib.contextmanager
def whole_gzip(name) -> Iterator[None]:
    """Raises UserError if a compressed file that is read is damaged or cut off."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise UserError(f"{name} is a damaged gzip file; restore or compress it again.") from None


def decode_line(line: bytes, name, number: int, remedy: str, encoding: str = "utf-8") -> str:
    """Returns a line's text without its end and, in line 1, without a byte order mark.

    Raises:
      UserError: the line cannot be decoded; the error names the file, ends with `remedy`.
    """
    try:
        text = line.rstrip(b"\r\n").decode(encoding)
    except UnicodeDecodeError as error:
        raise UserError(
            f"{name}, line {number}: byte 0x{line[error.start]:02x} at column {error.start + 1} is "
            f"not {encoding.upper()}; {remedy}."
        ) from None
    return text.removeprefix("\ufeff") if number == 1 else text


def bounded_lines(file: BinaryIO, name) -> Iterator[bytes]:
    """Yields the lines of the open file `name`; raises UserError for one that is too long."""
    with whole_gzip(name):
        for number, line in enumerate(iter(partial(file.readline, LONGEST_LINE + 1), b""), start=1):
            if len(line) > LONGEST_LINE:
                raise too_long(name, number)
            yield line


def too_long(name, number: int) -> UserError:
    """Returns the error for a line longer than `LONGEST_LINE`."""
    return UserError(
        f"{name}, line {number}: a line may have {LONGEST_LINE:,} bytes, and this one has more; "
        "divide it or restore the file."
    )


def sha256(path: PathLike) -> str:
    """Returns the SHA-256 digest of a file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


@contextlib.contextmanager
def scratch_folder(target: PathLike) -> Iterator[Path]:
    """Yields a temporary folder beside `target`, in which to write it before it is renamed.

    Files that cannot be removed at the end, such as files that a network's file system keeps open,
    stay until the next command; see `temporary_prefix`.

    Raises:
      UserError: the parent folder of `target` is not writable.
    """
    target = Path(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = tempfile.mkdtemp(dir=target.parent, prefix=temporary_prefix(target))
    except OSError as error:
        raise UserError(f"{target.parent} cannot be written ({error.strerror}).") from None
    try:
        yield Path(scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
