"""Rows of text files: JSON objects, one a line, and tables whose first line names the columns."""

import contextlib
import csv
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Callable, Optional, TypeVar

from disan_tf.common.errors import UserError
from disan_tf.common.options import count, nearest
from disan_tf.text.json_texts import parse_json
from disan_tf.text.text_files import TextLines, format_of, open_texts

T = TypeVar("T")

LONGEST_VALUE = 131_072  # characters, as in `csv`
MAX_COLUMNS = 10_000  # a row of the longest line could have four millions
LONGEST_NAME = 255  # an array pads all names to the longest
MAX_SHOWN = 80  # characters of a file in a message
_ONE_A_ROW = 'each row must be one JSON object (pandas: orient="records", lines=True)'

# The official tables of SNLI and MultiNLI have five columns of annotators' labels, but few pairs
# were labelled by five people.
_ANNOTATOR = re.compile("label[0-9]+")


SEPARATORS = ",\t;|"


class Table:
    """A table: its first line names the `columns`, and other lines hold their values.

    Quotes enclose values that hold separators, quotes or line ends (RFC 4180). Between tabs, quotes
    are plain characters, as in the official corpora, unless the header has some; a value is
    unquoted only where it cannot be plain: it holds doubled quotes, or the row is incomplete
    without it. A column without a name is left out, unless it is the first.

    Columns of annotators (label1, label2, ...) at the end of a header with tabs may be missing at
    the end of a row, and empty values may follow a row. A single plain column takes whole lines.
    `is_open` tells whether the last line ended inside a quoted value. A header with one name twice,
    more than `MAX_COLUMNS`, or a quote that does not end is a ValueError.
    """

    def __init__(self, header: str, separator: str = "\t"):
        self._separator, self.is_open, self._lines = separator, False, []
        self._is_plain = separator == "\t" and '"' not in header
        self._is_single = separator not in header
        values = self._split(header)
        if values is None:
            raise ValueError("the quoted name of a column does not end")
        names = [name.strip() for name in values]
        self._names = [name if name or not place else None for place, name in enumerate(names)]
        self.columns = [name for name in self._names if name is not None]
        if len(names) > MAX_COLUMNS:
            raise ValueError(f"{len(names):,} columns; the limit is {MAX_COLUMNS:,}")
        repeated = [name for name, times in Counter(self.columns).items() if times > 1]
        if repeated:
            raise ValueError(f"two columns have one name, {repeated[0][:MAX_SHOWN]}")
        self._required, self._was_open = len(names), False
        for name in reversed(names):
            if name and not (self._is_plain and _ANNOTATOR.fullmatch(name)):
                break
            self._required -= 1

    def parse(self, line: str) -> Optional[dict[str, str]]:
        """Returns the values by column of the row that a line ends; None inside a quoted value.

        Raises:
          ValueError: too few or too many values, text after a quoted value, or a value of more
            than 131,072 characters, as after a missing quote.
        """
        if self.is_open and self._stays_open(line):
            self._lines.append(line)
            return None
        text = "\n".join([*self._lines, line]) if self.is_open else line
        values, was_open = self._split(text), self._was_open
        if values is not None and '"' in text and self._is_plain:
            values = self._unquote(text, values)
        self.is_open, self._lines = values is None, [text]
        if values is None:
            self._length = len(text if self._is_plain else self._split(text + '"')[-1])
            self._tabs = text.count("\t")
            return None
        if len(values) > len(self._names) and not any(map(str.strip, values[len(self._names) :])):
            del values[len(self._names) :]
        if not self._fits(values):
            present, known = count(len(values), "column"), len(self._names)
            raise ValueError(
                f"{present}, and the header has {known}{_TAB_QUOTES * (was_open or self._was_open)}"
            )
        row = dict(zip(self._names, values))
        row.pop(None, None)
        return row

    def _stays_open(self, line: str) -> bool:
        """Returns whether a row that was open stays open after a line, from that line alone.

        A value over many lines would take quadratic time if each line parsed those before it.
        """
        self._tabs += line.count("\t")
        length = self._length + 1 + len(line)
        if '"' in line and self._is_plain:
            if self._tabs + 1 >= self._required or not _OPEN.search('"' + line):
                return False
        elif '"' in line:
            if self._split('"' + line) is not None:
                return False
            parts = self._split('"' + line + '"')
            length = len(parts[-1]) + (self._length + 1 if len(parts) == 1 else 0)
        self._length = length
        return length < LONGEST_VALUE

    def _fits(self, values: Sequence[str]) -> bool:
        return self._required <= len(values) <= len(self._names)

    def _split(self, text: str) -> Optional[list[str]]:
        """Returns the values between separators; None if the text ends inside a quoted value."""
        if self._is_plain:
            return [text] if self._is_single else text.split("\t")
        try:
            return next(csv.reader([text], strict=True, delimiter=self._separator))
        except csv.Error as error:
            if str(error) == "unexpected end of data":
                return None
            raise ValueError(f"not CSV ({error})") from None

    def _unquote(self, text: str, values: list[str]) -> Optional[list[str]]:
        """Returns the values of a row between tabs, of which some are quoted, see the class.

        Returns None if the text ends inside a quoted value.
        """
        self._was_open = bool(_OPEN.search(text))
        if self._fits(values) and "\n" not in text:
            return [_unquoted(value) if '""' in value else value for value in values]
        quoted, place = [], 0
        while place <= len(text) and (match := _TAB_VALUE.match(text, place)):
            quoted.append(_unquoted(match[0]))
            place = match.end() + 1
        if place > len(text) and self._fits(quoted):
            return quoted
        is_open = self._was_open and len(values) < self._required and len(text) < LONGEST_VALUE
        return None if is_open else values


