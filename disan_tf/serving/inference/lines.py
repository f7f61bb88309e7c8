"""Files of lines: records from an input, chunk by chunk, and a new output as JSON or CSV."""

import contextlib
import csv
import itertools
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Callable, Optional

from disan_tf.common import atomic, files
from disan_tf.common.errors import UserError
from disan_tf.common.progress import is_terminal, progress_bar
from disan_tf.common.tables import csv_rows
from disan_tf.serving.inference.records import SINGLE, Columns, make_parser, recognise
from disan_tf.text.table_files import UNCLOSED
from disan_tf.text.text_files import COMPRESSED, TextLines, check_encoding, format_of, open_texts

_FORMULA = tuple("=+-@\t\r\n＝＋－＠")  # OWASP, "CSV Injection": first characters of a formula
NO_KNOWN_WORD = "no_known_word"  # marks predictions for texts without a word of the vocabulary
TRUNCATED = "truncated"  # marks predictions for texts that were not read to the end


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
        raise UserError(f"{parse.opened_at}: {UNCLOSED}; close the quote.")
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
    with files.open_bytes(path) as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            lines, last = lines + block.count(b"\n"), block[-1:]
    has_header = (input_format or format_of(path)) in ("tsv", "csv")
    return max(lines + (last != b"\n") - has_header, 0)


@contextlib.contextmanager
def open_new(path) -> Iterator[BinaryIO]:
    """Opens a new file, which gets its name if the block ends without an error.

    "-" is standard output; pipes and devices are written to directly.

    Raises:
      UserError: there is such a file, also at the end, its name is that of a compressed file, or
        the path cannot be written.
    """
    if path == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        return
    target = Path(path).resolve()
    if target.exists() and not target.is_file() and not target.is_dir():
        with atomic.open_output(target, path) as file:
            yield file
        return
    if target.suffix.lower() in COMPRESSED:
        raise UserError(f"{path}: outputs are not compressed; use a name without {target.suffix}.")
    _check_absent(target, path)
    atomic.make_parent(target)
    with atomic.open_atomically(target) as file:
        yield file
        _check_absent(target, path)  # another run may have been faster


def _check_absent(target: Path, path) -> None:
    if target.is_dir():
        raise UserError(f"{path} is a directory; name a file for the predictions.")
    if target.exists():
        raise UserError(f"{path} exists already; name another file or delete it.")


def add_prediction(record: dict, prediction: dict) -> dict:
    """Returns a record with a prediction's fields, none of which replaces a field of the record.

    Where the record has a field `label`, the prediction's is `predicted_label`, and so on.
    """
    row = dict(record)
    for name, value in prediction.items():
        while name in row:
            name = f"predicted_{name}"
        row[name] = value
    return row


class JsonLines:
    """Formats a record with its prediction as a JSON object a line.

    `renamed` counts records with a field of the prediction's name, see `add_prediction`.
    """

    renamed = 0

    def check(self, record: dict, where: str) -> None:
        """Raises UserError for a record that the format cannot hold."""

    def line(self, record: dict, prediction: dict) -> bytes:
        """Returns the line of a record and its prediction."""
        self.renamed += not record.keys().isdisjoint(prediction)
        row = add_prediction(record, prediction)
        return json.dumps(row, ensure_ascii=False).encode("utf-8") + b"\n"

    def footer(self, names: Sequence[str]) -> bytes:
        """Returns the bytes after the last line, given the input's columns, see `read_chunks`."""
        return b""


