"""Readers of files, whose errors name the file and the line."""

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Iterator, Mapping
from functools import partial
from typing import BinaryIO

from disan_tf.common.errors import UserError
from disan_tf.common.paths import PathLike
from disan_tf.common.schema import Schema, check_schema

LONGEST_LINE = 1 << 22  # bytes; a line of many megabytes is no sentence and perhaps no text
_BUFFER = 1 << 17  # bytes of a decompressed file
LONGEST_JSON = 1 << 25  # bytes; Python's objects may take thirty times as many
DEEPEST_JSON = 100  # objects and lists inside each other; code that reads them may recurse
_LONGEST_INTEGER = 300  # digits; integers above 1.8e308 cannot become floats


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
    """Returns the value of a JSON text in UTF-8.

    Raises:
      UserError: it is not JSON with distinct keys, is too long, is nested too deeply, or has an
        integer of too many digits.
    """
    if len(content) > LONGEST_JSON:
        raise UserError(f"{name} has more than {LONGEST_JSON:,} bytes of JSON: {remedy}.")
    try:
        return check_depth(_DECODER.decode(content.decode("utf-8")))
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


def _integer(text: str) -> int:
    if len(text) > _LONGEST_INTEGER:
        raise ValueError(f"an integer has {len(text)} digits, more than {_LONGEST_INTEGER}")
    return int(text)


_DECODER = json.JSONDecoder(object_pairs_hook=distinct_keys, parse_int=_integer)


def check_depth(value):
    """Returns a value of JSON; raises ValueError if it is nested too deeply."""
    level, depth = [value], 0
    while level := [it for it in level if isinstance(it, (dict, list))]:
        depth += 1
        if depth > DEEPEST_JSON:
            raise ValueError(f"it has more than {DEEPEST_JSON} levels")
        level = [part for it in level for part in (it.values() if isinstance(it, dict) else it)]
    return value


def check_format(path: PathLike, content: Mapping, known: int, remedy: str) -> None:
    """Raises UserError unless the content of a JSON file has the format number `known`."""
    number = content.get("format")
    if number != known:
        raise UserError(
            f"{path} has format {number}, and this version of disan_tf reads format {known}: "
            f"{remedy}."
        )


def read_lines(
    path: PathLike, encoding: str = "utf-8", gzipped: bool = True
) -> Iterator[tuple[int, str]]:
    """Yields `(line number from 1, text without its line end)`, splitting on newlines alone.

    A byte order mark at the start is dropped. Memory holds one line at a time. `gzipped` tells
    whether gzip may have compressed the file.

    Raises:
      UserError: the file is missing, or a line cannot be decoded or is longer than `LONGEST_LINE`.
    """
    remedy = f"convert the file to {encoding.upper()} or restore the official one"
    with open_bytes(path, gzipped) as file:
        for number, line in enumerate(bounded_lines(file, path), start=1):
            yield number, decode_line(line, path, number, remedy, encoding)


def open_bytes(path: PathLike, gzipped: bool = True) -> BinaryIO:
    """Opens a file, which gzip may have compressed, to read its bytes, or raises UserError."""
    try:
        return gunzipped(open(path, "rb"), path) if gzipped else open(path, "rb")
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
