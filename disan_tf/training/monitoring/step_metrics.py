"""Metrics of the steps since the last line of the log, for callbacks and checkpoints."""

import json

import numpy as np


def format_metrics(metrics: dict) -> dict:
    """Returns a step's metrics for callbacks."""
    return {name: value for name, value in metrics.items() if name != "skipped_steps"}


def dump(steps: list[dict]) -> str:
    """Returns the metrics of steps as JSON, from which `load` restores equal numbers."""
    arrays = [{name: np.asarray(value) for name, value in step.items()} for step in steps]
    return json.dumps(
        [{name: [it.dtype.name, it.item()] for name, it in step.items()} for step in arrays]
    )


def load(text: bytes) -> list[dict]:
    """Restores the metrics of steps that `dump` wrote."""
    steps = json.loads(text)
    return [{name: np.dtype(kind).type(it) for name, (kind, it) in step.items()} for step in steps]
