"""Readers and writers of recorded results; files are checked as they are read.

<folder>/results/<name>.json      what `summarise_run` or `summarise_series` returned, "command",
                                  "paper" (the paper's figures) and "note" (why ours differ)
<folder>/predictions/<name>.npz   each member's predictions for the test examples
<folder>/benchmarks/<name>.json   what `--mode=benchmark` wrote
"""

import contextlib
import math
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Optional

import numpy as np

from disan_tf.common.errors import UserError
from disan_tf.common.files import read_json, write_arrays
from disan_tf.common.schema import check_schema
from disan_tf.metrics.differences import Predictions
from disan_tf.runs.provenance import MACHINE
from disan_tf.runs.run_summary import best_step
from disan_tf.runs.work_directory import START
from disan_tf.study.descriptions import members_of

_REMEDY = "restore it from the repository"
_SPEEDS = {"epoch_seconds?": float, "inference_pairs_per_second?": float}
_BENCHMARK = {
    "machine": {"processor": str, "threads": int, "tensorflow": str},
    "encoders?": {"encoders": {str: _SPEEDS}},
}
_DAMAGES = (OSError, ValueError, TypeError, KeyError, EOFError, NotImplementedError)
_NULL = type(None)
_LENGTHS = {str: {"count": int, "accuracy": (float, _NULL)}}
_MEAN_LENGTHS = {str: {"sentences": float, "accuracy": float, "standard_deviation": (float, _NULL)}}
_CONFUSION = {"matrix": [[int]]}
_CURVES = {"dev_curve": 2, "test_curve": 2, "selection_curve": 3}  # numbers of a point
_OPTIONAL = {"vector_dim?": int, "fold?": int, "folds?": int}
_TRAINED = {
    "steps": float,
    "epochs": float,
    "machine?": MACHINE,
    "dev_curve": [[float]],
    "test_curve?": [[float]],
    "selection_curve?": [[float]],
}
_RESULT = {
    "command": (str, _NULL),
    "paper": str,
    "note": str,
    "config": {
        "name": str,
        "seed": int,
        "data": {"corpus": str, "embedding_dim": int, "vectors": str, **_OPTIONAL},
        "embedding": {"name": str},
        "encoder": {"name": str},
        "train": {"batch_size": int, "examples?": int},
    },
    "parameters": int,
    "data": {
        "training_examples": int,
        "unit": str,
        "training_read": int,
        "official_training_examples": (int, _NULL),
        "training_tokens_covered": (float, _NULL),
    },
    **dict.fromkeys(("seconds_per_epoch", "best_epoch", "minutes_to_best"), float),
    "init_from?": START,
}
_SCORES = {"accuracy?": float, "pearson?": float, "spearman?": float, "mse?": float}
_RUN = {
    **_TRAINED,
    "dev": _SCORES,
    "test": {**_SCORES, "by_length?": _LENGTHS, "confusion?": _CONFUSION},
    **dict.fromkeys(("train?", "mismatched?", "best_on_test?", "best_on_mismatched?"), _SCORES),
}
_SERIES = {
    "members": [
        {**_TRAINED, "name": str, "seed": int, "fold": (int, _NULL), "scores": {str: {str: float}}}
    ],
    "mean": {str: {str: float}},
    "standard_deviation": {str: {str: (float, _NULL)}},
    "by_length": _MEAN_LENGTHS,
    "confusion?": _CONFUSION,
}


class Records(NamedTuple):
    """Recorded results, predictions and benchmarks, by the names of their files."""

    results: Mapping[str, dict]
    predictions: Mapping[str, Sequence[Predictions]] = MappingProxyType({})
    benchmarks: Mapping[str, dict] = MappingProxyType({})


def read_records(folder: Path) -> Records:
    """Reads the results of the papers' models, the predictions and the benchmarks of a folder.

    Raises:
      UserError: a file is damaged, or a result contradicts itself.
    """
    paths = sorted((folder / "benchmarks").glob("*.json"))
    benchmarks = {path.stem: read_json(path, _REMEDY, _BENCHMARK) for path in paths}
    predictions = read_predictions(folder / "predictions")
    return Records(read_results(folder / "results"), predictions, benchmarks)


