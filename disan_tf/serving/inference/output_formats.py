"""Formats of predictions: JSON lines, CSV, or a file for one of MultiNLI's leaderboards."""

import csv
import io
import itertools
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Optional

from disan_tf.common.errors import UserError

CLASSES = {"contradiction", "neutral", "entailment"}  # as all of these leaderboards spell them
MATCHED, MISMATCHED, DIAGNOSTIC = 9_796, 9_847, 1_104  # pairs of the official test sets
_FORMULA = tuple("=+-@\t\r\n＝＋－＠")  # OWASP, "CSV Injection": first characters of a formula
NO_KNOWN_WORD = "no_known_word"  # marks predictions for texts without a word of the vocabulary
RESTORE = "restore the official file"


def add_prediction(record: dict, prediction: dict) -> dict:
    """Returns a record with a prediction's fields, none of which replaces a field of the record.

    Where the record has a field `label`, the prediction's is `predicted_label`, and so on.
    """
    row = dict(record)
    for name, value in prediction.items():
        while name in row:
            name = f"predicted_{name}"
        row[name] = value
    return row


class JsonLines:
    """Formats a record with its prediction as a JSON object a line.

    It has a `header` before the first line. `marks_blank` says whether blank lines get no label,
    and `renamed` counts records with a field of the prediction's name, see `add_prediction`.
    """

    header = b""
    marks_blank = True
    renamed = 0

    def check(self, record: dict, where: str) -> None:
        """Raises UserError for a record that the format cannot hold."""

    def line(self, record: dict, prediction: dict) -> bytes:
        """Returns the line of a record and its prediction."""
        self.renamed += not record.keys().isdisjoint(prediction)
        row = add_prediction(record, prediction)
        return json.dumps(row, ensure_ascii=False).encode("utf-8") + b"\n"

    def footer(self, names: Sequence[str]) -> bytes:
        """Returns the bytes after the last line, given the input's columns, see `read_chunks`."""
        return b""

    def finish(self, rows: int, lines: int) -> None:
        """Raises RuntimeError unless there is a line for each of the input's rows."""
        if lines != rows:
            raise RuntimeError(f"{lines} predictions for {rows} rows")


class CsvLines(JsonLines):
    """Formats a record with its prediction as a row of a table; the first record sets the columns.

    `predicted_label` or `predicted_score`, a `probability_<class>` for each class, and
    `no_known_word` follow the record's columns, with another `predicted_` before a name that these
    have. They are empty for a blank line; the last is `true` or empty.

    Args:
      blank: the prediction for a blank line, see `blank_prediction`.
      escape_formulas: whether texts that a spreadsheet would take for formulas get a quote before
        them, and every cell is quoted, as OWASP advises against CSV injection.
      top_k: None, or the number of classes with the columns `class_<rank>` and
        `probability_<rank>`, in place of those above.
    """

    def __init__(self, blank: dict, escape_formulas: bool = False, top_k: Optional[int] = None):
        self._columns: Optional[dict[str, None]] = None
        self._blank, self._escapes, self._top_k = blank, escape_formulas, top_k
        self._has_header = False

    def check(self, record: dict, where: str) -> None:
        if self._columns is None:
            self._columns = dict.fromkeys(record)
        for name in record:
            if name not in self._columns:
                raise UserError(
                    f'{where}: the first record has no "{name}", so the table has no such column; '
                    "name an --output that ends with .jsonl."
                )

    def line(self, record: dict, prediction: dict) -> bytes:
        """Returns the row of a record and its prediction, after the first record's header."""
        named = flatten(prediction, self._top_k)
        row = add_prediction({name: record.get(name) for name in self._columns}, named)
        rows = [row.values()] if self._has_header else [row, row.values()]
        self._has_header = True
        return self._format(rows)

    def footer(self, names: Sequence[str]) -> bytes:
        """Returns the header if no record has been written."""
        if self._has_header:
            return b""
        blank = flatten(self._blank, self._top_k)
        return self._format([add_prediction(dict.fromkeys(names), blank)])

    def _format(self, rows: Iterable[Iterable]) -> bytes:
        text = io.StringIO()
        quoting = csv.QUOTE_ALL if self._escapes else csv.QUOTE_MINIMAL
        writer = csv.writer(text, lineterminator="\n", quoting=quoting)
        writer.writerows([map(self._cell, cells) for cells in rows])
        return text.getvalue().encode("utf-8")

    def _cell(self, value) -> str:
        if isinstance(value, str):
            return f"'{value}" if self._escapes and value.startswith(_FORMULA) else value
        return "" if value is None else json.dumps(value, ensure_ascii=False)


