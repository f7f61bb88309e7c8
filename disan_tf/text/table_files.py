"""Rows of text files: JSON objects, one a line, and tables whose first line names the columns."""

import contextlib
import json
import re
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Callable, Optional, TypeVar

from disan_tf.common.checks import nearest
from disan_tf.common.errors import UserError
from disan_tf.text.json_texts import parse_json
from disan_tf.text.tables import LONGEST_VALUE, MAX_COLUMNS, MAX_SHOWN, Table
from disan_tf.text.text_files import TextLines, format_of, open_texts

T = TypeVar("T")

LONGEST_NAME = 255  # an array pads all names to the longest
_ONE_A_ROW = 'each row must be one JSON object (pandas: orient="records", lines=True)'

SEPARATORS = ",\t;|"
Check = Callable[[Collection[str]], object]


class Rows:
    """Parses lines as JSON objects or as the rows of a table, whose first line names the columns.

    If the first line of a table is a JSON object, all lines are JSON objects. The format determines
    the separator, unless only another one gives the wanted columns. The line `sep=;`, with which
    Excel names a separator, may precede a header.

    Args:
      input_format: "jsonl", "csv", "tsv", or None, which is read as "tsv".
      check: raises ValueError unless a header has the wanted columns.
      check_record: the same for the first JSON object; None = `check`.

    `columns` is () before a header and for JSON objects; `has_begun` tells whether one was read.
    """

    def __init__(
        self, input_format: Optional[str], check: Check, check_record: Optional[Check] = None
    ):
        self._is_json, self._check, self._table = input_format == "jsonl", check, None
        self._check_record = check_record or check
        self._separators = SEPARATORS if input_format == "csv" else "\t" + SEPARATORS
        self.columns, self.has_begun = (), False

    @property
    def is_open(self) -> bool:
        """The state after a line: True inside a quoted value."""
        return self._table is not None and self._table.is_open

    @property
    def has_opened(self) -> bool:
        """Whether the quoted value that is open begins in the last line."""
        return self._table is not None and self._table.has_opened

    def is_blank(self, line: str) -> bool:
        """Returns whether a line holds no row: white space alone, without a separator of cells."""
        if self.is_open or line.strip():
            return False
        return self._table is None or not self._table.has_cells(line)

    def parse(self, line: str) -> Optional[dict]:
        """Returns the row that a line ends; None for a header and inside of a quoted value.

        Callers skip blank lines first, see `is_blank`.
        """
        if self._table is not None:
            return self._table.parse(line)
        if self._is_json or self._is_record(line):
            return self._record(line)
        if excel := _EXCEL.fullmatch(line):
            self._separators = excel[1]
        else:
            self._table, self.has_begun = self._find_table(line), True
            self.columns = self._table.columns
            self._check(self.columns)
        return None

    def _is_record(self, line: str) -> bool:
        if line.startswith("{"):
            with contextlib.suppress(ValueError):
                self._is_json = bool(parse_json(line))
        return self._is_json

    def _record(self, line: str) -> dict:
        try:
            row = parse_json(line)
        except ValueError as error:
            raise ValueError(f"{error}, and {_ONE_A_ROW}") from None
        if not self.has_begun:
            if row and all(isinstance(value, dict) for value in row.values()):
                raise ValueError(f"one JSON object holds several rows, and {_ONE_A_ROW}")
            self._check_record(row)
            self.has_begun = True
        return row

    def _find_table(self, line: str) -> Table:
        """Returns the table with the wanted columns, or else the table with the most columns."""
        tables = []
        for separator in self._separators:
            with contextlib.suppress(ValueError):
                tables.append(Table(line, separator))
                self._check(tables[-1].columns)
                return tables[-1]
        tables = [Table(line, self._separators[0]), *tables]  # the first one raises its error
        return max(tables, key=lambda table: len(table.columns))


_EXCEL = re.compile('"?sep=(.)"?,*', re.IGNORECASE)


def read_rows(
    path: Path, columns: Mapping[str, str], convert: Callable[[dict], T], remedy: str
) -> Iterator[T]:
    """Yields `convert(row)` for every row of a file, see `Rows`; blank lines are skipped.

    Args:
      path: its name ends with its format, see `format_of`, or it is a table with tabs.
      columns: names that every row must have, with strings as values -> the end of the error if
        one is missing, where "{columns}" stands for the row's names.
      convert: makes a row's value; raises ValueError if the row is wrong.
      remedy: what to do about a missing file or a malformed line, which are UserErrors.
    """

    def convert_strings(row: dict, line: int) -> T:
        _check_columns(row, columns)
        for name in columns:
            check_string(name, row[name])
        return convert(row)

    return read_numbered_rows(path, columns, convert_strings, remedy)


