"""The rows of a user's own table, which have texts and a label or a score, and their checks."""

import math
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Callable, NamedTuple, Union

from disan_tf.common.checks import count
from disan_tf.common.errors import UserError
from disan_tf.text.labels import MISSING, order_classes, parse_number
from disan_tf.text.table_files import (
    MissingColumn,
    check_name,
    check_string,
    read_numbered_rows,
)
from disan_tf.text.tokenizer_rules import clean_text

AMONG = " among the columns {columns}"
REMEDY = (
    "correct the table, whose first line names the columns, or choose its columns with "
    "--config.data.{text,second_text,label,score}"
)

_FIRST_ROWS = 100  # that show whether columns hold 0 and 1

DROP = "--config.data.on_bad_rows=drop leaves such rows out"
ENCODING = "--config.data.encoding"


class Row(NamedTuple):
    """A row that is kept; `target` is its label or its score."""

    name: str
    texts: tuple[str, ...]
    target: Union[str, float]
    line: int


class Table:
    """Reads a table.

    Args:
      path, split: see `data_prep.corpora.table.read`.
      options: a `TableOptions`.
      classes: the allowed labels; () = any.
      clean: a function that cleans texts and labels, see `clean_text`.

    Attributes:
      rows: the rows that are kept.
      dropped: reason -> the number of rows.

    Raises:
      UserError: see `data_prep.corpora.table.read`.
    """

    def __init__(
        self,
        path: Path,
        split: str,
        options,
        classes: Sequence[str],
        clean: Callable[[str], str] = str,
    ):
        self._path, self._options, self._classes, self._clean = path, options, classes, clean
        self._texts = [name for name in (options.text, options.second_text) if name]
        self._target = options.score or options.label
        self._drop_labels = {clean(name).strip() for name in options.drop_labels.split(",")} - {""}
        self._drop_missing = SUSPECT.intersection(map(_spelling, self._drop_labels))
        names = [*self._texts, self._target, *filter(None, [options.example_id])]
        columns = dict.fromkeys(names, AMONG)
        read = read_numbered_rows(path, columns, self._row, REMEDY, options.encoding, ENCODING)
        self.rows, self.dropped = [], Counter()
        try:
            for number, row in enumerate(read, start=1):
                if isinstance(row, str):
                    self.dropped[row] += 1
                else:
                    self.rows.append(row._replace(name=row.name or f"{split}-{number}"))
        except MissingColumn as error:
            names = error.name == options.label and self._binary_columns()
            raise (
                UserError(_several_labels(path, options.label, names)) if names else error
            ) from None
        if not self.rows:
            if self.dropped:
                raise UserError(
                    f"{path} has no row left; drop fewer rows (drop_labels, on_bad_rows)."
                )
            raise UserError(f"{path} holds no row; the first line of a table names its columns.")

    def _binary_columns(self) -> list[str]:
        """Returns the columns of 0 and 1 in the first rows, if there are two or more."""
        options, names = self._options, {}

        def collect(row: dict, line: int) -> None:
            for name, value in row.items():
                names[name] = names.get(name, True) and str(value).strip() in ("0", "1")

        read = read_numbered_rows(self._path, {}, collect, REMEDY, options.encoding, ENCODING)
        for _ in islice(read, _FIRST_ROWS):
            pass
        found = [
            name for name, is_binary in names.items() if is_binary and name != options.example_id
        ]
        return found if len(found) > 1 else []

    def _row(self, row: dict, line: int) -> Union[Row, str]:
        """Returns a row, or the reason for which it is dropped."""
        reason, problem = self._find_problem(row)
        if reason:
            if self._options.on_bad_rows == "error":
                raise ValueError(f"{problem} ({DROP})")
            return reason
        for name in self._texts:
            check_string(name, row[name])
        if self._options.score:
            value = _score(row, self._options)
        else:
            value = self._label(row[self._target])
            if self._is_dropped(value):
                return f"with the label {value}"
            _check_class(value, self._target, self._classes)
        column = self._options.example_id
        given = row.get(column) if column else None
        name = "" if given is None else str(given)
        check_name(column, name)
        return Row(name, tuple(self._clean(row[text]) for text in self._texts), value, line)

    def _is_dropped(self, label: str) -> bool:
        """Returns whether `drop_labels` names a label; a missing label's mark in any spelling."""
        if label in self._drop_labels:
            return True
        return bool(self._drop_missing) and _spelling(label) in self._drop_missing

    def _label(self, value) -> str:
        if isinstance(value, (dict, list)):
            raise ValueError(f"{self._target} is neither a string nor a number")
        label = self._clean(str(value)).strip()
        check_name(self._target, label)
        return label

    def _find_problem(self, row: dict) -> tuple[str, str]:
        """Returns why a row is bad, as the manifest names it and as an error does, or ("", "")."""
        for name in self._texts:
            text = row.get(name)
            if text is None or (isinstance(text, str) and not self._clean(text).strip()):
                return "without a text", f"{name} is empty"
        target = row.get(self._target)
        target = "" if target is None else self._clean(str(target)).strip()
        if self._options.score and target.casefold() in MISSING:
            return "without a score", f"{self._target} is {target or 'empty'}"
        if not target:
            return "without a label", f"{self._target} is empty"
        if all(row[name] == name for name in (*self._texts, self._target)):
            return "repeating the header", "the header is repeated"
        return "", ""

    def warnings(self) -> list[str]:
        """Describes labels that may be missing or have two spellings, and texts of several labels.

        Also describes labels that `drop_labels` names in another spelling. A table of scores gets
        no warning.
        """
        if self._options.score:
            return []
        counts, lines = Counter(row.target for row in self.rows), {}
        for row in self.rows:
            lines.setdefault(row.target, row.line)

        def place(label: str) -> str:
            return f"{label!r} ({count(counts[label], 'row')}, as in line {lines[label]})"

        labels = order_classes(counts)
        suspects = [name for name in labels if _spelling(name) in SUSPECT]
        warnings = [
            f"{self._path} has the label {place(name)}, which often marks a missing label; "
            f"--config.data.drop_labels={name} drops these rows."
            for name in (suspects if len(labels) > 1 else ())
        ]
        spellings = {}
        for name in labels:
            spellings.setdefault(_spelling(name), []).append(name)
        warnings += [
            f"{self._path} has the labels {' and '.join(map(place, names))}, which are one class "
            "in two spellings; write them alike."
            for names in spellings.values()
            if len(names) > 1
        ]
        warnings += [
            f"{self._path} has no label {name!r}, which drop_labels names, but {place(other)}; add "
            f"{other} to --config.data.drop_labels to drop these rows."
            for name in sorted(self._drop_labels)
            if not self.dropped[f"with the label {name}"]
            for other in spellings.get(_spelling(name), ())
        ]
        first, mixed = {}, {}
        for row in self.rows:
            earlier = first.setdefault(row.texts, row)
            if earlier.target != row.target:
                mixed.setdefault(row.texts, f"lines {earlier.line} and {row.line}")
        if mixed:
            texts = "text" if len(self._texts) == 1 else "pair"
            warnings.append(
                f"{self._path} has {count(len(mixed), texts)} with several labels, as in "
                f"{next(iter(mixed.values()))}; give equal {texts}s one label."
            )
        return warnings


