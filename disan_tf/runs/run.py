"""Reads the scores and predictions of a training or a series, also while it goes on."""

import contextlib
import io
import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Optional

import numpy as np
from numpy.lib import format as npy

from disan_tf.common.errors import UserError
from disan_tf.common.options import flatten
from disan_tf.common.schema import check_schema
from disan_tf.metrics.differences import Predictions
from disan_tf.runs.metrics_log import MetricsLog
from disan_tf.runs.recorded_config import read_config
from disan_tf.runs.run_summary import (
    CRITERIA,
    SCORES,
    best_step,
    count_classes,
    criteria,
    read_scores,
)
from disan_tf.runs.series_summary import fold_of, member_folders, members_of_config
from disan_tf.runs.work_directory import read_start

SPLITS = ("dev", "test", "mismatched")  # in tables
_KEPT = (*SCORES, "perplexity")
LARGEST_ARRAYS = 1 << 28  # bytes in a file; 30 million predictions and their labels have fewer


class Member(NamedTuple):
    """One training of a run."""

    folder: Optional[Path]  # its work directory; None for a recorded result
    seed_and_fold: tuple[int, Optional[int]]  # None = no fold
    best: int  # the step of its best model
    scores: Mapping[str, Mapping[str, float]]  # split -> score -> value, of the best model
    predictions: Mapping[str, Predictions]  # split -> predictions of the best model
    curve: Sequence[tuple[float, float]]  # epochs with the dev scores that choose the best model


class Run(NamedTuple):
    """A training, or a series of trainings that differ in seed or fold."""

    name: str  # the name that a user gave
    config: Mapping[str, object]  # option, such as "train.dropout" or "init_from" -> value
    members: Sequence[Member]  # the evaluated trainings
    classes: int = 0  # number of classes; 0 = not known

    @property
    def criterion(self) -> str:
        """The score that chooses the best model on dev."""
        found = (score for score in CRITERIA if score in self.members[0].scores["dev"])
        return str(self.config.get("train.criterion") or next(found))

    def values(self, split: str, score: str) -> list[float]:
        """Returns a score of every member on a split; [] unless all members have it."""
        found = [member.scores.get(split, {}).get(score) for member in self.members]
        return [] if None in found else found


def read_run(name: str) -> Run:
    """Reads a work directory or a series.

    Raises:
      UserError: the folder was never evaluated, or its files are damaged.
    """
    folder = Path(name)
    folders = members_of_config(folder) if member_folders(folder) else [folder]
    trained = [path for path in folders if (path / "best" / "model.json").is_file()]
    if not trained:
        raise UserError(f"{name} holds a training that was never evaluated; train it longer.")
    config = read_config(folder)
    members = [_read_member(path, criteria(config)) for path in trained]
    classes = count_classes(trained[0])
    return Run(name, options_of(config, read_start(trained[0])), members, classes)


def options_of(config: dict, start: Optional[dict]) -> dict:
    """Returns the options of a run: its config, and "init_from" if it began with a model."""
    return {**flatten(config), **({"init_from": start["name"]} if start else {})}


def _read_member(folder: Path, names: Sequence[str]) -> Member:
    best = best_step(folder)
    log, scores = folder / "metrics.jsonl", read_scores(folder)
    dev = [record for record in MetricsLog.read(log) if record["split"] == "dev"]
    at_best = next((record for record in reversed(dev) if record["step"] == best), {})
    criterion = next((score for score in names if score in at_best), None)
    if criterion is None:
        raise UserError(
            f"{log} lacks the dev score of the best model, of step {best}; wait for the next "
            "evaluation, or resume the training."
        )
    scores["dev"] = {**at_best, **scores.get("dev", {})}
    predictions = {split: read_evaluation(folder, split) for split in scores}
    config = read_config(folder)
    return Member(
        folder,
        (config["seed"], fold_of(config)),
        best,
        {split: shown_scores(folder, values, names) for split, values in scores.items()},
        {split: found for split, found in predictions.items() if found is not None},
        [
            (one["epoch"], shown_scores(log, one, names)[criterion])
            for one in dev
            if criterion in one
        ],
    )


def shown_scores(place: object, scores: Mapping, names: Sequence[str]) -> dict[str, float]:
    """Returns the scores to show; raises UserError for one that is no number.

    `names` is the result of `criteria`.
    """
    shown = dict.fromkeys((*names, *_KEPT))
    check_schema(place, scores, {f"{name}?": float for name in shown}, "evaluate it again")
    return {name: float(scores[name]) for name in shown if name in scores}


def read_evaluation(workdir: Path, split: str) -> Optional[Predictions]:
    """Reads the predictions that `--mode=evaluate` wrote; None if they aren't the best model's."""
    path = workdir / "evaluation" / f"{split}.npz"
    if not path.is_file():
        return None
    with open_arrays(path, "run --mode=evaluate again") as arrays:
        return read_arrays(arrays) if int(arrays["step"]) == best_step(workdir) else None


@contextlib.contextmanager
def open_arrays(path: Path, remedy: str) -> Iterator[Mapping[str, np.ndarray]]:
    """Yields the arrays of a file; whatever shows that they are damaged becomes a UserError."""
    try:
        yield _read_npz(path)
    except (OSError, ValueError, TypeError, KeyError, OverflowError) as error:
        raise UserError(f"{path} is damaged ({error}); {remedy}.") from None


def _read_npz(path: Path) -> dict[str, np.ndarray]:
    """Reads an `.npz` file; raises OSError or ValueError if it is damaged or too large."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
            if size > LARGEST_ARRAYS:
                raise ValueError(f"it expands to {size:,} bytes, more than {LARGEST_ARRAYS:,}")
            contents = {it.filename: io.BytesIO(archive.read(it)) for it in archive.infolist()}
        return {
            name.removesuffix(".npy"): npy.read_array(content, allow_pickle=False)
            for name, content in contents.items()
        }
    except OSError:
        raise
    except Exception as error:  # damaged archives and headers of arrays may raise any error
        raise ValueError(" ".join(str(error).split())[:200] or type(error).__name__) from None


def read_arrays(arrays: Mapping[str, np.ndarray], prefix: str = "") -> Predictions:
    """Returns the predictions under a prefix; raises ValueError if they do not fit the labels."""
    predictions, labels = (arrays[f"{prefix}{field}"] for field in Predictions._fields)
    if predictions.shape != labels.shape or labels.ndim != 1 or not len(labels):
        raise ValueError(f"{predictions.shape} predictions for {labels.shape} labels")
    if {predictions.dtype.kind, labels.dtype.kind} - set("uif"):
        raise ValueError(f"{labels.dtype} is no type of labels")
    return Predictions(predictions, labels)


def find_runs(root) -> Iterator[Path]:
    """Yields work directories and series at and below `root`, without members of series."""
    for folder, folders, files in os.walk(root):
        folders.sort()
        if "series.json" in files or "config.json" in files:
            folders.clear()
            yield Path(folder)
