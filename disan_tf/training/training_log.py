"""The log of a training: metrics of its steps, lines in `metrics.jsonl`, and the clock."""

import json
import time
from pathlib import Path

import numpy as np

from disan_tf.input_pipeline import BatchPlan
from disan_tf.runs.metrics_log import MetricsLog


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
        self._lines = MetricsLog(self._path, step, writes)
        self._started = time.monotonic() - self._lines.seconds
        steps = json.loads(saved)
        self.steps = [
            {name: np.dtype(kind).type(number) for name, (kind, number) in step.items()}
            for step in steps
        ]

    def begins_phase(self, metrics: dict) -> bool:
        """Returns whether a step belongs to another phase than the collected steps."""
        return bool(self.steps) and metrics.get("phase") != self.steps[0].get("phase")

    def means(self) -> tuple[dict, int]:
        """Returns the means over the steps, and the number of steps that loss scaling skipped."""
        means = {
            name: float(np.mean([metrics[name] for metrics in self.steps]))
            for name in self.steps[0]
        }
        return means, round(means.pop("skipped_steps") * len(self.steps))

    def write(self, step: int, split: str, metrics: dict) -> None:
        """Writes a line of metrics on a split."""
        epoch = self._plan.epochs(step)
        self._lines.write(step=step, epoch=epoch, split=split, **metrics, seconds=self.seconds())

    def seconds(self) -> float:
        """Returns the seconds of the training, including the time before a restart."""
        return round(time.monotonic() - self._started, 3)

    def formatted(self) -> list[dict]:
        """Returns the metrics of the steps in the form that callbacks get."""
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
