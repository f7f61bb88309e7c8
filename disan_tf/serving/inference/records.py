"""Parses lines into records, for models of one sentence and of two.

A record is a dictionary with each sentence of the model, and all other fields of its line. A
sentence is a string, which the tokenizer splits, or a list of tokens, looked up as they are:

    one sentence            "text", or "tokens"
    premise, hypothesis     "premise" or "sentence1", or "premise_tokens"; the other likewise
    sentence_a, sentence_b  "sentence_a", "sentence_A" or "sentence1", or "sentence_a_tokens"; the
                            other likewise

If a model was trained on a column of texts called "tokens", that name means a text.
"""

import contextlib
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Callable, NamedTuple, Optional

from disan_tf.common.checks import count, join_choices, nearest
from disan_tf.common.errors import UserError
from disan_tf.models.base import SENTENCE, prefix_of
from disan_tf.text.json_texts import parse_json
from disan_tf.text.table_files import Rows, holds_tokens, shorten
from disan_tf.text.text_files import FORMATS

_TEXTS = {  # field -> names of its text: ours, then the one in the corpora's files
    "sentence": ("text",),
    "premise": ("premise", "sentence1"),
    "hypothesis": ("hypothesis", "sentence2"),
    "sentence_a": ("sentence_a", "sentence_A", "sentence1"),
    "sentence_b": ("sentence_b", "sentence_B", "sentence2"),
}


class Columns(NamedTuple):
    """The sentences to read, and the names under which records hold them.

    Attributes:
      texts: field -> names of its text; the first that a record has counts.
      are_chosen: whether the user named the columns; then lists of tokens are not read.
    """

    texts: Mapping[str, Sequence[str]]
    are_chosen: bool = False

    @property
    def fields(self) -> tuple[str, ...]:
        """The sentences to read."""
        return tuple(self.texts)

    def list_name(self, field: str) -> Optional[str]:
        """Returns the name of a field's list of tokens, or None if no list is read."""
        name, texts = tokens_name(field), chain.from_iterable(self.texts.values())
        return None if self.are_chosen or name in texts else name

    def find_tokens(self, record: dict, field: str) -> Optional[list]:
        """Returns a field's list of tokens; None if it is absent, null or a table's empty cell.

        A string of this name beside a text is another column, such as a number of tokens.
        """
        name = self.list_name(field)
        tokens = record.get(name) if name else None
        if isinstance(tokens, str) and (not tokens or self.find_text(record, field) is not None):
            return None
        return tokens

    def find_text(self, record: Mapping, field: str) -> Optional[str]:
        """Returns a field's text under the first of its names that the record has, or None."""
        return next((record[name] for name in self.texts[field] if name in record), None)

    def names(self, field: str) -> list[str]:
        """Returns all names under which a record may hold a field."""
        return [*self.texts[field], *filter(None, [self.list_name(field)])]

    def find_missing(self, names: Collection[str]) -> Optional[list[str]]:
        """Returns the names of the first field that none of `names` holds, or None."""
        known = map(self.names, self.texts)
        return next((field for field in known if not set(field) & set(names)), None)


def usual_columns(fields: Sequence[str]) -> Columns:
    """Returns our names, and the names in the corpora's files, for these sentences."""
    return Columns({field: _TEXTS[field] for field in fields})


SINGLE = usual_columns(SENTENCE)


def columns_of(config, fields: Sequence[str], chosen: Sequence[str] = ()) -> Columns:
    """Returns the columns of a model's input: the chosen ones, or those that it was trained on.

    Without the trained columns, a record may have our usual names. The chosen names have the order
    of the fields.

    Raises:
      UserError: there are more or fewer chosen names than fields.
    """
    if chosen and len(chosen) != len(fields):
        wanted, texts = "one column", "one text"
        if len(fields) > 1:
            wanted, texts = "two columns with a comma between them", "two texts"
        raise UserError(
            f"--text_column={','.join(chosen)} must name {wanted}: the model reads {texts}."
        )
    if chosen:
        return Columns({field: (name,) for field, name in zip(fields, chosen)}, are_chosen=True)
    data, texts = config.get("data", {}), dict(usual_columns(fields).texts)
    if data.get("corpus") == "table":
        for field, name in zip(fields, (data.get("text"), data.get("second_text"))):
            if name:
                texts[field] = tuple(dict.fromkeys((name, *texts[field])))
    return Columns(texts)


def text_name(field: str) -> str:
    """Returns our name for the text of a field."""
    return _TEXTS[field][0]


def tokens_name(field: str) -> str:
    """Returns the name of a field's list of tokens."""
    return f"{prefix_of(field)}tokens"


