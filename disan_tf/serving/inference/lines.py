"""Files of lines: records and their tokens from an input, chunk by chunk, and a new output."""

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Callable, Optional

from disan_tf.common import files
from disan_tf.common.errors import UserError
from disan_tf.common.progress import is_terminal, progress_bar
from disan_tf.serving.inference.records import SINGLE, Columns, make_parser, recognise
from disan_tf.text.text_files import TextLines, check_encoding, format_of, open_texts


def read_chunks(
    path,
    input_format: Optional[str] = None,
    columns: Columns = SINGLE,
    encoding: str = "utf-8",
    check: Callable[[dict, str], None] = lambda record, where: None,
    end: Callable[[Sequence[str]], None] = lambda names: None,
) -> Iterator[list[dict]]:
    """Yields the records of all lines, in order, in chunks.

    A chunk comes from one read of at most `disan_tf.text.text_files.CHUNK_BYTES`: memory is
    bounded, and a program that writes lines into a pipe and waits for their predictions gets them.

    Args:
      path: a file, or "-" for standard input, see `TextLines`. An empty line is a line.
      input_format: one of `disan_tf.text.text_files.FORMATS`; None = by the name's ending, else
        "text"; on standard input by the first line.
      columns: the names under which a record holds the model's sentences.
      encoding: the encoding of an input without a byte order mark.
      check: a function called with each record, and its file and line.
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
    parse, is_known = make_parser(input_format or "text", columns), input_format is not None
    input_format = input_format or (None if is_stream else "text")
    with open_texts(path) as file:
        lines = TextLines(file.read1, name, input_format, encoding, "--input_encoding")
        for chunk in lines.chunks():
            records = []
            for line in chunk:
                number += 1
                line, where = lines.decode(line, number), lines.place(number)
                if number == 1 and not is_known and (found := recognise(line, columns)):
                    _announce(name, is_stream, line, *found)
                    parse = make_parser(found[1], columns) if is_stream else parse
                record = parse(line, where)
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


def _announce(name, is_followed: bool, line: str, kind: str, input_format: str) -> None:
    """Says on standard error how a first line is read, and with which flag it is read otherwise."""
    place = f"{name}: line 1 ({line[:80]!r}) is read as"
    if is_followed:
        text = f"{place} {kind}; with --input_format=text it is a sentence."
    else:
        text = f"warning: {place} a sentence; with --input_format={input_format} it is {kind}."
    print(text, file=sys.stderr)


def lines_bar(title: str, input_path, input_format: Optional[str], output_path=None):
    """Returns a bar over the input's lines, unless the terminal is the input or the output."""
    streams = [(input_path, sys.stdin), (output_path, sys.stdout)]
    is_shown = is_terminal() and all(path != "-" or not it.isatty() for path, it in streams)
    return progress_bar(title, "lines", count_lines(input_path, input_format), is_shown)


def count_lines(path, input_format: Optional[str] = None) -> Optional[int]:
    """Counts the lines of a file without a table's header, for a bar.

    Returns None for other inputs, and without a terminal.
    """
    if path == "-" or not is_terminal() or not Path(path).is_file():
        return None
    lines, last = 0, b"\n"
    with files.open_bytes(path) as file, files.checked_gzip(path):
        for block in iter(lambda: file.read(1 << 20), b""):
            lines, last = lines + block.count(b"\n"), block[-1:]
    has_header = (input_format or format_of(path)) in ("tsv", "csv")
    return max(lines + (last != b"\n") - has_header, 0)


@contextlib.contextmanager
def open_new(path) -> Iterator[BinaryIO]:
    """Opens a new file, which gets its name if the block ends without an error.

    "-" is standard output; pipes and devices are written to directly.

    Raises:
      UserError: there is such a file, also at the end, or the path cannot be written.
    """
    if path == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        return
    target = Path(path).resolve()
    if target.exists() and not target.is_file() and not target.is_dir():
        with files.open_output(target, path) as file:
            yield file
        return
    _check_absent(target, path)
    files.make_parent(target)
    with files.open_atomically(target) as file:
        yield file
        _check_absent(target, path)  # another run may have been faster


def _check_absent(target: Path, path) -> None:
    if target.is_dir():
        raise UserError(f"{path} is a directory; name a file for the predictions.")
    if target.exists():
        raise UserError(f"{path} exists already; name another file or delete it.")
