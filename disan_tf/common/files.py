"""Atomic writes, and readers whose errors name the file and the line."""

import contextlib
import errno
import glob
import gzip
import hashlib
import io
import json
import os
import platform
import re
import secrets
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO, Union

from disan_tf.common.errors import UserError
from disan_tf.common.schema import Schema, check_schema

PathLike = Union[str, Path]

_NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EACCES)  # some folders
LONGEST_LINE = 1 << 22  # bytes; a line of many megabytes is no sentence and perhaps no text
_BUFFER = 1 << 17  # bytes of a decompressed file
LONGEST_JSON = 1 << 25  # bytes; Python's objects may take thirty times as many


def write_atomically(path: PathLike, data: Union[str, bytes]) -> None:
    """Writes a file whole or not at all; see `open_atomically`."""
    with open_atomically(path) as file:
        file.write(data.encode("utf-8") if isinstance(data, str) else data)


@contextlib.contextmanager
def open_atomically(path: PathLike) -> Iterator[BinaryIO]:
    """Opens a file that gets the name `path` when the block has ended and the disk has it all.

    After an error, a kill or a loss of power, `path` is the old file or the new one. In a
    `scratch_folder`, which gets its name as a whole, the file has its name at once. Errors of the
    operating system name the path.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if _temporary_mark() in str(path.parent):
        with open_output(path, path) as file:
            yield file
        return
    temporary = path.with_name(temporary_prefix(path) + secrets.token_hex(4))
    try:
        with open_output(temporary, path) as file:
            yield file
        sync_and_rename(temporary, path)
    except BaseException:
        _remove(temporary)
        raise


def open_output(path: PathLike, shown: PathLike) -> BinaryIO:
    """Opens a file for buffered writes; errors name `shown`, even those raised on closing."""
    return io.BufferedWriter(_Output(path, shown))


class _Output(io.FileIO):
    """A new file, all of whose errors name the path that it will have."""

    def __init__(self, path: PathLike, target: PathLike):
        with naming(target):
            super().__init__(path, "w")
        self._target = target

    def write(self, data) -> int:
        with naming(self._target):
            return os.write(self.fileno(), data)


@contextlib.contextmanager
def naming(path: PathLike) -> Iterator[None]:
    """Adds `path` to errors of the operating system; errors of failed writes name no file."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from None


def sync_and_rename(new: PathLike, target: PathLike) -> None:
    """Renames a file or a folder when the disk has all of its content; errors name `target`."""
    target = Path(target)
    with naming(target):
        sync(new)
        os.replace(new, target)
        _sync_one(target.parent)


def sync(path: PathLike) -> None:
    """Waits until the disk has a file, or a folder and all that is in it."""
    for entry in (*Path(path).rglob("*"), path):
        _sync_one(entry)


def _sync_one(path: PathLike) -> None:
    try:
        with naming(path):
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise


def write_array(path: PathLike, array) -> None:
    """Writes an array as a `.npy` file, atomically and without a copy in memory."""
    import numpy as np  # most commands' help needs no NumPy

    array = np.ascontiguousarray(array)
    with open_atomically(path) as file:  # `np.save` does not say which of its writes failed
        header = np.lib.format.header_data_from_array_1_0(array)
        np.lib.format.write_array_header_1_0(file, header)
        file.write(array.data)


def write_arrays(path: PathLike, **arrays) -> None:
    """Writes arrays as a compressed `.npz` file, atomically."""
    import numpy as np  # most commands' help needs no NumPy

    content = io.BytesIO()  # on a full disk, closing a zip file raises a second error
    np.savez_compressed(content, **arrays)
    write_atomically(path, content.getvalue())


def copy_file(source: PathLike, target: PathLike) -> None:
    """Copies the content of a file, atomically."""
    with open(source, "rb") as file, open_atomically(target) as copy:
        shutil.copyfileobj(file, copy, 1 << 20)


def temporary_prefix(target: PathLike) -> str:
    """Returns the prefix of a temporary name for `target`: this machine's name and process' number.

    Removes the temporary files that killed processes of this machine left behind.
    """
    target = Path(target)
    for leftover in target.parent.glob(f".{glob.escape(target.name)}.tmp-{_machine()}-*"):
        process = leftover.name.rsplit("-", 2)[1]
        if process.isdecimal() and not _lives(int(process)):
            _remove(leftover)
    return f".{target.name}{_temporary_mark()}"


