"""What the steps since the last line of the log gave: for callbacks, and in checkpoints."""

import json

import numpy as np


def shown(measured: dict) -> dict:
    """What callbacks are told of a step."""
    return {name: value for name, value in measured.items() if name != "skipped_steps"}


def dump(measured: list[dict]) -> str:
    """What steps gave, as JSON from which `load` makes the same numbers."""
    arrays = [{name: np.asarray(value) for name, value in step.items()} for step in measured]
    return json.dumps(
        [{name: [it.dtype.name, it.item()] for name, it in step.items()} for step in arrays]
    )


def load(text: bytes) -> list[dict]:
    """What `dump` was given."""
    steps = json.loads(text)
    return [{name: np.dtype(kind).type(it) for name, (kind, it) in step.items()} for step in steps]
