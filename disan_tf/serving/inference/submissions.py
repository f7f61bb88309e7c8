"""Formats of predictions: JSON lines, or a file for one of MultiNLI's leaderboards."""

import json
import re
from pathlib import Path

from disan_tf.common.errors import UserError

CLASSES = {"contradiction", "neutral", "entailment"}  # as all of these leaderboards spell them
MATCHED, MISMATCHED, DIAGNOSTIC = 9_796, 9_847, 1_104  # pairs of the official test sets
RESTORE = "restore the official file"


class JsonLines:
    """Formats a record with its prediction as a JSON object a line.

    Attributes:
      header: the bytes before the first line.
      marks_blank: whether blank lines are marked, and get no label.
    """

    header = b""
    marks_blank = True

    def check(self, record: dict, where: str) -> None:
        """Accepts any record."""

    def line(self, record: dict, answer: dict) -> bytes:
        """Returns the line of a record and its prediction."""
        return json.dumps({**record, **answer}, ensure_ascii=False).encode("utf-8") + b"\n"

    def finish(self, rows: int, lines: int) -> None:
        """Raises RuntimeError unless there is a line for each of the input's rows."""
        if lines != rows:
            raise RuntimeError(f"{lines} predictions for {rows} rows")


class Submission(JsonLines):
    """A table with the name and the label of each row.

    Args:
      input_path, output_path: see `disan_tf.serving.inference.predict.predict`.

    Subclasses define the `columns` (the first is a field of the records too), the `separator`, and
    the official `sizes` in rows, by the name of the input or the output.
    """

    marks_blank = False  # a leaderboard wants a label for each row
    columns: tuple[str, str]
    separator: str
    sizes: dict[str, int]

    def __init__(self, input_path, output_path):
        self._names = [Path(path).name for path in (input_path, output_path)]
        self._seen = {}  # a row's name -> where it stands
        self.header = f"{self.separator.join(self.columns)}\n".encode()

    def check(self, record: dict, where: str) -> None:
        """Raises UserError if a row has no name, or another row's name."""
        key = self.columns[0]
        value = record.get(key)
        if type(value) not in (str, int) or not re.fullmatch(r'[^\s,"]+', str(value)):
            raise UserError(f'{where}: there is no "{key}" that names the row; {RESTORE}.')
        if str(value) in self._seen:
            raise UserError(
                f"{where}: {key} {value} is that of {self._seen[str(value)]} too; {RESTORE}."
            )
        self._seen[str(value)] = where

    def line(self, record: dict, answer: dict) -> bytes:
        """Returns the line of a record and its prediction."""
        return f"{record[self.columns[0]]}{self.separator}{answer['label']}\n".encode()

    def finish(self, rows: int, lines: int) -> None:
        """Raises UserError unless there are as many rows as in the official test set."""
        super().finish(rows, lines)
        for name in self._names:
            if self.sizes.get(name, rows) != rows:
                raise UserError(
                    f"{self._names[0]} has {rows:,} rows, and the official test set of {name} has "
                    f"{self.sizes[name]:,}; {RESTORE}."
                )


class Kaggle(Submission):
    """A table for MultiNLI's Kaggle competitions, from its files with a pairID."""

    columns = ("pairID", "gold_label")
    separator = ","
    sizes = {
        f"multinli_0.9_test_{part}_unlabeled.{ending}": rows
        for part, rows in (("matched", MATCHED), ("mismatched", MISMATCHED))
        for ending in ("jsonl", "txt")
    }


class Glue(Submission):
    """A table for GLUE, from its tables with an index."""

    columns = ("index", "prediction")
    separator = "\t"
    sizes = {"MNLI-m.tsv": MATCHED, "MNLI-mm.tsv": MISMATCHED, "AX.tsv": DIAGNOSTIC}


SUBMISSIONS = {"kaggle": Kaggle, "glue": Glue}