class CsvLines(JsonLines):
    """Formats a record with its prediction as a row of a table; the first record sets the columns.

    `predicted_label` or `predicted_score`, a `probability_<class>` for each class, `no_known_word`
    and `truncated` follow the record's columns, with another `predicted_` before a name that these
    have. They are empty for a blank line; the last two are `true` or empty.

    Args:
      blank: the prediction for a blank line, see `blank_prediction`.
      escape_formulas: whether texts that a spreadsheet would take for formulas get a quote before
        them, and every cell is quoted, as OWASP advises against CSV injection.
      top_k: None, or the number of classes with the columns `class_<rank>` and
        `probability_<rank>`, in place of those above.
    """

    def __init__(self, blank: dict, escape_formulas: bool = False, top_k: Optional[int] = None):
        self._columns: Optional[dict[str, None]] = None
        self._blank, self._escapes, self._top_k = blank, escape_formulas, top_k
        self._has_header = False

    def check(self, record: dict, where: str) -> None:
        if self._columns is None:
            self._columns = dict.fromkeys(record)
        for name in record:
            if name not in self._columns:
                raise UserError(
                    f'{where}: the first record has no "{name}", so the table has no such column; '
                    "name an --output that ends with .jsonl."
                )

    def line(self, record: dict, prediction: dict) -> bytes:
        """Returns the row of a record and its prediction, after the first record's header."""
        named = flatten(prediction, self._top_k)
        row = add_prediction({name: record.get(name) for name in self._columns}, named)
        rows = [row.values()] if self._has_header else [row, row.values()]
        self._has_header = True
        return self._format(rows)

    def footer(self, names: Sequence[str]) -> bytes:
        """Returns the header if no record has been written."""
        if self._has_header:
            return b""
        blank = flatten(self._blank, self._top_k)
        return self._format([add_prediction(dict.fromkeys(names), blank)])

    def _format(self, rows: Iterable[Iterable]) -> bytes:
        quoting = csv.QUOTE_ALL if self._escapes else csv.QUOTE_MINIMAL
        return csv_rows((map(self._cell, cells) for cells in rows), quoting).encode("utf-8")

    def _cell(self, value) -> str:
        if isinstance(value, str):
            return f"'{value}" if self._escapes and value.startswith(_FORMULA) else value
        return "" if value is None else json.dumps(value, ensure_ascii=False)


def blank_prediction(bundle, top_k: Optional[int] = None) -> dict:
    """Returns the prediction of a `Bundle` for a line without a word."""
    return {
        "score" if bundle.model.label_dtype.is_floating else "label": None,
        "probabilities": dict.fromkeys([] if top_k else bundle.classes),
        "blank": True,
    }


def flatten(prediction: dict, top_k: Optional[int] = None) -> dict:
    """Returns the columns of a prediction, see `CsvLines`."""
    probabilities = prediction["probabilities"]
    columns = {
        f"predicted_{name}": prediction[name] for name in ("label", "score") if name in prediction
    }
    if top_k:
        for rank, pair in itertools.zip_longest(range(1, top_k + 1), probabilities.items()):
            columns[f"class_{rank}"], columns[f"probability_{rank}"] = pair or (None, None)
    else:
        columns.update({f"probability_{name}": value for name, value in probabilities.items()})
    return {**columns, **{name: prediction.get(name) for name in (NO_KNOWN_WORD, TRUNCATED)}}


def make_output_format(name: str, bundle, escape_formulas: bool, top_k: Optional[int]) -> JsonLines:
    """Makes the output format of a `Bundle`'s predictions.

    Args:
      name: "jsonl" or "csv".
      bundle: the model.
      escape_formulas: see `CsvLines`.
      top_k: the number of most probable classes to write; None = all, in their order.

    Raises:
      UserError: there is no such format, or it has no formulas to escape.
    """
    if name == "csv":
        count = top_k and min(top_k, len(bundle.classes))
        return CsvLines(blank_prediction(bundle, top_k), escape_formulas, count)
    if name != "jsonl":
        raise UserError(f"There is no output format {name!r}; choose jsonl or csv.")
    if escape_formulas:
        raise UserError(
            "--escape_formulas is for tables; leave --output_format=jsonl out, and name an "
            "--output that ends with .csv."
        )
    return JsonLines()