def blank_prediction(bundle, top_k: Optional[int] = None) -> dict:
    """Returns the prediction of a `Bundle` for a line without a word."""
    return {
        "score" if bundle.model.label_dtype.is_floating else "label": None,
        "probabilities": dict.fromkeys([] if top_k else bundle.classes),
        "blank": True,
    }


def flatten(prediction: dict, top_k: Optional[int] = None) -> dict:
    """Returns the columns of a prediction, see `CsvLines`."""
    probabilities = prediction["probabilities"]
    columns = {
        f"predicted_{name}": prediction[name] for name in ("label", "score") if name in prediction
    }
    if top_k:
        for rank, pair in itertools.zip_longest(range(1, top_k + 1), probabilities.items()):
            columns[f"class_{rank}"], columns[f"probability_{rank}"] = pair or (None, None)
    else:
        columns.update({f"probability_{name}": value for name, value in probabilities.items()})
    return {**columns, NO_KNOWN_WORD: prediction.get(NO_KNOWN_WORD)}


class Submission(JsonLines):
    """A table with the name and the label of each row, for a leaderboard.

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
        first = self._seen.setdefault(str(value), where)
        if first != where:
            raise UserError(f"{where}: duplicate {key} {value}, first seen in {first}; {RESTORE}.")

    def line(self, record: dict, prediction: dict) -> bytes:
        return f"{record[self.columns[0]]}{self.separator}{prediction['label']}\n".encode()

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


def make_output_format(
    name: str,
    bundle,
    input_path,
    output_path,
    escape_formulas: bool = False,
    top_k: Optional[int] = None,
) -> JsonLines:
    """Makes the output format of a `Bundle`'s predictions.

    Args:
      name: "jsonl", "csv" or a key of `SUBMISSIONS`.
      bundle, input_path, output_path: see `disan_tf.serving.inference.predict.predict`.
      escape_formulas: see `CsvLines`.
      top_k: the number of most probable classes to write; None = all, in their order.

    Raises:
      UserError: there is no such format, or it does not fit the options, the model's classes, or
        standard output, where the rows of a submission could not be counted first.
    """
    if name == "csv":
        count = top_k and min(top_k, len(bundle.classes))
        return CsvLines(blank_prediction(bundle, top_k), escape_formulas, count)
    if escape_formulas:
        raise UserError(
            f"--escape_formulas is for tables; leave --output_format={name} out, and name an "
            "--output that ends with .csv."
        )
    if name == "jsonl":
        return JsonLines()
    if top_k:
        raise UserError(f"--top_k is for JSON lines and CSV; leave --output_format={name} out.")
    if name not in SUBMISSIONS:
        known = ", ".join(SUBMISSIONS)
        raise UserError(f"There is no output format {name!r}; choose jsonl, csv or one of {known}.")
    if set(bundle.classes) != CLASSES:
        raise UserError(
            f"{bundle.directory} predicts {', '.join(bundle.classes)}, but --output_format={name} "
            f"needs {', '.join(sorted(CLASSES))}; use jsonl or a model of language inference."
        )
    if output_path == "-":
        raise UserError(f"--output_format={name} needs --output: its rows are counted first.")
    return SUBMISSIONS[name](input_path, output_path)
