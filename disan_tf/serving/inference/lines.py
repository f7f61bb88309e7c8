"""Records of a file or of standard input, chunk by chunk, and the tokens of their sentences."""

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Callable, Optional

import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.common.files import LONGEST_LINE, check_open, decode_line, open_bytes, too_long
from disan_tf.common.progress import is_terminal
from disan_tf.models.base import SENTENCE
from disan_tf.serving.inference.header import HeaderParser
from disan_tf.serving.inference.records import (
    DEFAULT,
    PARSERS,
    Columns,
    TextParser,
)
from disan_tf.text import TracedTextToIds

CHUNK_BYTES = 1 << 18  # some thousand sentences


def read_chunks(
    path,
    input_format: Optional[str] = None,
    fields: Sequence[str] = SENTENCE,
    check: Callable[[dict, str], None] = lambda record, where: None,
    columns: Columns = DEFAULT,
) -> Iterator[list[dict]]:
    """Yields the records of all lines, in order, in chunks.

    A chunk comes from one read of at most `CHUNK_BYTES`: memory is bounded, and a program that
    writes lines into a pipe and waits for their predictions gets them.

    Args:
      path: a file, or "-" for standard input. Lines end with a newline alone; a carriage return
        before it, and a byte order mark at the start, are left out. An empty line is a line.
      input_format: "text", "jsonl", "tsv" or "csv", see `serving.inference.records`; None = the
        name's ending, else "text", and on standard input what the first line looks like.
      fields: the model's sentences, which a record must have.
      check: a function called with each record, and its file and line.
      columns: the names under which a record holds the sentences.

    Raises:
      UserError: the format is unknown, the file cannot be opened, a line is too long, not UTF-8 or
        not a record of these fields.
    """
    parse, name = _parser(path, input_format, fields, columns), _name(path)
    number, where = 0, name
    with _open(path) as file:
        for lines in raw_chunks(file.read1):
            records = []
            for line in lines:
                number += 1
                where = f"{name}, line {number}"
                record = read_record(line, number, name, parse)
                if record is not None:
                    check(record, where)
                    records.append(record)
            if records:
                yield records
    parse.end(where)


def _name(path):
    return "standard input" if path == "-" else path


def _parser(path, input_format, fields, columns) -> TextParser:
    """Returns the parser of an input's format."""
    if input_format is None and path == "-":
        return HeaderParser(fields, columns, _announce)
    input_format = _format(path, input_format)
    if input_format not in PARSERS:
        known = " or ".join(PARSERS)
        raise UserError(f"There is no input format {input_format!r}; choose {known}.")
    return PARSERS[input_format](fields, columns)


def _announce(line: str, kind: str) -> None:
    print(
        f"standard input: line 1 ({line[:80]!r}) is read as {kind}; with --input_format=text it is "
        "a sentence.",
        file=sys.stderr,
    )


def count_lines(path, input_format: Optional[str] = None) -> Optional[int]:
    """Counts the lines of a file without a table's header, for a bar.

    Returns None for other inputs, and without a terminal.
    """
    if path == "-" or not is_terminal() or not Path(path).is_file():
        return None
    count, last = 0, b"\n"
    with open_bytes(path) as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            count, last = count + block.count(b"\n"), block[-1:]
    has_header = _format(path, input_format) in ("tsv", "csv")
    return max(count + (last != b"\n") - has_header, 0)


def _format(path, input_format: Optional[str]) -> str:
    """Returns the format of a file, by its name unless the user names one."""
    if input_format is None:
        ending = Path(path).suffix.replace(".", "")
        return ending if ending in PARSERS else "text"
    return input_format


def raw_chunks(read: Callable[[int], bytes]) -> Iterator[list[Optional[bytes]]]:
    """Yields the lines that end in each block of at most `CHUNK_BYTES`, without their newlines.

    A line longer than `LONGEST_LINE` is None, as soon as its length is known.

    Args:
      read: returns at most so many of the next bytes, and none at the end.
    """
    rest, is_skipping = b"", False
    for block in iter(lambda: read(CHUNK_BYTES), b""):
        *lines, rest = (rest + block).split(b"\n")
        if is_skipping and lines:  # the first is the end of the long line
            del lines[0]
            is_skipping = False
        if is_skipping:
            rest = b""
        elif len(rest) > LONGEST_LINE:
            lines.append(None)
            rest, is_skipping = b"", True
        yield lines
    if rest:
        yield [rest]


def read_record(line: Optional[bytes], number: int, name, parse: TextParser) -> Optional[dict]:
    """Parses a line of `raw_chunks`; returns None for a line without a record (a header).

    Args:
      line: as `raw_chunks` yields it.
      number: the line's number, from 1.
      name: the file's name, for errors.
      parse: the parser of the file's format.

    Raises:
      UserError: the line is too long, not UTF-8 or not a record.
    """
    if line is None:
        raise too_long(name, number)
    text = decode_line(line, name, number, "convert the input to UTF-8")
    return parse(text, f"{name}, line {number}")


def tokenise(
    records: list[dict],
    text_to_ids: TracedTextToIds,
    fields: Sequence[str] = SENTENCE,
    columns: Columns = DEFAULT,
) -> list[tuple[list[str], ...]]:
    """Returns the tokens of each record's sentences, in the order of `fields`.

    A sentence without tokens gets one empty token, which is unknown.
    """
    return list(zip(*(_tokenise_field(records, text_to_ids, field, columns) for field in fields)))


def look_up(sentences: Sequence[tuple], text_to_ids: TracedTextToIds) -> Sequence[tf.Tensor]:
    """Returns the model's inputs for `tokenise`'s sentences, see `text_to_ids.inputs`.

    First come word ids, for each field <int32>[batch, length], zero-padded, then the other inputs
    that the model was trained on.
    """
    return text_to_ids.inputs(*zip(*sentences))


def is_blank(sentences: Sequence[Sequence[str]]) -> bool:
    """Returns whether none of a record's sentences, see `tokenise`, has a token."""
    return not any(map(any, sentences))


def _tokenise_field(records, text_to_ids, field, columns):
    lists = [columns.find_tokens(record, field) for record in records]
    texts = [
        columns.find_text(record, field) for record, tokens in zip(records, lists) if tokens is None
    ]
    tokenised = iter(text_to_ids.tokens(texts))
    return [(next(tokenised) if tokens is None else tokens) or [""] for tokens in lists]


def _open(path):
    if path == "-":
        check_open(sys.stdin, "--input")
        return contextlib.nullcontext(sys.stdin.buffer)
    return open_bytes(path)
