"""Rows of text files: JSON objects, one a line, and tables whose first line names the columns."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Callable, NoReturn, Optional, TypeVar

from disan_tf.errors import UserError
from disan_tf.files import read_lines

T = TypeVar("T")

# The official tables of SNLI and MultiNLI have five columns of annotators' labels, but few pairs
# were labelled by five people.
_ANNOTATOR = re.compile("label[0-9]+")


def parse_json(line: str) -> dict:
    """The JSON object of a line, in a form that can be written as JSON again.

    Raises:
      ValueError: with what is wrong. Python's parser takes NaN, 1e999 and half of a surrogate pair,
        but no JSON file may hold them.
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
    """Refuses escapes of half a surrogate pair, which is no character and cannot be written."""
    text = json.dumps(row, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        half = f"\\u{ord(text[error.start]):04x}"
        raise ValueError(f"not JSON ({half} is half of a surrogate pair)") from None


class Table:
    """Columns with tabs between them; quotes are plain characters.

    Columns of annotators (label1, label2, ...) at the end of the header may be missing at the end
    of a row.

    Args:
      header: the first line, which names the columns.

    Raises:
      ValueError: two columns have one name.
    """

    def __init__(self, header: str):
        self.columns = header.split("\t")
        if len(set(self.columns)) < len(self.columns):
            raise ValueError("two columns have one name")
        self._required = len(self.columns)
        while self._required and _ANNOTATOR.fullmatch(self.columns[self._required - 1]):
            self._required -= 1

    def parse(self, line: str) -> dict[str, str]:
        """The values of a line by column. Raises ValueError if there are too few or too many."""
        values = line.split("\t")
        if not self._required <= len(values) <= len(self.columns):
            raise ValueError(f"{len(values)} columns, and the header has {len(self.columns)}")
        return dict(zip(self.columns, values))


def read_rows(
    path: Path, columns: Mapping[str, str], convert: Callable[[dict], T], remedy: str
) -> Iterator[T]:
    """Yields `convert(row)` for every row of a file; blank lines are skipped.

    Args:
      path: a `.jsonl` file of JSON objects, or else a table.
      columns: the names that every row must have, with string values -> what the error adds if a
        name is missing.
      convert: raises ValueError with what is wrong with a row.
      remedy: what to do about a damaged file.

    Raises:
      UserError: the file is missing, or a line is malformed (names file and line).
    """
    parse: Optional[Callable] = parse_json if path.suffix == ".jsonl" else None
    for number, line in read_lines(path):
        if not line or line.isspace():
            continue
        try:
            if parse is None:
                table = Table(line)
                _check_columns(table.columns, columns)
                parse = table.parse
                continue
            row = parse(line)
            _check_columns(row, columns)
            for name in columns:
                check_string(name, row[name])
            value = convert(row)
        except ValueError as error:
            raise UserError(f"{path}, line {number}: {error}; {remedy}.") from None
        yield value


def _check_columns(names, columns: Mapping[str, str]) -> None:
    for name, addition in columns.items():
        if name not in names:
            raise ValueError(f"there is no {name}{addition}")


def check_string(name: str, value) -> None:
    """Raises ValueError if the value of a column is no string."""
    if type(value) is not str:
        raise ValueError(f"{name} is not a string ({json.dumps(value)[:40]})")
