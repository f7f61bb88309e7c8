"""The log of a training: lines in `metrics.jsonl`, the metrics of steps since then, the clock."""

import json
import time
from collections.abc import Collection
from pathlib import Path

import numpy as np

from disan_tf.common.atomic import naming, write_atomically
from disan_tf.common.errors import UserError
from disan_tf.common.files import decode_json, read_lines
from disan_tf.common.schema import check_schema
from disan_tf.input_pipeline import BatchPlan

_RECORD = {
    "step": int,
    "epoch": float,
    "split": str,
    "seconds": float,
    "head_fraction?": float,
    "dependent_fraction?": float,
}


class MetricsLog:
    """The log of a training's measurements, one JSON object a line.

    Lines of steps after `last_step`, from which training continues, are removed, since these steps
    will be measured again. So are the lines of `last_step` itself for splits in `again`. `seconds`
    is the value in the last line, or 0 without lines. If several processes train, only the one that
    writes keeps lines.
    """

    def __init__(self, path, last_step: int, writes: bool = True, again: Collection[str] = ()):
        self.path, self.seconds, self._writes = Path(path), 0.0, writes
        if writes:
            ends = dict.fromkeys(again, last_step - 1)
            records = self.read(path)
            records = [one for one in records if one["step"] <= ends.get(one["split"], last_step)]
            write_atomically(self.path, "".join(json.dumps(record) + "\n" for record in records))
            self.seconds = records[-1]["seconds"] if records else 0.0

    def write(self, **record) -> None:
        """Appends a record, which must have `step` and `seconds`."""
        if self._writes:
            with naming(self.path), open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")

    @classmethod
    def check_begins(cls, path) -> None:
        """Raises UserError if a training that has no checkpoint would remove another's lines."""
        steps = {record["step"] for record in cls.read(path) if record["split"] == "dev"}
        if len(steps) > 1:  # a checkpoint follows each evaluation; a kill may prevent one
            raise UserError(
                f"{path} is the log of a training whose checkpoints are missing; restore them, or "
                "choose another --workdir."
            )

    @staticmethod
    def read(path) -> list:
        """Returns all records; ignores an incomplete last line, which a killed training leaves.

        Raises:
          UserError: a line before the last is not JSON, or a line lacks a value or has one of a
            wrong type.
        """
        lines = read_lines(path, gzipped=False) if Path(path).exists() else []
        records, incomplete = [], None
        for number, line in lines:
            if incomplete:
                raise incomplete
            where, remedy = f"{path}, line {number}", "delete the line to continue"
            try:
                record = decode_json(line.encode(), where, remedy)
            except UserError as error:
                incomplete = error
                continue
            records.append(check_schema(where, record, _RECORD, remedy))
        return records


class TrainingLog:
    """Collects metrics of steps, and writes lines with their means and with scores.

    Args:
      path: the path of `metrics.jsonl`.
      plan: the batch plan, which gives a step's epoch.

    Attributes:
      steps: metrics of the steps since the last line, one dictionary a step.
    """

    def __init__(self, path: Path, plan: BatchPlan):
        self._path, self._plan = path, plan
        self._started, self.steps = time.monotonic(), []

    def open(self, step: int, saved: bytes, writes: bool) -> None:
        """Continues the log of a training after a `step` with a checkpoint; removes later lines.

        `saved` is the result of `dump` at that step; `writes` tells whether this process writes
        lines.
        """
        steps = json.loads(saved)
        self._lines = MetricsLog(self._path, step, writes, again=("train",) if steps else ())
        self._started = time.monotonic() - self._lines.seconds
        self.steps = [
            {name: np.dtype(kind).type(number) for name, (kind, number) in step.items()}
            for step in steps
        ]

    def begins_phase(self, metrics: dict) -> bool:
        """Returns whether a step belongs to another phase than the collected steps."""
        return bool(self.steps) and metrics.get("phase") != self.steps[0].get("phase")

    def means(self) -> tuple[dict, int]:
        """Returns the means over the steps, and the number of steps that loss scaling skipped.

        The mean of a gradient norm leaves out the norms of skipped steps that are not finite. If
        no norm is left, the means lack it.
        """
        means = {}
        for name in self.steps[0]:
            values = [metrics[name] for metrics in self.steps]
            if name.endswith("gradient_norm"):
                skipped = [metrics["skipped_steps"] for metrics in self.steps]
                pairs = zip(values, skipped)
                values = [norm for norm, is_skipped in pairs if np.isfinite(norm) or not is_skipped]
            if values:
                means[name] = float(np.mean(values))
        return means, round(means.pop("skipped_steps") * len(self.steps))

    def write(self, step: int, split: str, metrics: dict) -> None:
        """Writes a line of metrics on a split."""
        epoch = self._plan.epochs(step)
        self._lines.write(step=step, epoch=epoch, split=split, **metrics, seconds=self.seconds())

    def seconds(self) -> float:
        """Returns the seconds of the training, including the time before a restart."""
        return round(time.monotonic() - self._started, 3)

    def formatted(self) -> list[dict]:
        """Returns the metrics of the steps as callbacks get them."""
        return [format_metrics(metrics) for metrics in self.steps]

    def dump(self) -> str:
        """Returns the metrics of the steps as JSON, from which `open` restores equal numbers."""
        arrays = [
            {name: np.asarray(number) for name, number in step.items()} for step in self.steps
        ]
        return json.dumps(
            [
                {name: [number.dtype.name, number.item()] for name, number in step.items()}
                for step in arrays
            ]
        )


def format_metrics(metrics: dict) -> dict:
    """Returns a step's metrics for callbacks."""
    return {name: value for name, value in metrics.items() if name != "skipped_steps"}
