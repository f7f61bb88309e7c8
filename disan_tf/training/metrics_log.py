"""metrics.jsonl: one line a measurement, and no line from a future that was killed."""

import json
from pathlib import Path

from disan_tf.errors import UserError
from disan_tf.files import read_lines, write_atomically


class MetricsLog:
    """The measurements of a training.

    Args:
      path: the file; it need not exist.
      last_step: lines of later steps are removed, since a resumed training measures them again.
    """

    def __init__(self, path, last_step: int):
        self.path = Path(path)
        records = [record for record in self.read(path) if record["step"] <= last_step]
        write_atomically(self.path, "".join(json.dumps(record) + "\n" for record in records))
        self.seconds = records[-1]["seconds"] if records else 0.0

    def write(self, **record) -> None:
        """Appends one record; it needs `step` and `seconds`."""
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    @staticmethod
    def read(path) -> list:
        """All records, without a last line that a kill cut off.

        Raises:
          UserError: a line before the last is not JSON.
        """
        if not Path(path).exists():
            return []
        lines = list(read_lines(path))
        records = []
        for number, line in lines:
            try:
                records.append(json.loads(line))
            except json.JSONDecodeError:
                if number < len(lines):
                    raise UserError(
                        f"{path}, line {number}: not JSON; delete the line to go on."
                    ) from None
        return records
