"""Input files of lines: text, and JSON objects."""

from collections.abc import Iterator, Sequence
from typing import Optional

from apache_beam.io.filesystems import FileSystems

from disan_tf.common.files import decode_line, too_long
from disan_tf.serving.inference.records import Columns, make_parser
from disan_tf.text.text_files import TextLines


class LineFiles:
    """Reads files of one format.

    Args:
      input_format: "text" or "jsonl", whose lines can be read one by one.
      fields: the sentences that a record must have.
      columns: the names under which a record holds them.

    Attributes:
      unit: the name of a numbered item, for errors.
    """

    unit = TextLines.unit

    def __init__(self, input_format: str, fields: Sequence[str], columns: Columns):
        self._format, self._parse = input_format, make_parser(input_format, fields, columns)

    def chunks(self, path: str) -> Iterator[list[Optional[bytes]]]:
        """Yields the lines of a file, in order; see `TextLines.chunks`."""
        with FileSystems.open(path) as file:
            yield from TextLines(file.read, path, self._format).chunks()

    def record(self, line: Optional[bytes], number: int, path: str) -> dict:
        """Parses a line into its record.

        Raises:
          UserError: the line is too long, not UTF-8 or not a record.
        """
        if line is None:
            raise too_long(path, number)
        text = decode_line(line, path, number, "save the text as UTF-8")
        return self._parse(text, f"{path}, {self.unit} {number}")
