"""metrics.jsonl: one line for each measurement of a training."""

import json
from pathlib import Path

from disan_tf.common.errors import UserError
from disan_tf.common.files import read_lines, write_atomically
from disan_tf.common.schema import check_schema

_RECORD = {"step": int, "epoch": float, "split": str, "seconds": float}


class NoLog:
    """The log of a process that writes none."""

    seconds = 0.0

    def write(self, **record) -> None:
        """Forgets the record."""


class MetricsLog:
    """The measurements of a training, one JSON object a line.

    Args:
      path: the file; it need not exist.
      last_step: the step from which the training continues. Lines of later steps are removed, since
        they will be measured again.

    Attributes:
      seconds: those of the last line, 0 without lines.
    """

    def __init__(self, path, last_step: int):
        self.path = Path(path)
        records = [record for record in self.read(path) if record["step"] <= last_step]
        write_atomically(self.path, "".join(json.dumps(record) + "\n" for record in records))
        self.seconds = records[-1]["seconds"] if records else 0.0

    def write(self, **record) -> None:
        """Appends a record, which must have `step` and `seconds`."""
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    @staticmethod
    def read(path) -> list:
        """All records; an incomplete last line, left by a killed training, is ignored.

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