_QUOTED = re.compile('"((?:[^"]|"")*)"')
_TAB_VALUE = re.compile('(?:"(?:[^"]|"")*"|[^\t\n]*)(?=\t|\\Z)')
_OPEN = re.compile('(?:^|\t)"(?:[^"]|"")*\\Z')
_TAB_QUOTES = " (quotes between tabs may be plain: write texts of several lines to a .csv file)"


def _unquoted(value: str) -> str:
    match = _QUOTED.fullmatch(value)
    return match[1].replace('""', '"') if match else value


class Rows:
    """Parses lines as JSON objects or as the rows of a table, whose first line names the columns.

    If the first line of a table is a JSON object with the wanted columns, all lines are JSON
    objects. The format determines the separator, unless only another one gives the wanted
    columns. The line `sep=;`, with which Excel names a separator, may precede a header.

    Args:
      input_format: "jsonl", "csv", "tsv", or None, which is read as "tsv".
      check: raises ValueError unless a header, or the first JSON object, has the wanted columns.

    `columns` is () before a header and for JSON objects; `has_begun` tells whether one was read.
    """

    def __init__(self, input_format: Optional[str], check: Callable[[Collection[str]], object]):
        self._is_json, self._check, self._table = input_format == "jsonl", check, None
        self._separators = SEPARATORS if input_format == "csv" else "\t" + SEPARATORS
        self.columns, self.has_begun = (), False

    @property
    def is_open(self) -> bool:
        """The state after a line: True inside a quoted value."""
        return self._table is not None and self._table.is_open

    def parse(self, line: str) -> Optional[dict]:
        """Returns the row that a line ends; None for a header and inside of a quoted value."""
        if self._table is not None:
            return self._table.parse(line)
        if self._is_json or self._is_record(line):
            return self._record(line)
        if excel := _EXCEL.fullmatch(line):
            self._separators = excel[1]
        elif line and not line.isspace():
            self._table, self.has_begun = self._find_table(line), True
            self.columns = self._table.columns
            self._check(self.columns)
        return None

    def _is_record(self, line: str) -> bool:
        if line.startswith("{"):
            with contextlib.suppress(ValueError):
                self._check(parse_json(line))
                self._is_json = True
        return self._is_json

    def _record(self, line: str) -> dict:
        try:
            row = parse_json(line)
        except ValueError as error:
            raise ValueError(f"{error}, and {_ONE_A_ROW}") from None
        if not self.has_begun:
            if row and all(isinstance(value, dict) for value in row.values()):
                raise ValueError(f"one JSON object holds several rows, and {_ONE_A_ROW}")
            self._check(row)
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

    JSON objects after the first may lack columns. `line` is the number of the row's last line;
    `encoding` and `flag`: see `TextLines`.
    """
    input_format, number = format_of(path), 0
    rows = Rows(input_format, lambda names: _check_columns(names, columns))
    with open_texts(path) as file:
        lines = TextLines(file.read1, path, input_format, encoding, flag)
        for chunk in lines.chunks():
            for line in chunk:
                number += 1
                text = lines.decode(line, number)
                if (not text or text.isspace()) and not rows.is_open:
                    continue
                try:
                    row = rows.parse(text)
                    if row is None:
                        continue
                    value = convert(row, number)
                except ValueError as error:
                    raise UserError(f"{lines.place(number)}: {error}; {remedy}.") from None
                yield value
    if rows.is_open:
        raise UserError(f"{lines.place(number)}: the file ends inside a quoted value; {remedy}.")


def _check_columns(names: Collection[str], columns: Mapping[str, str]) -> None:
    for name, addition in columns.items():
        if name not in names:
            near = nearest(name, names) if addition else None
            known = addition.format(columns=shorten(", ".join(names)))
            raise ValueError(f"there is no {name}{known}{f' (did you mean {near}?)' * bool(near)}")


def shorten(text: str) -> str:
    """Returns the first 80 characters of a file's text, for a message."""
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]} ..."


def check_string(name: str, value, most: int = LONGEST_VALUE) -> None:
    """Raises ValueError unless a column's value is a string of at most `most` characters."""
    if type(value) is not str:
        hint = f", and {_ONE_A_ROW}" if isinstance(value, (list, dict)) else ""
        raise ValueError(f"{name} is not a string ({json.dumps(value)[:40]}){hint}")
    if len(value) > most:
        raise ValueError(f"{name} has {len(value):,} characters; the limit is {most:,}")


def check_name(column: str, value) -> None:
    """Checks a value that names a row or its kind, see `check_string`."""
    check_string(column, value, LONGEST_NAME)
