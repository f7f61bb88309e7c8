"""A table: the values of its rows by column, with quotes and separators as programs write them."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from typing import Optional

from disan_tf.common.checks import count

LONGEST_VALUE = 131_072  # characters, as in `csv`
MAX_COLUMNS = 10_000  # the longest line could have four million columns
MAX_SHOWN = 80  # characters of a file in a message

# The official tables of SNLI and MultiNLI have five columns of annotators' labels, but few pairs
# were labelled by five people.
_ANNOTATOR = re.compile("label[0-9]+")


class Table:
    """A table: its first line names the `columns`, and other lines hold their values.

    Quotes enclose values that hold separators, quotes or line ends (RFC 4180). Between tabs, quotes
    are plain characters, as in the official corpora, unless the header has some; a value is
    unquoted only where it cannot be plain: it holds doubled quotes, or the row is incomplete
    without it. A column without a name is left out, unless it is the first.

    Columns of annotators (label1, label2, ...) at the end of a header with tabs may be missing at
    the end of a row, and empty values may follow a row. A single plain column takes whole lines.
    `is_open` tells whether the last line ended inside a quoted value, and `has_opened` whether that
    value begins in the last line. A header with one name twice, more than `MAX_COLUMNS`, or a quote
    that does not end is a ValueError.
    """

    def __init__(self, header: str, separator: str = "\t"):
        self._separator, self._lines = separator, []
        self.is_open = self.has_opened = False
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

    def has_cells(self, line: str) -> bool:
        """Returns whether a line outside of quotes has several values."""
        return self._separator in line and not self._is_single

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
        self.has_opened = values is None and not self.is_open
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
        length, self.has_opened = self._length + 1 + len(line), False
        if '"' in line and self._is_plain:
            opening = _OPEN.search('"' + line)
            if self._tabs + 1 >= self._required or not opening:
                return False
            self.has_opened = opening.start() > 0
        elif '"' in line:
            if self._split('"' + line) is not None:
                return False
            parts = self._split('"' + line + '"')
            self.has_opened = len(parts) > 1
            length = len(parts[-1]) + (0 if self.has_opened else self._length + 1)
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
            lines = [text, *self._lines] if self.is_open else [text]
            hint = _BACKSLASH if any('\\"' in line for line in lines) else ""
            reason = _RETURN if "\r" in text and str(error).startswith("new-line") else error
            raise ValueError(f"not CSV ({reason}{hint})") from None

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


_BACKSLASH = '; a quote inside a quoted value must be doubled, "", and is written \\" here'
_RETURN = "a carriage return outside of quotes, although lines end with newlines"
_QUOTED = re.compile('"((?:[^"]|"")*)"')
_TAB_VALUE = re.compile('(?:"(?:[^"]|"")*"|[^\t\n]*)(?=\t|\\Z)')
_OPEN = re.compile('(?:^|\t)"(?:[^"]|"")*\\Z')
_TAB_QUOTES = " (quotes between tabs may be plain: write texts of several lines to a .csv file)"


def _unquoted(value: str) -> str:
    match = _QUOTED.fullmatch(value)
    return match[1].replace('""', '"') if match else value
