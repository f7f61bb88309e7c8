"""Files of texts: their format, compression, encoding and line ends.

Everything that reads texts from files goes through `TextLines`: the commands, a user's own tables
and Beam. Whatever a file holds, its readers get lines in UTF-8.
"""

import codecs
import contextlib
import io
import re
import sys
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import PurePath
from typing import Callable, Optional

from disan_tf.common import files
from disan_tf.common.errors import UserError
from disan_tf.text.json_texts import array_items

FORMATS = ("text", "jsonl", "tsv", "csv")
CHUNK_BYTES = 1 << 18  # some thousand sentences
LONGEST_ARRAY = 1 << 28  # bytes of a JSON array, which is read as a whole
_ENDINGS = {
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "jsonl"),
    **{".csv": "csv", ".tsv": "tsv", ".tab": "tsv"},
}
COMPRESSED = (".gz", ".bz2", ".zst")
_MARKS = {  # byte order mark -> encoding
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",  # begins with UTF-16's
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_OTHERS = {  # first bytes of files that hold no text
    b"PK\x03\x04": "an Excel workbook or another zip archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"PAR1": "a Parquet file",
    **dict.fromkeys((b"ARROW1", b"\xff\xff\xff\xff"), "an Arrow file"),
    b"%PDF": "a PDF file",
    **dict.fromkeys((b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"), "a pickle"),
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a NumPy array",
    b"SQLite format": "a database",
    b"BZh": "compressed with bzip2",
    b"\xfd7zXZ": "compressed with xz",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"version https://git-lfs": "a Git LFS pointer (git lfs pull fetches the file)",
}
_ARRAY = re.compile(rb'\s*\[\s*\{\s*"')  # of JSON objects; a sentence may begin with a bracket
_CONTROL = re.compile("[\x80-\x9f]")  # in ISO 8859; cp1252 has quotes and dashes there
_HALF = re.compile("[\ud800-\udfff]")  # surrogates, which UTF-7 and escapes may leave alone
_ITEMS = 1000  # objects of an array in a chunk


def format_of(name) -> Optional[str]:
    """Returns the format of `FORMATS` that a file's name ends with, or None.

    Case is ignored, and so is the ending of a compressed file.
    """
    path = PurePath(str(name).lower())
    if path.suffix in COMPRESSED:
        path = path.with_suffix("")
    return _ENDINGS.get(path.suffix)


def check_encoding(encoding: str) -> str:
    """Returns the encoding; raises ValueError unless Python can decode text with it."""
    try:
        "".encode(encoding)
        b"".decode(encoding)
    except (LookupError, ValueError):
        raise ValueError(f"encoding={encoding} is no encoding of text, such as cp1252.") from None
    return encoding


class TextLines:
    """The lines of a file of texts, in chunks that end with each read.

    Files may be compressed with gzip. A byte order mark (UTF-8, 16 or 32) determines the encoding.
    Lines end with a newline, with or without a carriage return before it, or with a carriage return
    if the file has no newline; Unicode's line separators are text. An item of a JSON array is a
    line. A file that is no text, or cannot be decoded, is a UserError.

    Args:
      read: a function that returns at most the given number of bytes, and none at the end.
      name: the file's name, for errors.
      input_format: one of `FORMATS`, or None for an unknown format; "jsonl" may be an array.
      encoding: the encoding of a file without a byte order mark.
      flag: the option that names the encoding.

    Attributes:
      unit: "line", or "object" of an array, for errors; known when the first chunk was read.
    """

    unit = "line"

    def __init__(
        self,
        read: Callable[[int], bytes],
        name,
        input_format: Optional[str] = None,
        encoding: str = "utf-8",
        flag: str = "",
    ):
        self._read, self._name, self._format = read, name, input_format
        self._encoding, self._flag = encoding, flag
        self._remedy = (
            "save the text as UTF-8" + f", or name its encoding, as in {flag}=cp1252" * bool(flag)
        )

    def chunks(self) -> Iterator[list[Optional[bytes]]]:
        """Yields the lines that end in each block of at most `CHUNK_BYTES`, in UTF-8.

        A line longer than `files.LONGEST_LINE` is None, as soon as its length is known.
        """
        blocks = self._blocks()
        first = next(blocks, b"")
        is_array = self._format == "jsonl" and first.lstrip().startswith(b"[")
        if is_array or (self._format is None and _ARRAY.match(first)):
            self.unit = "object"
            yield from self._items(chain([first], blocks))
        else:
            yield from split_lines(chain([first], blocks))

    def decode(self, line: Optional[bytes], number: int) -> str:
        """Returns the text of line `number`; raises UserError if it is too long or not UTF-8."""
        if line is None:
            raise files.too_long(self._name, number)
        return files.decode_line(line, self._name, number, self._remedy)

    def place(self, number: int) -> str:
        """Returns the place of an item, with which errors begin."""
        return f"{self._name}, {self.unit} {number}"

    def _blocks(self) -> Iterator[bytes]:
        """Yields blocks of bytes in UTF-8."""
        source = io.BufferedReader(_Source(self._read), CHUNK_BYTES)
        file = files.gunzipped(source, self._name)
        head = b""  # the first block, or several if it is too short for a byte order mark
        while len(head) < 4 and b"\n" not in head and (more := file.read1(CHUNK_BYTES)):
            head += more
        if kind := detect_format(head, self._encoding):
            raise UserError(
                f"{self._name} is {kind}, and no text; write the texts to a CSV file in UTF-8, "
                "plain or gzipped."
            )
        for mark, encoding in _MARKS.items():
            if head.startswith(mark):
                head, self._encoding = head[len(mark) :], encoding
                break
        is_utf8 = codecs.lookup(self._encoding).name == "utf-8"
        blocks = iter(lambda: file.read1(CHUNK_BYTES), b"")
        if is_utf8:
            yield from chain([head], blocks)
        else:
            yield from self._transcode(chain([head], blocks, [b""]))

    def _transcode(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """Yields blocks in UTF-8; the last block is empty."""
        decoder, newlines = codecs.getincrementaldecoder(self._encoding)(), 0
        is_latin = codecs.lookup(self._encoding).name.startswith("iso8859")
        wrong = _CONTROL if is_latin else _HALF
        for block in blocks:
            try:
                text = decoder.decode(block, not block)
            except UnicodeDecodeError as error:
                before = error.object[: error.start].decode(self._encoding, "replace")
                raise UserError(
                    f"{self._name}, line {newlines + before.count(chr(10)) + 1}: byte "
                    f"0x{error.object[error.start]:02x} is not {self._encoding.upper()}; "
                    f"{self._remedy}."
                ) from None
            except UnicodeError:
                encoding = codecs.lookup(self._encoding).name
                raise UserError(
                    f"{self._name} has no byte order mark, which {encoding.upper()} needs; name "
                    f"the byte order, as in {self._flag}={encoding}-le or {encoding}-be."
                ) from None
            if found := wrong.search(text):
                code = ord(found[0])
                problem = f"U+{code:04X} is half of a character; {self._remedy}"
                if is_latin:
                    problem = (
                        f"byte 0x{code:02x} is a control character in {self._encoding}; name the "
                        f"file's encoding, often {self._flag}=cp1252"
                    )
                line = newlines + text.count("\n", 0, found.start()) + 1
                raise UserError(f"{self._name}, line {line}: {problem}.")
            newlines += text.count("\n")
            if text:
                yield text.encode("utf-8")

    def _items(self, blocks: Iterator[bytes]) -> Iterator[list[bytes]]:
        """Yields the items of a JSON array as lines, in chunks."""
        content = bytearray()
        for block in blocks:
            content += block
            if len(content) > LONGEST_ARRAY:
                raise UserError(
                    f"{self._name} is a JSON array of more than {LONGEST_ARRAY:,} bytes, and is "
                    "read as a whole; write one JSON object a line instead."
                )
        try:
            items = array_items(content.decode("utf-8"), self._name)
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise UserError(
                f"{self._name}, line {line}: byte 0x{content[error.start]:02x} is not UTF-8; "
                f"{self._remedy}."
            ) from None
        yield from iter(lambda: list(islice(items, _ITEMS)), [])


def open_texts(path):
    """Returns a context manager: the opened file, or standard input for "-"; or UserError."""
    if path == "-":
        return contextlib.nullcontext(sys.stdin.buffer)
    return files.open_bytes(path)


def detect_format(head: bytes, encoding: str = "utf-8") -> Optional[str]:
    """Returns what a file with these first bytes is, or None if it may be text."""
    kind = next((kind for start, kind in _OTHERS.items() if head.startswith(start)), None)
    is_wide = any(map(head.startswith, _MARKS)) or "\n".encode(encoding) != b"\n"
    start = head[:4096]
    if kind is None and start.count(b"\0") > len(start) // 8 and not is_wide:
        return "binary data, or UTF-16 without a byte order mark (encoding utf-16-le or utf-16-be)"
    return kind


def split_lines(blocks: Iterator[bytes]) -> Iterator[list[Optional[bytes]]]:
    """Yields the lines that end in each block, see `TextLines.chunks`."""
    end, rest, is_skipping = b"", b"", False
    for block in blocks:
        rest += block
        end = end or _line_end(rest)
        *lines, rest = rest.split(end) if end else [rest]
        if is_skipping and lines:  # the first is the end of the long line
            del lines[0]
            is_skipping = False
        if is_skipping:
            rest = b""
        elif len(rest) > files.LONGEST_LINE:
            lines.append(None)
            rest, is_skipping = b"", True
        yield lines
    lines = rest.split(end or b"\r")
    yield lines if lines[-1] else lines[:-1]


def _line_end(start: bytes) -> bytes:
    """Returns the line end of a file, from its first bytes; b"" = not known yet."""
    if b"\n" in start:
        return b"\n"
    return b"\r" if len(start) > CHUNK_BYTES and b"\r" in start[:-1] else b""


class _Source(io.RawIOBase):
    """Makes a file of a function that reads."""

    def __init__(self, read: Callable[[int], bytes]):
        self._source = read

    def readable(self):
        return True

    def readinto(self, buffer):
        block = self._source(len(buffer))
        buffer[: len(block)] = block
        return len(block)
