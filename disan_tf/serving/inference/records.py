"""Parses lines into records, for models of one sentence and of two.

A record is a dictionary with each sentence of the model, and all other fields of its line. A
sentence is a string, which the tokenizer splits, or a list of tokens, looked up as they are:

    one sentence            "text", or "tokens"
    premise, hypothesis     "premise" or "sentence1", or "premise_tokens"; the other likewise
    sentence_a, sentence_b  "sentence_a", "sentence_A" or "sentence1", or "sentence_a_tokens"; the
                            other likewise
"""

import contextlib
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Callable, NamedTuple, Optional

from disan_tf.common.errors import UserError
from disan_tf.common.options import count, join_choices, nearest
from disan_tf.models.base import prefix_of
from disan_tf.text.json_texts import parse_json
from disan_tf.text.tables import Rows, shorten
from disan_tf.text.text_files import FORMATS

_TEXTS = {  # field -> names of its text: ours, then the one in the corpora's files
    "sentence": ("text",),
    "premise": ("premise", "sentence1"),
    "hypothesis": ("hypothesis", "sentence2"),
    "sentence_a": ("sentence_a", "sentence_A", "sentence1"),
    "sentence_b": ("sentence_b", "sentence_B", "sentence2"),
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
    trained_names = {field: (name,) for field, name in zip(fields, trained) if name}
    texts = {field: (*trained_names.get(field, ()), *_TEXTS[field]) for field in fields}
    return Columns({field: tuple(dict.fromkeys(names)) for field, names in texts.items()})


def text_name(field: str) -> str:
    """Returns our name for the text of a field."""
    return _TEXTS[field][0]


def tokens_name(field: str) -> str:
    """Returns the name of a field's list of tokens."""
    return f"{prefix_of(field)}tokens"


class SentenceLines:
    """Parses a sentence a line; for models of two, both with a tab between them.

    Args:
      fields: the model's sentences.
      columns: the names under which a record holds them.

    Attributes:
      is_open: whether the last line ended inside a quoted value.
      names: the names of the texts, or the columns of a table.

    Call arguments:
      line: the line without its end.
      where: file and line, for errors.

    Returns:
      The line's record, or None for a line without a record: a header, or a part of a value.
    """

    is_open = False

    def __init__(self, fields: Sequence[str], columns: Columns = DEFAULT):
        self._fields, self._columns = fields, columns
        texts = {field: columns.texts[field] for field in fields}
        self.names = [
            text_name(field) if text_name(field) in names else names[0]
            for field, names in texts.items()
        ]

    def __call__(self, line: str, where: str) -> Optional[dict]:
        sentences = [line] if len(self._fields) == 1 else line.split("\t")
        if len(sentences) != len(self._fields):
            raise UserError(
                f"{where}: {count(len(sentences), 'column')}, not 2; write two sentences with a "
                "tab between them, or use --input_format=tsv for a table with a header."
            )
        return dict(zip(self.names, sentences))


class RecordLines(SentenceLines):
    """Parses JSON objects and the rows of a table; a blank line is a record with blank texts.

    Args:
      input_format: see `disan_tf.text.tables.Rows`.
    """

    def __init__(self, fields: Sequence[str], columns: Columns = DEFAULT, input_format="jsonl"):
        super().__init__(fields, columns)
        self.names = [columns.texts[field][0] for field in fields]
        self._is_json = input_format == "jsonl"
        self._rows = Rows(input_format, self.check_names)

    @property
    def is_open(self):
        return self._rows.is_open

    def __call__(self, line: str, where: str) -> Optional[dict]:
        if (not line or line.isspace()) and not self.is_open:
            if not (self._is_json or self._rows.has_begun):
                return None
            return dict.fromkeys(self.names, "")
        remedy = "" if self._rows.has_begun else ", or name its columns with --text_column"
        try:
            row = self._rows.parse(line)
        except ValueError as error:
            raise UserError(f"{where}: {error}; repair the file{remedy}.") from None
        self.names = self._rows.columns or self.names
        if row is None:
            return None
        if len(row) > 1 and list(row) == list(row.values()):
            raise UserError(f"{where}: the header is repeated; remove this line.")
        return check_record(row, self._fields, where, self._columns)

    def check_names(self, names: Collection[str]) -> None:
        """Raises ValueError unless names, of columns or of a record, contain all the fields."""
        for field in self._fields:
            known = self._columns.names(field)
            if not set(known) & set(names):
                wanted, near = join_choices(f'"{name}"' for name in known), nearest(known[0], names)
                raise ValueError(
                    f"there is no {wanted} among the columns {shorten(', '.join(names))}"
                    f"{f' (did you mean {near}?)' * bool(near)}"
                )


class Recogniser(SentenceLines):
    """Parses lines of text, and recognises a first line of another format.

    The first line of a table names columns of all the model's texts, and all of its names look like
    names; the first JSON object has the model's texts.

    Args:
      announce: a function called with the first line, what it is and its format, if it is no text.
      follows: whether such an input is then parsed in that format.
    """

    def __init__(
        self,
        fields: Sequence[str],
        columns: Columns,
        announce: Callable[[str, str, str], None],
        follows: bool,
    ):
        super().__init__(fields, columns)
        self._announce, self._follows, self._parse = announce, follows, None

    @property
    def is_open(self):
        return self._parse is not None and self._parse.is_open

    def __call__(self, line: str, where: str) -> Optional[dict]:
        if self._parse is None:
            self._parse, form = SentenceLines(self._fields, self._columns), self._recognise(line)
            if form:
                self._announce(line, *form)
            if form and self._follows:
                self._parse = RecordLines(self._fields, self._columns, form[1])
        record = self._parse(line, where)
        self.names = self._parse.names
        return record

    def _recognise(self, line: str) -> Optional[tuple[str, str]]:
        """Returns what a first line is and its format, or None for a sentence."""
        if line.startswith("{"):
            with contextlib.suppress(ValueError):
                RecordLines(self._fields, self._columns).check_names(parse_json(line))
                return "JSON", "jsonl"
        if _ARRAY.match(line):
            return "a JSON array", "jsonl"
        for separator in "\t,;|":
            names = [name.strip('"') for name in line.split(separator)]
            known = [set(self._columns.texts[field]) & set(names) for field in self._fields]
            if all(known) and all(map(_NAME.fullmatch, names)):
                return "a header", "tsv" if separator == "\t" else "csv"
        return None


_NAME = re.compile(r"\w[\w.-]*( [\w.-]+){0,2}")  # a column's name, rather than a sentence
_ARRAY = re.compile(r'\[\s*(\{\s*"|$)')  # of objects


def make_parser(input_format: str, fields: Sequence[str], columns: Columns) -> SentenceLines:
    """Makes the parser of a format.

    Raises:
      UserError: the format is not in `disan_tf.text.text_files.FORMATS`.
    """
    if input_format not in FORMATS:
        known = " or ".join(FORMATS)
        raise UserError(f"There is no input format {input_format!r}; choose {known}.")
    if input_format == "text":
        return SentenceLines(fields, columns)
    return RecordLines(fields, columns, input_format)


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