def read_results(folder: Path) -> dict[str, dict]:
    """Reads the results of the papers' models, which did not begin with a trained one, by name.

    Raises:
      UserError: a file is no result, or contradicts itself.
    """
    return {name: run for name, run in read_any_results(folder).items() if "init_from" not in run}


def read_any_results(folder: Path) -> dict[str, dict]:
    """Reads all results of a folder, also of trainings that began with a trained model."""
    return {path.stem: read_result(path) for path in sorted(folder.glob("*.json"))}


def read_result(path: Path) -> dict:
    """Reads a recorded result; see `read_results`."""
    result = read_json(path, _REMEDY, _RESULT)
    check_schema(path, result, _SERIES if "members" in result else _RUN, _REMEDY)
    wrong = _contradiction(result)
    if wrong:
        raise UserError(f"{path}: {wrong}; {_REMEDY}.")
    return result


def _contradiction(result: dict) -> Optional[str]:
    """Describes a contradiction in a result whose types are right, or returns None."""
    members = members_of(result)
    if not members:
        return "members is empty"
    for member in members:
        if not (member["steps"] > 0 and 0 < member["epochs"] < math.inf):
            return "steps and epochs must be above 0"
        for curve, columns in _CURVES.items():
            if any(len(point) != columns for point in member.get(curve, ())):
                return f"{curve} must have lists of {columns} numbers"
    matrix = result.get("test", result).get("confusion", {"matrix": []})["matrix"]
    if any(len(row) != len(matrix) for row in matrix):
        return "confusion.matrix must be square"
    return None


def read_predictions(folder: Path) -> dict[str, list[Predictions]]:
    """Reads a folder of `write_predictions`: name -> the `Predictions` of each member."""
    return {path.stem: read_prediction_file(path) for path in sorted(folder.glob("*.npz"))}


def read_prediction_file(path: Path) -> list[Predictions]:
    """Reads a file of `write_predictions`; a UserError says that it is damaged."""
    with _open_arrays(path, _REMEDY) as arrays:
        members = sorted({key.rpartition("/")[0] for key in arrays})
        return [_read_arrays(arrays, f"{member}/") for member in members]


def read_evaluation(workdir: Path, split: str) -> Optional[Predictions]:
    """Reads the predictions that `--mode=evaluate` wrote; None if they aren't the best model's."""
    path = workdir / "evaluation" / f"{split}.npz"
    if not path.is_file():
        return None
    with _open_arrays(path, "run --mode=evaluate again") as arrays:
        return _read_arrays(arrays) if int(arrays["step"]) == best_step(workdir) else None


@contextlib.contextmanager
def _open_arrays(path: Path, remedy: str) -> Iterator[Mapping[str, np.ndarray]]:
    """Opens arrays; whatever shows that they are damaged becomes a UserError."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            yield arrays
    except (*_DAMAGES, zipfile.BadZipFile, zlib.error) as error:
        raise UserError(f"{path} is damaged ({error}); {remedy}.") from None


def _read_arrays(arrays: Mapping[str, np.ndarray], prefix: str = "") -> Predictions:
    predictions, labels = (arrays[f"{prefix}{field}"] for field in Predictions._fields)
    if predictions.shape != labels.shape or labels.ndim != 1 or not len(labels):
        raise ValueError(f"{predictions.shape} predictions for {labels.shape} labels")
    if {predictions.dtype.kind, labels.dtype.kind} - set("uif"):
        raise ValueError(f"{labels.dtype} is no type of labels")
    return Predictions(predictions, labels)


def write_predictions(path: Path, workdirs: Mapping[str, Path], joins: bool = False) -> None:
    """Writes the best models' predictions for the test examples, if all members have them.

    Otherwise a file of that name is removed, since it would belong to another result. `joins` says
    that other members in the file stay; without a file nothing is written.
    """
    found = {member: read_evaluation(workdir, "test") for member, workdir in workdirs.items()}
    if None in found.values() or (joins and not path.is_file()):
        path.unlink(missing_ok=True)
        return
    arrays = {
        f"{member}/{field}": array
        for member, predictions in found.items()
        for field, array in predictions._asdict().items()
    }
    if joins:
        with _open_arrays(path, _REMEDY) as kept:
            arrays = {**kept, **arrays}
    write_arrays(path, **arrays)
