"""Rows of text files: JSON objects, one a line, and tables whose first line names the columns."""

import csv
import json
import math
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Callable, NoReturn, Optional, TypeVar

from disan_tf.common.errors import UserError
from disan_tf.common.files import read_lines
from disan_tf.common.options import count
from disan_tf.text.separators import separator_hint

T = TypeVar("T")

LONGEST_VALUE = 131_072  # characters, as in `csv`
LONGEST_NAME = 255  # an array pads all names to the longest

# The official tables of SNLI and MultiNLI have five columns of annotators' labels, but few pairs
# were labelled by five people.
_ANNOTATOR = re.compile("label[0-9]+")


def parse_json(line: str) -> dict:
    """Parses a line as a JSON object that can be written as JSON again.

    Raises:
      ValueError: the line is not such an object. NaN, 1e999 and half of a surrogate pair are
        rejected, which Python's parser accepts and no JSON file may hold.
    """
    try:
        row = _DECODER.decode(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON ({error.msg}, column {error.colno})") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON ({error})") from None
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    if "\\u" in line:
        _check_unicode(row)
    return row


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse)


def _check_unicode(row: dict) -> None:
    """Rejects escapes of half a surrogate pair, which is no character and cannot be written."""
    text = json.dumps(row, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        half = f"\\u{ord(text[error.start]):04x}"
        raise ValueError(f"not JSON ({half} is half of a surrogate pair)") from None


class Table:
    """A table with tabs between columns; quotes are plain characters.

    Columns of annotators (label1, label2, ...) at the end of the header may be missing at the end
    of a row.

    Args:
      header: the first line, which names the columns.

    Raises:
      ValueError: two columns have one name.
    """

    is_open = False  # no row continues in the next line

    def __init__(self, header: str):
        self.columns = _check_names(header.split("\t"))
        self._required = len(self.columns)
        while self._required and _ANNOTATOR.fullmatch(self.columns[self._required - 1]):
            self._required -= 1

    def parse(self, line: str) -> dict[str, str]:
        """Returns a line's values by column; raises ValueError for too few or too many."""
        values = line.split("\t")
        if not self._required <= len(values) <= len(self.columns):
            raise ValueError(
                f"{count(len(values), 'column')}, and the header has {len(self.columns)}"
            )
        return dict(zip(self.columns, values))


class CommaTable:
    """A table with commas between columns (RFC 4180); quotes enclose commas, quotes and lines.

    Args:
      header: the first line, which names the columns.

    Attributes:
      columns: the names of the columns.
      is_open: whether the last line ended inside a quoted value.

    Raises:
      ValueError: two columns have one name, or the line has a quote that does not end.
    """

    def __init__(self, header: str):
        self.is_open, self._text = False, ""
        self.columns = self._values(header)
        if self.is_open:
            raise ValueError("the quoted name of a column does not end")
        _check_names(self.columns)

    def parse(self, line: str) -> Optional[dict[str, str]]:
        """Returns the values by column of the row that a line ends; None inside a quoted value.

        Raises:
          ValueError: too few or too many values, text after a quoted value, or a value of more
            than 131,072 characters, as after a missing quote.
        """
        values = self._values(line)
        if values is None:
            return None
        if len(values) != len(self.columns):
            raise ValueError(
                f"{count(len(values), 'column')}, and the header has {len(self.columns)}"
            )
        return dict(zip(self.columns, values))

    def _values(self, line: str) -> Optional[list[str]]:
        self._text = f"{self._text}\n{line}" if self.is_open else line
        if self.is_open and '"' not in line and len(self._text) < csv.field_size_limit():
            return None
        try:
            values = next(csv.reader([self._text], strict=True))
        except csv.Error as error:
            self.is_open = str(error) == "unexpected end of data"
            if self.is_open:
                return None
            raise ValueError(f"not CSV ({error})") from None
        self.is_open = False
        return values


_TABLES = {".csv": CommaTable}  # by the suffix of the file; others have tabs


def _check_names(columns: list[str]) -> list[str]:
    if len(set(columns)) < len(columns):
        raise ValueError("two columns have one name")
    return columns


def read_rows(
    path: Path,
    columns: Mapping[str, str],
    convert: Callable[[dict], T],
    remedy: str,
    strings: Optional[Collection[str]] = None,
) -> Iterator[T]:
    """Yields `convert(row)` for every row of a file; blank lines are skipped.

    Args:
      path: a `.jsonl` file of JSON objects, a `.csv` file, or else a table with tabs.
      columns: names that every row must have -> the end of the error if one is missing, where
        "{columns}" stands for the row's names.
      convert: makes a row's value; raises ValueError if the row is wrong.
      remedy: what to do about a damaged file.
      strings: the columns whose values must be strings; None = all.

    Raises:
      UserError: the file is missing, or a line is malformed (names file and line).
    """
    parse: Optional[Callable] = parse_json if path.suffix == ".jsonl" else None
    table, number = Table(""), 0
    for number, line in read_lines(path):
        if (not line or line.isspace()) and not table.is_open:
            continue
        try:
            if parse is None:
                table = _TABLES.get(path.suffix, Table)(line)
                if not set(columns) <= set(table.columns):
                    remedy = separator_hint(table.columns, columns) or remedy
                _check_columns(table.columns, columns)
                parse = table.parse
                continue
            row = parse(line)
            if row is None:
                continue
            _check_columns(row, columns)
            for name in columns if strings is None else strings:
                check_string(name, row[name])
            value = convert(row)
        except ValueError as error:
            raise UserError(f"{path}, line {number}: {error}; {remedy}.") from None
        yield value
    if table.is_open:
        raise UserError(f"{path}, line {number}: the file ends inside a quoted value; {remedy}.")


def _check_columns(names: Collection[str], columns: Mapping[str, str]) -> None:
    for name, addition in columns.items():
        if name not in names:
            raise ValueError(f"there is no {name}{addition.format(columns=', '.join(names))}")


def check_string(name: str, value, most: int = LONGEST_VALUE) -> None:
    """Raises ValueError unless a column's value is a string of at most `most` characters."""
    if type(value) is not str:
        raise ValueError(f"{name} is not a string ({json.dumps(value)[:40]})")
    if len(value) > most:
        raise ValueError(f"{name} has {len(value):,} characters and may have {most:,}")


def check_name(column: str, value) -> None:
    """Checks a value that names a row or its kind, see `check_string`."""
    check_string(column, value, LONGEST_NAME)