def read_numbered_rows(
    path: Path,
    columns: Mapping[str, str],
    convert: Callable[[dict, int], T],
    remedy: str,
    encoding: str = "utf-8",
    flag: str = "",
) -> Iterator[T]:
    """Yields `convert(row, line)` for every row of a file, see `read_rows`.

    A JSON object may lack columns that another object of the file has. `line` is the number of the
    row's last line; `encoding` and `flag`: see `TextLines`.

    Raises:
      MissingColumn: one of the columns is missing in all rows.
      UserError: the file is missing or a line is malformed.
    """
    input_format, number, opened = format_of(path), 0, 0
    form = path, input_format, encoding, flag
    check_record = partial(_check_records, form, columns)
    rows = Rows(input_format, lambda names: _check_columns(names, columns), check_record)
    with open_texts(path) as file:
        lines = TextLines(file.read1, *form)
        for chunk in lines.chunks():
            for line in chunk:
                number += 1
                text = lines.decode(line, number)
                if rows.is_blank(text):
                    continue
                first = opened if rows.is_open else number
                try:
                    row = rows.parse(text)
                    opened = number if rows.has_opened else first
                    if row is None:
                        continue
                    first, value = number, convert(row, number)
                except _Missing as missing:
                    sentence = f"{lines.place(number)}: {missing}; {remedy}."
                    raise MissingColumn(sentence, missing.name) from None
                except ValueError as error:
                    raise UserError(f"{lines.place(first)}: {error}; {remedy}.") from None
                yield value
    if rows.is_open:
        raise UserError(f"{lines.place(opened)}: {UNCLOSED}; {remedy}.")


UNCLOSED = "the quoted value that begins here does not end"


def _check_records(form: tuple, columns: Mapping[str, str], row: Collection[str]) -> None:
    """Raises ValueError unless each column occurs in a JSON object of the file."""
    names = dict.fromkeys(row)
    with open_texts(form[0]) as file:
        lines = TextLines(file.read1, *form)
        for number, line in enumerate(chain.from_iterable(lines.chunks()), start=1):
            if columns.keys() <= names.keys() or len(names) > MAX_COLUMNS:
                break
            with contextlib.suppress(ValueError):
                names.update(dict.fromkeys(parse_json(lines.decode(line, number))))
    _check_columns(names, columns)


class MissingColumn(UserError):
    """The error for a file without the column `name`."""

    def __init__(self, sentence: str, name: str):
        super().__init__(sentence)
        self.name = name


class _Missing(ValueError):
    def __init__(self, sentence: str, name: str):
        super().__init__(sentence)
        self.name = name


def _check_columns(names: Collection[str], columns: Mapping[str, str]) -> None:
    for name, addition in columns.items():
        if name not in names:
            near = nearest(name, names) if addition else None
            known = addition.format(columns=shorten(", ".join(names)))
            hint = f" (did you mean {near}?)" * bool(near)
            raise _Missing(f"there is no {name}{known}{hint}", name)


def shorten(text: str) -> str:
    """Returns the first 80 characters of a file's text, for a message."""
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]} ..."


def check_string(name: str, value, most: int = LONGEST_VALUE) -> None:
    """Raises ValueError unless a column's value is a string of at most `most` characters."""
    if type(value) is not str:
        hint = f", and {_ONE_A_ROW}" if isinstance(value, (list, dict)) else ""
        if holds_tokens(value):
            hint = "; it holds tokens: join them with spaces, or write the text"
        raise ValueError(f"{name} is not a string ({json.dumps(value)[:40]}){hint}")
    if len(value) > most:
        raise ValueError(f"{name} has {len(value):,} characters; the limit is {most:,}")


def holds_tokens(value) -> bool:
    """Returns whether a value is a list of strings, as tokenizers write it."""
    return isinstance(value, list) and all(isinstance(token, str) for token in value)


def check_name(column: str, value) -> None:
    """Checks a value that names a row or its kind, see `check_string`."""
    check_string(column, value, LONGEST_NAME)
