"""Recognises tables and JSON lines on standard input, which has no name to tell its format."""

from collections.abc import Sequence
from typing import Callable, Optional

from disan_tf.common.errors import UserError
from disan_tf.serving.inference.records import (
    Columns,
    CommaTableParser,
    JsonParser,
    TableParser,
    TextParser,
)
from disan_tf.text.separators import are_names, separator_hint
from disan_tf.text.tables import CommaTable, Table, parse_json

_HEADER = "a header"


class ColumnParser(TextParser):
    """Parses a sentence a line, in a table of one column whose header was read.

    Args:
      name: the column.
    """

    def __init__(self, fields: Sequence[str], columns: Columns, name: str):
        super().__init__(fields, columns)
        self._name = name

    def __call__(self, line: str, where: str) -> Optional[dict]:
        return {self._name: line}


class HeaderParser(TextParser):
    """Parses lines of text, unless the first line is of another format.

    If the first line names the model's columns, the others are the rows of a table. If it is a JSON
    object with the model's texts, all lines are.

    Args:
      announce: a function called with the first line and what it is, if it is no text.
    """

    def __init__(
        self, fields: Sequence[str], columns: Columns, announce: Callable[[str, str], None]
    ):
        super().__init__(fields, columns)
        self._announce, self._parse = announce, None

    def __call__(self, line: str, where: str) -> Optional[dict]:
        if self._parse is not None:
            return self._parse(line, where)
        self._parse, kind = self._choose(line, where)
        if kind:
            self._announce(line, kind)
        return None if isinstance(self._parse, ColumnParser) else self._parse(line, where)

    def end(self, where):
        if self._parse is not None:
            self._parse.end(where)

    def _choose(self, line: str, where: str) -> tuple[TextParser, str]:
        """Returns the parser for an input with this first line, and the line's kind, "" = text."""
        if self._is_record(line):
            return JsonParser(self._fields, self._columns), "JSON"
        for make_table, make_parser in ((Table, TableParser), (CommaTable, CommaTableParser)):
            try:
                names = make_table(line).columns
            except ValueError:
                continue
            if self._are_header(names):
                if len(names) == 1:
                    return ColumnParser(self._fields, self._columns, names[0]), _HEADER
                return make_parser(self._fields, self._columns), _HEADER
        self._refuse_other_separator(line, where)
        return TextParser(self._fields, self._columns), ""

    def _is_record(self, line: str) -> bool:
        """Returns whether a line is a JSON object with the model's texts."""
        try:
            record = parse_json(line)
        except ValueError:
            return False
        return all(set(self._columns.names(field)) & set(record) for field in self._fields)

    def _are_header(self, names: Sequence[str]) -> bool:
        """Returns whether names are those of columns, the model's texts among them."""
        known = [set(self._columns.texts[field]) & set(names) for field in self._fields]
        return all(known) and are_names(names)

    def _refuse_other_separator(self, line: str, where: str) -> None:
        """Raises UserError for a header with semicolons or bars between the columns."""
        for separator in ";|":
            names = [name.strip(' "') for name in line.split(separator)]
            if len(names) > 1 and self._are_header(names):
                raise UserError(
                    f"{where}: {separator_hint([line], names)}; with --input_format=text the line "
                    "is a sentence."
                )