class SentenceLines:
    """Parses a sentence a line; for models of two, both with a tab between them.

    A call takes a line without its end, and its file and line for errors. It returns the line's
    record, or None for a line without a record: a header, or a part of a value. A blank line is a
    record with blank texts.

    Attributes:
      is_open: whether the last line ended inside a quoted value.
      names: the names of the texts, or the columns of a table.
    """

    is_open = False

    def __init__(self, columns: Columns):
        self.names = [
            text_name(field) if text_name(field) in names else names[0]
            for field, names in columns.texts.items()
        ]

    def __call__(self, line: str, where: str) -> Optional[dict]:
        if len(self.names) == 1:
            return {self.names[0]: line}
        sentences = line.split("\t") if line.strip() else [""] * len(self.names)
        if len(sentences) != len(self.names):
            raise UserError(
                f"{where}: {count(len(sentences), 'column')}, not 2; write two sentences with a "
                "tab between them, or use --input_format=tsv for a table with a header."
            )
        return dict(zip(self.names, sentences))


class RecordLines:
    """Parses JSON objects and the rows of a table, as `SentenceLines` parses sentences.

    A blank line is a record with blank texts. `input_format`: see `disan_tf.text.table_files.Rows`.
    """

    def __init__(self, columns: Columns, input_format: str = "jsonl"):
        self._columns, self._is_json = columns, input_format == "jsonl"
        self.names = [names[0] for names in columns.texts.values()]
        self._rows = Rows(input_format, self.check_names)

    @property
    def is_open(self) -> bool:
        return self._rows.is_open

    opened_at = ""  # where the open quoted value begins

    def __call__(self, line: str, where: str) -> Optional[dict]:
        if self._rows.is_blank(line):
            if not (self._is_json or self._rows.has_begun):
                return None
            return dict.fromkeys(self.names, "")
        place = self.opened_at if self.is_open else where
        remedy = "" if self._rows.has_begun else ", or name its columns with --text_column"
        try:
            row = self._rows.parse(line)
        except ValueError as error:
            raise UserError(f"{place}: {error}; repair the file{remedy}.") from None
        self.opened_at = where if self._rows.has_opened else place
        self.names = self._rows.columns or self.names
        if row is None:
            return None
        if len(row) > 1 and list(row) == list(row.values()):
            raise UserError(f"{where}: the header is repeated; remove this line.")
        return check_record(row, where, self._columns)

    def check_names(self, names: Collection[str]) -> None:
        """Raises ValueError unless names, of columns or of a record, contain all the fields."""
        if missing := self._columns.find_missing(names):
            wanted, near = join_choices(f'"{name}"' for name in missing), nearest(missing[0], names)
            raise ValueError(
                f"there is no {wanted} among the columns {shorten(', '.join(names))}"
                f"{f' (did you mean {near}?)' * bool(near)}"
            )


_NAME = re.compile(r"\w[\w.-]*( [\w.-]+){0,2}")  # a column's name, rather than a sentence
_ARRAY = re.compile(r'\[\s*(\{\s*"|$)')  # of objects


def recognise(line: str, columns: Columns) -> Optional[tuple[str, str]]:
    """Returns what a first line is and its format, or None for a sentence.

    The first line of a table names columns of all the model's texts, and all of its names look like
    names. A JSON object with a name is a record, even if it lacks the model's texts.
    """
    if line.startswith("{"):
        with contextlib.suppress(ValueError):
            if parse_json(line):
                return "JSON", "jsonl"
    if _ARRAY.match(line):
        return "a JSON array", "jsonl"
    for separator in "\t,;|":
        names = [name.strip('"') for name in line.split(separator)]
        has_texts = all(set(texts) & set(names) for texts in columns.texts.values())
        if has_texts and all(map(_NAME.fullmatch, names)):
            return "a header", "tsv" if separator == "\t" else "csv"
    return None


def make_parser(input_format: str, columns: Columns) -> Callable[[str, str], Optional[dict]]:
    """Makes the parser of a format, see `SentenceLines`.

    Raises:
      UserError: the format is not in `disan_tf.text.text_files.FORMATS`.
    """
    if input_format not in FORMATS:
        known = " or ".join(FORMATS)
        raise UserError(f"There is no input format {input_format!r}; choose {known}.")
    return SentenceLines(columns) if input_format == "text" else RecordLines(columns, input_format)


def check_record(record: dict, where: str, columns: Columns) -> dict:
    """Returns the record; raises UserError unless the model can read all its sentences."""
    for field, names in columns.texts.items():
        tokens = columns.find_tokens(record, field)
        for name in names:
            is_absent = tokens is not None and record.get(name) is None
            if not (is_absent or isinstance(record.get(name, ""), str)):
                remedy = "write it in quotes"
                if holds_tokens(record[name]) and columns.list_name(field):
                    remedy = f'it holds tokens: name it "{tokens_name(field)}"'
                raise UserError(f'{where}: "{name}" is not a string; {remedy}.')
        if tokens is None and columns.find_text(record, field) is None:
            known = join_choices(f'"{name}"' for name in columns.names(field))
            raise UserError(f"{where}: there is no {known}; add one of them.")
        if tokens is not None and not holds_tokens(tokens):
            raise UserError(
                f'{where}: "{tokens_name(field)}" is not a list of strings; write one, or '
                f'"{names[0]}" alone.'
            )
    return record
