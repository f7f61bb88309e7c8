"""Formats of predictions: JSON lines and CSV."""

import csv
import io
import itertools
import json
from collections.abc import Iterable, Sequence
from typing import Optional

from disan_tf.common.errors import UserError

_FORMULA = tuple("=+-@\t\r\n＝＋－＠")  # OWASP, "CSV Injection": first characters of a formula
NO_KNOWN_WORD = "no_known_word"  # marks predictions for texts without a word of the vocabulary


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

    `renamed` counts records with a field of the prediction's name, see `add_prediction`.
    """

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


def make_output_format(name: str, bundle, escape_formulas: bool, top_k: Optional[int]) -> JsonLines:
    """Makes the output format of a `Bundle`'s predictions.

    Args:
      name: "jsonl" or "csv".
      bundle: see `disan_tf.serving.inference.predict.predict`.
      escape_formulas: see `CsvLines`.
      top_k: the number of most probable classes to write; None = all, in their order.

    Raises:
      UserError: there is no such format, or it has no formulas to escape.
    """
    if name == "csv":
        count = top_k and min(top_k, len(bundle.classes))
        return CsvLines(blank_prediction(bundle, top_k), escape_formulas, count)
    if name != "jsonl":
        raise UserError(f"There is no output format {name!r}; choose jsonl or csv.")
    if escape_formulas:
        raise UserError(
            "--escape_formulas is for tables; leave --output_format=jsonl out, and name an "
            "--output that ends with .csv."
        )
    return JsonLines()
