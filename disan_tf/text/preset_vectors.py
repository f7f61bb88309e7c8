"""The word vectors of a released model, in place of a file of vectors."""

from pathlib import Path

import h5py
import numpy as np

from disan_tf.common.errors import UserError
from disan_tf.common.files import read_json, read_lines, sha256
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.common.options import join_choices
from disan_tf.input_pipeline.format import VOCABULARY

PREFIX = "preset:"
_REMEDY = "restore the released model"
_TABLES = "layers/word_embedding/vars"  # the trained and the fixed vectors in a file of weights
_SCHEMA = {"weights": str, "sha256": {str: str}}


def find_preset(name: str) -> Path:
    """Returns the `model.json` of a released model, from "preset:<name>".

    Raises:
      UserError: there is no such model; lists the others.
    """
    path = CHECKPOINTS / name.removeprefix(PREFIX) / "model.json"
    if not path.is_file():
        names = sorted(other.parent.name for other in CHECKPOINTS.glob("*/model.json"))
        raise UserError(
            f"--config.data.vectors={name} names no released model; choose {join_choices(names)}."
        )
    return path


def read_preset(path: Path) -> dict[str, np.ndarray]:
    """Reads the vectors of a released model, word -> <float32>[dim].

    Raises:
      UserError: a file is damaged, or the model has no word vectors.
    """
    info = read_json(path, _REMEDY, _SCHEMA)
    for name in (VOCABULARY, info["weights"]):
        file = path.parent / name
        if not file.is_file() or sha256(file) != info["sha256"].get(name):
            raise UserError(f"{file} is missing or damaged; {_REMEDY}.")
    with h5py.File(path.parent / info["weights"]) as weights:
        if _TABLES not in weights:
            raise UserError(f"{path.parent} has no word vectors; choose another model.")
        tables = [weights[f"{_TABLES}/{number}"][()] for number in range(2)]
    words = [word for _, word in read_lines(path.parent / VOCABULARY)]
    return dict(zip(words, np.concatenate(tables).astype(np.float32)))
