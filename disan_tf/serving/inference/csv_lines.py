"""Predictions as a CSV table: the input's columns, then the prediction's."""

import csv
import io
import json
from typing import Optional

from disan_tf.common.errors import UserError
from disan_tf.serving.inference.submissions import JsonLines


class CsvLines(JsonLines):
    """Formats a record with its prediction as a row of a table; the first record sets the columns.

    `predicted_label` or `predicted_score`, and a `probability_<class>` for each class, follow the
    record's columns. They are empty for a blank line.
    """

    def __init__(self):
        self._columns: Optional[list[str]] = None

    def check(self, record: dict, where: str) -> None:
        """Raises UserError if a record has a field that the first record lacks."""
        if self._columns is None:
            self._columns = list(record)
        for name in record:
            if name not in self._columns:
                raise UserError(
                    f'{where}: the first record has no "{name}", so the table has no such column; '
                    "name an --output that ends with .jsonl."
                )

    def line(self, record: dict, answer: dict) -> bytes:
        """Returns the row of a record and its prediction, after the first record's header."""
        row = {**{name: record.get(name) for name in self._columns}, **flatten(answer)}
        rows = [row.values()] if self._has_header else [row, row.values()]
        self._has_header = True
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([map(_cell, cells) for cells in rows])
        return text.getvalue().encode("utf-8")

    _has_header = False


def flatten(answer: dict) -> dict:
    """Returns the columns of a prediction, see `disan_tf.serving.inference.predict.describe`."""
    named = {f"predicted_{name}": answer[name] for name in ("label", "score") if name in answer}
    probabilities = answer["probabilities"].items()
    return {**named, **{f"probability_{name}": value for name, value in probabilities}}


def _cell(value) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)
