"""Lines of a file -> records, for models of one sentence and of two.

A record is a dictionary that holds each sentence of the model as a string, which the tokenizer
splits, or as a list of tokens, looked up as they are, and whatever else its line held:

    one sentence            "text", or "tokens"
    premise, hypothesis     "premise" or "sentence1", or "premise_tokens"; the other likewise
    sentence_a, sentence_b  "sentence_a" or "sentence_A", or "sentence_a_tokens"; the other likewise
"""

import json
import re
from collections.abc import Sequence
from typing import Optional

from disan_tf.errors import UserError

SENTENCE = ("sentence",)  # the fields of a model of one sentence
_TEXTS = {  # field -> names of its text; after our own that of the corpora's files
    "sentence": ("text",),
    "premise": ("premise", "sentence1"),
    "hypothesis": ("hypothesis", "sentence2"),
    "sentence_a": ("sentence_a", "sentence_A"),
    "sentence_b": ("sentence_b", "sentence_B"),
}
# Columns that some rows of the official SNLI and MultiNLI tables end without: few pairs were
# labelled by five people.
_OPTIONAL = re.compile(r"label[1-5]")


def text_name(field: str) -> str:
    """Our name for the text of a field."""
    return _TEXTS[field][0]


def tokens_name(field: str) -> str:
    """The name of a field's list of tokens."""
    return "tokens" if (field,) == SENTENCE else f"{field}_tokens"


def find_text(record: dict, field: str) -> Optional[str]:
    """The text of a field under the first of its names that the record has."""
    return next((record[name] for name in _TEXTS[field] if name in record), None)


class TextParser:
    """A sentence a line; for models of two, both with a tab between them.

    Args:
      fields: of the model.

    Call arguments:
      line: without its end.
      where: file and line, for errors.

    Returns:
      The line's record, or None for a line that is none (a header).
    """

    def __init__(self, fields: Sequence[str]):
        self._fields = fields

    def __call__(self, line: str, where: str) -> Optional[dict]:
        sentences = [line] if len(self._fields) == 1 else line.split("\t")
        if len(sentences) != len(self._fields):
            raise UserError(
                f"{where}: {len(sentences)} columns, not 2; write two sentences with a tab between "
                "them, or use --input_format=tsv for a table with a header."
            )
        return {text_name(field): text for field, text in zip(self._fields, sentences)}


class JsonParser(TextParser):
    """A JSON object a line; a record can be written as JSON again."""

    def __call__(self, line: str, where: str) -> Optional[dict]:
        try:
            record = json.loads(line)
            # NaN, 1e999 and half of a surrogate pair are read, but no JSON file may hold them.
            json.dumps(record, ensure_ascii=False, allow_nan=False).encode("utf-8")
        except json.JSONDecodeError as error:
            reason = f"{error.msg}, column {error.colno}"
        except (ValueError, RecursionError) as error:
            reason = str(error)
        else:
            if not isinstance(record, dict):
                raise UserError(f"{where}: not a JSON object; write one a line.")
            return _check(record, self._fields, where)
        raise UserError(f"{where}: not JSON ({reason}); write one JSON object a line.")


class TableParser(TextParser):
    """Columns with tabs between them, named by the first line; quotes are plain characters."""

    def __init__(self, fields: Sequence[str]):
        super().__init__(fields)
        self._columns = None
        self._required = 0

    def __call__(self, line: str, where: str) -> Optional[dict]:
        values = line.split("\t")
        if self._columns is None:
            self._read_header(values, where)
            return None
        if not self._required <= len(values) <= len(self._columns):
            raise UserError(
                f"{where}: {len(values)} columns, and the header has {len(self._columns)}; "
                "restore the file."
            )
        return _check(dict(zip(self._columns, values)), self._fields, where)

    def _read_header(self, columns, where):
        if len(set(columns)) < len(columns):
            raise UserError(f"{where}: two columns have one name; rename one of them.")
        _check(dict.fromkeys(columns, ""), self._fields, where)
        self._columns = columns
        self._required = len(columns)
        while _OPTIONAL.fullmatch(columns[self._required - 1]):
            self._required -= 1


PARSERS = {"text": TextParser, "jsonl": JsonParser, "tsv": TableParser}


def _check(record: dict, fields, where: str) -> dict:
    """The record, if it has each sentence in a form that can be answered."""
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
