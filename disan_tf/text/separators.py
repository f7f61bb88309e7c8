"""Hints at tables whose columns are separated by another character than their name says."""

import re
from collections.abc import Collection
from typing import Optional

_NAMES = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars"}
_REMEDIES = {
    ",": "give the file a name that ends with .csv",
    "\t": "give the file a name that ends with .tsv",
    ";": "save it with commas and a name that ends with .csv",
    "|": "save it with commas and a name that ends with .csv",
}
_NAME = re.compile(r"\w[\w.-]*( [\w.-]+){0,2}")  # a column's name, rather than a sentence


def separator_hint(columns: Collection[str], wanted: Collection[str] = ()) -> str:
    """Returns a sentence's end about the likely separator of a header, or "".

    Args:
      columns: the columns of the header, as they were parsed; other characters than the assumed
        separator may divide them further.
      wanted: names that the reader looked for; the separator that makes one of them is right.
    """
    found = _likely_separator(columns, wanted)
    if found is None:
        return ""
    return f"its columns seem to be separated by {_NAMES[found]}: {_REMEDIES[found]}"


def _likely_separator(columns, wanted) -> Optional[str]:
    for separator in _NAMES:
        parts = {part.strip(' "') for column in columns for part in column.split(separator)}
        if len(parts) > len(columns) and parts & set(wanted):
            return separator
    if len(columns) > 1:
        return None
    counts = {separator: column.count(separator) for column in columns for separator in _NAMES}
    best = max(counts, key=counts.get, default=None)
    return best if best and counts[best] else None


def are_names(columns: Collection[str]) -> bool:
    """Returns whether all texts look like names of columns, and not like parts of a sentence."""
    return all(_NAME.fullmatch(column) for column in columns)
