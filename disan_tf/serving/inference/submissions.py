"""Formats of predictions: JSON lines, or a file for one of MultiNLI's leaderboards."""

import json
import re
from pathlib import Path
from typing import Union

from disan_tf.common.errors import UserError

CLASSES = {"contradiction", "neutral", "entailment"}  # as all of these leaderboards spell them
MATCHED, MISMATCHED, DIAGNOSTIC = 9_796, 9_847, 1_104  # pairs of the official test sets
RESTORE = "restore the official file"


class JsonLines:
    """Formats a record with its prediction as a JSON object a line."""

    header = b""

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


def make_output_format(name: str, bundle, input_path, output_path) -> Union[JsonLines, Submission]:
    """Makes the output format of a `Bundle`'s predictions.

    Args:
      name: "jsonl" or a key of `SUBMISSIONS`.
      bundle, input_path, output_path: see `disan_tf.serving.inference.predict.predict`.

    Raises:
      UserError: there is no such format, or the model has other classes, or a submission would go
        to standard output, where its rows could not be counted first.
    """
    if name == "jsonl":
        return JsonLines()
    if name not in SUBMISSIONS:
        known = ", ".join(SUBMISSIONS)
        raise UserError(f"There is no output format {name!r}; choose jsonl or one of {known}.")
    if set(bundle.classes) != CLASSES:
        raise UserError(
            f"{bundle.directory} tells {', '.join(bundle.classes)} apart, and "
            f"--output_format={name} is for {', '.join(sorted(CLASSES))}; use jsonl or a model of "
            "language inference."
        )
    if output_path == "-":
        raise UserError(f"--output_format={name} needs --output: its rows are counted first.")
    return SUBMISSIONS[name](input_path, output_path)
