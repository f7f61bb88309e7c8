"""The log `metrics.jsonl` of a training, one line for each measurement."""

import json
from pathlib import Path

from disan_tf.common.errors import UserError
from disan_tf.common.files import naming, read_lines, write_atomically
from disan_tf.common.schema import check_schema

_RECORD = {"step": int, "epoch": float, "split": str, "seconds": float}


class MetricsLog:
    """The log of a training's measurements, one JSON object a line.

    Lines of steps after `last_step`, from which training continues, are removed, since these steps
    will be measured again. `seconds` is the value in the last line, or 0 without lines. A process
    that does not write, one of several, keeps no lines.
    """

    def __init__(self, path, last_step: int, writes: bool = True):
        self.path, self.seconds, self._writes = Path(path), 0.0, writes
        if writes:
            records = [record for record in self.read(path) if record["step"] <= last_step]
            write_atomically(self.path, "".join(json.dumps(record) + "\n" for record in records))
            self.seconds = records[-1]["seconds"] if records else 0.0

    def write(self, **record) -> None:
        """Appends a record, which must have `step` and `seconds`."""
        if self._writes:
            with naming(self.path), open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")

    @staticmethod
    def read(path) -> list:
        """Returns all records; ignores an incomplete last line, which a killed training leaves.

        Raises:
          UserError: a line before the last is not JSON.
        """
        lines = list(read_lines(path)) if Path(path).exists() else []
        records = []
        for number, line in lines:
            where = f"{path}, line {number}"
            try:
                record = json.loads(line)
            except ValueError:
                if number < len(lines):
                    raise UserError(f"{where}: not JSON; delete the line to continue.") from None
                break
            records.append(check_schema(where, record, _RECORD, "delete the line to continue"))
        return records
