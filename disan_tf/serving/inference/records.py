"""Parses lines into records, for models of one sentence and of two.

A record is a dictionary with each sentence of the model, and all other fields of its line. A
sentence is a string, which the tokenizer splits, or a list of tokens, looked up as they are:

    one sentence            "text", or "tokens"
    premise, hypothesis     "premise" or "sentence1", or "premise_tokens"; the other likewise
    sentence_a, sentence_b  "sentence_a" or "sentence_A", or "sentence_a_tokens"; the other likewise
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Optional

from disan_tf.common.errors import UserError
from disan_tf.common.options import count, join_choices
from disan_tf.models.base import prefix_of
from disan_tf.text.separators import separator_hint
from disan_tf.text.tables import CommaTable, Table, parse_json

_TEXTS = {  # field -> names of its text: ours, then the one in the corpora's files
    "sentence": ("text",),
    "premise": ("premise", "sentence1"),
    "hypothesis": ("hypothesis", "sentence2"),
    "sentence_a": ("sentence_a", "sentence_A"),
    "sentence_b": ("sentence_b", "sentence_B"),
}


class Columns(NamedTuple):
    """The names under which records hold their sentences.

    Attributes:
      texts: field -> names of its text; the first that a record has counts.
      are_chosen: whether the user named the columns; then lists of tokens are not read.
    """

    texts: Mapping[str, Sequence[str]] = _TEXTS
    are_chosen: bool = False

    def find_tokens(self, record: dict, field: str) -> Optional[list]:
        """Returns a field's list of tokens, or None."""
        return None if self.are_chosen else record.get(tokens_name(field))

    def find_text(self, record: dict, field: str) -> Optional[str]:
        """Returns a field's text under the first of its names that the record has, or None."""
        return next((record[name] for name in self.texts[field] if name in record), None)

    def names(self, field: str) -> list[str]:
        """Returns all names under which a record may hold a field."""
        return [*self.texts[field], *([] if self.are_chosen else [tokens_name(field)])]


DEFAULT = Columns()


def columns_of(config, fields: Sequence[str], chosen: Sequence[str] = ()) -> Columns:
    """Returns the columns of a model's input: the chosen ones, or those that it was trained on.

    Without the trained columns, a record may have our usual names.

    Args:
      config: the model's config.
      fields: the sentences that are read.
      chosen: the user's names, in the order of the fields; none = the model's.

    Raises:
      UserError: there are more or fewer chosen names than fields.
    """
    if chosen and len(chosen) != len(fields):
        wanted = "two columns with a comma between them" if len(fields) > 1 else "one column"
        texts = "two texts" if len(fields) > 1 else "one text"
        raise UserError(
            f"--text_column={','.join(chosen)} must name {wanted}: the model reads {texts}."
        )
    if chosen:
        return Columns({field: (name,) for field, name in zip(fields, chosen)}, are_chosen=True)
    data = config.get("data", {})
    trained = [data.get("text"), data.get("second_text")] if data.get("corpus") == "table" else []
    own = {field: (name,) for field, name in zip(fields, trained) if name}
    texts = {field: (*own.get(field, ()), *_TEXTS[field]) for field in fields}
    return Columns({field: tuple(dict.fromkeys(names)) for field, names in texts.items()})


def text_name(field: str) -> str:
    """Returns our name for the text of a field."""
    return _TEXTS[field][0]


def tokens_name(field: str) -> str:
    """Returns the name of a field's list of tokens."""
    return f"{prefix_of(field)}tokens"


class TextParser:
    """Parses a sentence a line; for models of two, both with a tab between them.

    Args:
      fields: the model's sentences.
      columns: the names under which a record holds them.

    Call arguments:
      line: the line without its end.
      where: file and line, for errors.

    Returns:
      The line's record, or None for a line without a record (a header).
    """

    def __init__(self, fields: Sequence[str], columns: Columns = DEFAULT):
        self._fields, self._columns = fields, columns

    def end(self, where: str) -> None:
        """Raises UserError if the input must not end after the line `where`."""

    def __call__(self, line: str, where: str) -> Optional[dict]:
        sentences = [line] if len(self._fields) == 1 else line.split("\t")
        if len(sentences) != len(self._fields):
            raise UserError(
                f"{where}: {count(len(sentences), 'column')}, not 2; write two sentences with a "
                "tab between them, or use --input_format=tsv for a table with a header."
            )
        return {text_name(field): text for field, text in zip(self._fields, sentences)}


class JsonParser(TextParser):
    """Parses a JSON object a line; a blank line is a record with blank texts."""

    def __call__(self, line: str, where: str) -> Optional[dict]:
        if not line.strip():
            return {self._columns.texts[field][0]: "" for field in self._fields}
        try:
            record = parse_json(line)
        except ValueError as error:
            raise UserError(f"{where}: {error}; write one JSON object a line.") from None
        return check_record(record, self._fields, where, self._columns)


class TableParser(TextParser):
    """Parses the rows of a table, see `disan_tf.text.tables`."""

    make_table = Table

    def __init__(self, fields: Sequence[str], columns: Columns = DEFAULT):
        super().__init__(fields, columns)
        self._table = None

    def __call__(self, line: str, where: str) -> Optional[dict]:
        try:
            if self._table is not None:
                return self._row(line, where)
            self._table = self.make_table(line)
        except ValueError as error:
            raise UserError(f"{where}: {error}; restore or repair the file.") from None
        self._check_header(where)
        return None

    def _row(self, line: str, where: str) -> Optional[dict]:
        if not line.strip() and not self._table.is_open:
            return dict.fromkeys(self._table.columns, "")
        row = self._table.parse(line)
        return row and check_record(row, self._fields, where, self._columns)

    def _check_header(self, where: str) -> None:
        """Raises UserError, with a hint, for a header without the model's columns."""
        names = self._table.columns
        for field in self._fields:
            known = self._columns.names(field)
            if not set(known) & set(names):
                hint = separator_hint(names, known) or "name the column with --text_column"
                wanted = join_choices(f'"{name}"' for name in known)
                raise UserError(
                    f"{where}: there is no {wanted} among the columns {', '.join(names)}; {hint}."
                )
        check_record(dict.fromkeys(names, ""), self._fields, where, self._columns)

    def end(self, where):
        if self._table is not None and self._table.is_open:
            raise UserError(f"{where}: the input ends inside a quoted value; end it.")


class CommaTableParser(TableParser):
    """Parses the rows of a table with commas between its columns."""

    make_table = CommaTable


PARSERS = {"text": TextParser, "jsonl": JsonParser, "tsv": TableParser, "csv": CommaTableParser}


def check_record(record: dict, fields, where: str, columns: Columns = DEFAULT) -> dict:
    """Returns the record; raises UserError unless the model can read all its sentences."""
    for field in fields:
        names = columns.texts[field]
        if not set(columns.names(field)) & record.keys():
            known = join_choices(f'"{name}"' for name in columns.names(field))
            raise UserError(f"{where}: there is no {known}; add one of them.")
        for name in names:
            if not isinstance(record.get(name, ""), str):
                raise UserError(f'{where}: "{name}" is not a string; write it in quotes.')
        tokens = columns.find_tokens(record, field) or []
        if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
            raise UserError(
                f'{where}: "{tokens_name(field)}" is not a list of strings; write one, or '
                f'"{names[0]}" alone.'
            )
    return record