def _several_labels(path: Path, label: str, names: Sequence[str]) -> str:
    shown = ", ".join(names[:5]) + f", and {len(names) - 5:,} more" * (len(names) > 5)
    return (
        f"{path} has no column {label}, but a column of 0 and 1 for each label: {shown}; "
        "name one of them with --config.data.label, or train a classifier of several labels in "
        "Python, disan_tf.TextClassifier.from_preset(preset, classes=[...], multi_label=True)."
    )


def _spelling(label: str) -> str:
    """Returns the normal form of a label: its number, or its text without case."""
    label = unicodedata.normalize("NFKC", clean_text(label)).strip()
    try:
        return str(parse_number(label))
    except ValueError:
        return label.casefold()


# Missing labels, and how HuggingFace and SNLI mark rows without a gold label.
SUSPECT = {*MISSING, "-", _spelling("-1")}


def _check_class(label: str, column: str, classes: Sequence[str]) -> None:
    """Raises ValueError for a label that is not in `classes`, unless these are ()."""
    if classes and label not in classes:
        raise ValueError(
            f"{column} {label[:40]!r} is not one of the {len(classes)} classes, such as "
            f"{classes[0]!r}"
        )


def _score(row: dict, options) -> float:
    """Returns a row's score; raises ValueError if it is no number, or not on the scale."""
    value = row[options.score]
    try:
        score = math.nan if isinstance(value, bool) else parse_number(str(value))
    except ValueError:
        score = math.nan
    if not options.lowest <= score <= options.highest:
        raise ValueError(
            f"{options.score} {str(value)[:40]!r} is not a number between {options.lowest} and "
            f"{options.highest} (--config.data.lowest, highest)"
        )
    return score