def _temporary_mark() -> str:
    return f".tmp-{_machine()}-{os.getpid()}-"


def _machine() -> str:
    return re.sub(r"[^\w-]", "", platform.node())[:32]


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


def write_json(path: PathLike, value) -> None:
    """Writes `value` as indented JSON, atomically."""
    write_atomically(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def read_json(path: PathLike, remedy: str, schema: Schema = dict):
    """Reads a JSON file that matches a schema, see `check_schema`; `remedy` ends error messages.

    Raises:
      UserError: the file is missing or does not match, or see `decode_json`.
    """
    try:
        with open(path, "rb") as file:
            content = file.read(LONGEST_JSON + 1)
    except FileNotFoundError:
        raise UserError(f"{path} does not exist: {remedy}.") from None
    return check_schema(path, decode_json(content, path, remedy), schema, remedy)


def decode_json(content: bytes, name, remedy: str):
    """Returns the value of a JSON text in UTF-8; UserError unless it is JSON with distinct keys."""
    if len(content) > LONGEST_JSON:
        raise UserError(f"{name} has more than {LONGEST_JSON:,} bytes of JSON: {remedy}.")
    try:
        return json.loads(content.decode("utf-8"), object_pairs_hook=distinct_keys)
    except (ValueError, RecursionError) as error:  # not UTF-8 is a ValueError
        raise UserError(f"{name} is not readable JSON ({error}): {remedy}.") from None


def distinct_keys(pairs: list[tuple]) -> dict:
    """Returns the dictionary of a JSON object; raises ValueError for a repeated key."""
    content = {}
    for key, value in pairs:
        if key in content:
            raise ValueError(f"the key {key[:80]!r} is repeated")
        content[key] = value
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

    A byte order mark at the start is dropped. Memory holds one line at a time.

    Raises:
      UserError: the file is missing, or a line cannot be decoded or is longer than `LONGEST_LINE`.
    """
    remedy = f"convert the file to {encoding.upper()} or restore the official one"
    with open_bytes(path) as file:
        for number, line in enumerate(bounded_lines(file, path), start=1):
            yield number, decode_line(line, path, number, remedy, encoding)


def open_bytes(path: PathLike) -> BinaryIO:
    """Opens a file, which gzip may have compressed, to read its bytes, or raises UserError."""
    try:
        return gunzipped(open(path, "rb"), path)
    except OSError as error:
        raise UserError(f"{path} cannot be opened ({error.strerror}).") from None


def gunzipped(file: io.BufferedReader, name) -> io.BufferedReader:
    """Returns the open file `name`, or a file that decompresses it if gzip compressed it.

    A read of a damaged or cut compressed file raises UserError.
    """
    if file.peek(2)[:2] != b"\x1f\x8b":
        return file
    return io.BufferedReader(_Gunzipped(file, name), _BUFFER)


class _Gunzipped(io.RawIOBase):
    """The content of a compressed file, which it closes too."""

    def __init__(self, compressed: BinaryIO, name):
        self._compressed, self._name = compressed, name
        self._content = gzip.GzipFile(fileobj=compressed, mode="rb")

    def readable(self):
        return True

    def readinto(self, buffer):
        try:
            block = self._content.read1(len(buffer))
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise UserError(
                f"{self._name} is a damaged gzip file; restore or compress it again."
            ) from None
        buffer[: len(block)] = block
        return len(block)

    def close(self):
        self._compressed.close()
        super().close()


def decode_line(line: bytes, name, number: int, remedy: str, encoding: str = "utf-8") -> str:
    """Returns a line's text without its end and, in line 1, without a byte order mark.

    Raises UserError if it cannot be decoded; the error names the file, and ends with `remedy`.
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


def make_parent(target: Path) -> None:
    """Makes the folder of an output; raises UserError if that, or a file in it, is impossible."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=target.parent).close()
    except OSError as error:
        raise UserError(f"{target.parent} cannot be written ({error.strerror}).") from None


@contextlib.contextmanager
def scratch_folder(target: PathLike) -> Iterator[Path]:
    """Yields a temporary folder beside `target`, in which to write it before it is renamed.

    What cannot be removed at the end, such as files that a network's file system keeps open, stays
    until the next command. Raises UserError if the parent folder of `target` is not writable.
    """
    target = Path(target)
    make_parent(target)
    scratch = tempfile.mkdtemp(dir=target.parent, prefix=temporary_prefix(target))
    try:
        yield Path(scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
