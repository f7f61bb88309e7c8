"""Records of a file or of standard input, chunk by chunk, and the tokens of their sentences."""

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Callable, Optional

import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.common.files import checked_gzip, open_bytes
from disan_tf.common.progress import is_terminal
from disan_tf.models.base import SENTENCE
from disan_tf.serving.inference.records import (
    DEFAULT,
    Columns,
    Recogniser,
    make_parser,
)
from disan_tf.text import TracedTextToIds
from disan_tf.text.text_files import TextLines, check_encoding, format_of, open_texts


def read_chunks(
    path,
    input_format: Optional[str] = None,
    fields: Sequence[str] = SENTENCE,
    check: Callable[[dict, str], None] = lambda record, where: None,
    columns: Columns = DEFAULT,
    encoding: str = "utf-8",
    end: Callable[[Sequence[str]], None] = lambda names: None,
) -> Iterator[list[dict]]:
    """Yields the records of all lines, in order, in chunks.

    A chunk comes from one read of at most `disan_tf.text.text_files.CHUNK_BYTES`: memory is
    bounded, and a program that writes lines into a pipe and waits for their predictions gets them.

    Args:
      path: a file, or "-" for standard input, see `TextLines`. An empty line is a line.
      input_format: one of `disan_tf.text.text_files.FORMATS`; None = by the name's ending, else
        "text"; on standard input by the first line.
      fields: the model's sentences, which a record must have.
      check: a function called with each record, and its file and line.
      columns: the names under which a record holds the sentences.
      encoding: the encoding of an input without a byte order mark.
      end: a function called at the end of the input with the columns of its table, or else the
        names of its texts.

    Raises:
      UserError: the format is unknown, the file cannot be opened, a line is too long, not in the
        encoding or not a record of these fields.
    """
    is_stream, number = path == "-", 0
    name = "standard input" if is_stream else path
    input_format = input_format or (None if is_stream else format_of(path))
    try:
        check_encoding(encoding)
    except ValueError as error:
        raise UserError(f"--input_{error}") from None
    if input_format is not None:
        parse = make_parser(input_format, fields, columns)
    else:
        announce = partial(_announce_other if is_stream else _announce_text, name)
        parse = Recogniser(fields, columns, announce, follows=is_stream)
        input_format = None if is_stream else "text"
    with open_texts(path) as file:
        lines = TextLines(file.read1, name, input_format, encoding, "--input_encoding")
        for chunk in lines.chunks():
            records = []
            for line in chunk:
                number += 1
                where = lines.place(number)
                record = parse(lines.decode(line, number), where)
                if record is not None:
                    check(record, where)
                    records.append(record)
            if records:
                yield records
    if parse.is_open:
        raise UserError(
            f"{lines.place(number)}: the input ends inside a quoted value; close the quote."
        )
    end(parse.names)


def _announce_other(name, line: str, kind: str, _) -> None:
    print(
        f"{name}: line 1 ({line[:80]!r}) is read as {kind}; with --input_format=text it is a "
        "sentence.",
        file=sys.stderr,
    )


def _announce_text(name, line: str, kind: str, input_format: str) -> None:
    print(
        f"warning: {name}: line 1 ({line[:80]!r}) is read as a sentence; with "
        f"--input_format={input_format} it is {kind}.",
        file=sys.stderr,
    )


def count_lines(path, input_format: Optional[str] = None) -> Optional[int]:
    """Counts the lines of a file without a table's header, for a bar.

    Returns None for other inputs, and without a terminal.
    """
    if path == "-" or not is_terminal() or not Path(path).is_file():
        return None
    lines, last = 0, b"\n"
    with open_bytes(path) as file, checked_gzip(path):
        for block in iter(lambda: file.read(1 << 20), b""):
            lines, last = lines + block.count(b"\n"), block[-1:]
    has_header = (input_format or format_of(path)) in ("tsv", "csv")
    return max(lines + (last != b"\n") - has_header, 0)


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
