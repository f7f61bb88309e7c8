"""Input files of lines: text, and JSON objects."""

from collections.abc import Iterator, Sequence
from typing import Optional

from apache_beam.io.filesystems import FileSystems

from disan_tf.serving.inference.lines import raw_chunks, read_record
from disan_tf.serving.inference.records import PARSERS


class LineFiles:
    """Reads files of one format.

    Args:
      input_format: a key of `disan_tf.serving.inference.records.PARSERS` whose lines can be read
        one by one.
      fields: the sentences that a record must have.

    Attributes:
      unit: the name of a numbered item, for errors.
    """

    unit = "line"

    def __init__(self, input_format: str, fields: Sequence[str]):
        self._parse = PARSERS[input_format](fields)

    def chunks(self, path: str) -> Iterator[list[Optional[bytes]]]:
        """Yields the lines of a file, in order; see `raw_chunks`."""
        with FileSystems.open(path) as file:
            yield from raw_chunks(file.read)

    def record(self, line: Optional[bytes], number: int, path: str) -> dict:
        """Parses a line into its record; raises UserError, see `read_record`."""
        return read_record(line, number, path, self._parse)
