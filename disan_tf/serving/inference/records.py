"""Parses lines into records, for models of one sentence and of two.

A record is a dictionary with each sentence of the model, and all other fields of its line. A
sentence is a string, which the tokenizer splits, or a list of tokens, looked up as they are:

    one sentence            "text", or "tokens"
    premise, hypothesis     "premise" or "sentence1", or "premise_tokens"; the other likewise
    sentence_a, sentence_b  "sentence_a" or "sentence_A", or "sentence_a_tokens"; the other likewise
"""

from collections.abc import Sequence
from typing import Optional

from disan_tf.common.errors import UserError
from disan_tf.models.base import prefix_of
from disan_tf.text.tables import CommaTable, Table, parse_json

_TEXTS = {  # field -> names of its text: ours, then the one in the corpora's files
    "sentence": ("text",),
    "premise": ("premise", "sentence1"),
    "hypothesis": ("hypothesis", "sentence2"),
    "sentence_a": ("sentence_a", "sentence_A"),
    "sentence_b": ("sentence_b", "sentence_B"),
}


def text_name(field: str) -> str:
    """Returns our name for the text of a field."""
    return _TEXTS[field][0]


def tokens_name(field: str) -> str:
    """Returns the name of a field's list of tokens."""
    return f"{prefix_of(field)}tokens"


def find_text(record: dict, field: str) -> Optional[str]:
    """Returns a field's text under the first of its names that the record has, or None."""
    return next((record[name] for name in _TEXTS[field] if name in record), None)


class TextParser:
    """Parses a sentence a line; for models of two, both with a tab between them.

    Args:
      fields: the model's sentences.

    Call arguments:
      line: the line without its end.
      where: file and line, for errors.

    Returns:
      The line's record, or None for a line without a record (a header).
    """

    def __init__(self, fields: Sequence[str]):
        self._fields = fields

    def end(self, where: str) -> None:
        """Raises UserError if the input must not end after the line `where`."""

    def __call__(self, line: str, where: str) -> Optional[dict]:
        sentences = [line] if len(self._fields) == 1 else line.split("\t")
        if len(sentences) != len(self._fields):
            raise UserError(
                f"{where}: {len(sentences)} columns, not 2; write two sentences with a tab between "
                "them, or use --input_format=tsv for a table with a header."
            )
        return {text_name(field): text for field, text in zip(self._fields, sentences)}


class JsonParser(TextParser):
    """Parses a JSON object a line."""

    def __call__(self, line: str, where: str) -> Optional[dict]:
        try:
            record = parse_json(line)
        except ValueError as error:
            raise UserError(f"{where}: {error}; write one JSON object a line.") from None
        return check_record(record, self._fields, where)


class TableParser(TextParser):
    """Parses the rows of a table, see `disan_tf.text.tables`."""

    make_table = Table

    def __init__(self, fields: Sequence[str]):
        super().__init__(fields)
        self._table = None

    def __call__(self, line: str, where: str) -> Optional[dict]:
        try:
            if self._table is not None:
                row = self._table.parse(line)
                return None if row is None else check_record(row, self._fields, where)
            self._table = self.make_table(line)
        except ValueError as error:
            raise UserError(f"{where}: {error}; restore or repair the file.") from None
        check_record(dict.fromkeys(self._table.columns, ""), self._fields, where)
        return None

    def end(self, where):
        if self._table is not None and self._table.is_open:
            raise UserError(f"{where}: the input ends inside a quoted value; end it.")


class CommaTableParser(TableParser):
    """Parses the rows of a table with commas between its columns."""

    make_table = CommaTable


PARSERS = {"text": TextParser, "jsonl": JsonParser, "tsv": TableParser, "csv": CommaTableParser}


def check_record(record: dict, fields, where: str) -> dict:
    """Returns the record; raises UserError unless the model can read all its sentences."""
    for field in fields:
        listed, names = tokens_name(field), _TEXTS[field]
        if not {listed, *names} & record.keys():
            known = ", ".join(f'"{name}"' for name in names) + f' or "{listed}"'
            raise UserError(f"{where}: there is no {known}; add one of them.")
        for name in names:
            if not isinstance(record.get(name, ""), str):
                raise UserError(f'{where}: "{name}" is not a string; write it in quotes.')
        tokens = record.get(listed, [])
        if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
            raise UserError(
                f'{where}: "{listed}" is not a list of strings; write one, or "{names[0]}" alone.'
            )
    return record
