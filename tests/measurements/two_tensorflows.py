"""Compares the predictions of saved models under two versions of TensorFlow.

    .venv/bin/python -m tests.measurements.two_tensorflows --write=predictions.npz
    .venv-2.21/bin/python -m tests.measurements.two_tensorflows --read=predictions.npz \
      --output=differences.json

A model is the name of a released one, or a work directory; without names all released models are
read. The sentences are those of `tests/serving/test_released_models.py`.
"""

import argparse
from pathlib import Path

import numpy as np
import tensorflow as tf

import disan_tf
from disan_tf.common.files import write_json
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.serving.release.released import read_manifest
from tests.serving.test_released_models import ASKED


def predictions(name: str) -> np.ndarray:
    """Returns probabilities, <float>[texts, classes], or scores, <float>[texts, 1]."""
    model = disan_tf.load(name)
    texts = [line.split("\t") for _, lines in ASKED.values() for line, _ in lines]
    texts = [tuple(text) for text in texts if len(text) == len(model.fields)]
    rows = model.predict([text[0] if len(text) == 1 else text for text in texts])
    return np.array(
        [[*row["probabilities"].values()] if "label" in row else [row["score"]] for row in rows]
    )


def differences(found: dict[str, np.ndarray], before: dict[str, np.ndarray]) -> dict[str, dict]:
    """Returns for each model the largest difference, and how many texts change their label."""
    return {
        name: {
            "texts": len(rows),
            "largest_difference": float(np.abs(rows - before[name]).max()),
            "changed_labels": int(np.sum(rows.argmax(1) != before[name].argmax(1))),
        }
        for name, rows in found.items()
    }


def main() -> None:
    """Writes the predictions, or prints the differences to written ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--read", type=Path)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    names = options.models or sorted(read_manifest(CHECKPOINTS / "manifest.tsv"))
    found = {name: predictions(name) for name in names}
    if options.write:
        np.savez(options.write, tensorflow=tf.__version__, **found)
        return
    with np.load(options.read) as before:
        report = {
            "written_by": str(before["tensorflow"]),
            "read_by": tf.__version__,
            "models": differences(found, before),
        }
    print(report)
    if options.output:
        write_json(options.output, report)


if __name__ == "__main__":
    main()
