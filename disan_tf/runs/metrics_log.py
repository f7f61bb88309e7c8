"""The log `metrics.jsonl` of a training, one line for each measurement."""

import json
from pathlib import Path

from disan_tf.common.errors import UserError
from disan_tf.common.files import naming, read_lines, write_atomically
from disan_tf.common.schema import check_schema

_RECORD = {"step": int, "epoch": float, "split": str, "seconds": float}


class NoLog:
    """A log for a process that writes none."""

    seconds = 0.0

    def write(self, **record) -> None:
        """Discards the record."""


class MetricsLog:
    """The log of a training's measurements, one JSON object a line.

    Args:
      path: the file; it need not exist.
      last_step: the step from which training continues. Lines of later steps are removed, since
        these steps will be measured again.

    Attributes:
      seconds: the seconds of the last line, 0 without lines.
    """

    def __init__(self, path, last_step: int):
        self.path = Path(path)
        records = [record for record in self.read(path) if record["step"] <= last_step]
        write_atomically(self.path, "".join(json.dumps(record) + "\n" for record in records))
        self.seconds = records[-1]["seconds"] if records else 0.0

    def write(self, **record) -> None:
        """Appends a record, which must have `step` and `seconds`."""
        with naming(self.path), open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    @staticmethod
    def read(path) -> list:
        """Returns all records; ignores an incomplete last line, which a killed training leaves.

        Raises:
          UserError: a line before the last is not JSON.
        """
        if not Path(path).exists():
            return []
        lines = list(read_lines(path))
        records = []
        for number, line in lines:
            try:
                record = json.loads(line)
            except ValueError:
                if number < len(lines):
                    raise UserError(
                        f"{path}, line {number}: not JSON; delete the line to continue."
                    ) from None
                break
            where = f"{path}, line {number}"
            records.append(check_schema(where, record, _RECORD, "delete the line to continue"))
        return records
