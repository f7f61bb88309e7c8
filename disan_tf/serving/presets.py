"""Trained models by name: the table `checkpoints/manifest.tsv` and the folders beside it."""

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

from disan_tf.common.checks import join_choices, suggestion
from disan_tf.common.errors import UserError
from disan_tf.common.files import read_json, read_lines, sha256
from disan_tf.common.installation import CHECKPOINTS

_CRITERIA = ("accuracy", "pearson")
COLUMNS = ("name", "config", "sha256", "parameters", "criterion", "dev", "test")


class Preset(NamedTuple):
    """A released model; `score` is the value of `metric`, "accuracy" or "pearson", on the test set.

    Its task is "classification" of one text, "nli" or "relatedness" of two; the classes are names,
    or the points of the scores' scale; the parameters are counted without word vectors.
    """

    name: str
    task: str
    classes: tuple[str, ...]
    metric: str
    score: float
    parameters: int


def presets(checkpoints: Path = CHECKPOINTS) -> list[Preset]:
    """Lists the released models of the manifest in a folder.

    Raises:
      UserError: the manifest lists no models or has a wrong value, or a model's folder is missing
        or damaged.
    """
    path, models = checkpoints / "manifest.tsv", []
    for name, row in read_manifest(path).items():
        try:
            score, parameters = float(row["test"]), int(row["parameters"])
        except ValueError:
            score, parameters = math.nan, 0
        if not math.isfinite(score) or row["criterion"] not in _CRITERIA:
            raise UserError(
                f"{path}, row {name}: parameters and test must be numbers, and criterion "
                f"{join_choices(_CRITERIA)}; restore the file."
            )
        folder = _check(checkpoints / name, row["sha256"])
        info = read_json(folder / "model.json", "restore the folder from the repository")
        task, classes = info["config"]["task"]["name"], tuple(info["classes"])
        models.append(Preset(name, task, classes, row["criterion"], score, parameters))
    if not models:
        raise UserError(f"{path} lists no models; restore the file.")
    return models


def find_bundle(checkpoint: Union[str, Path], checkpoints: Path = CHECKPOINTS) -> Path:
    """Finds the folder of a released model, a work directory's best model, or a folder of a bundle.

    A name in the manifest of `checkpoints` means the released model, also beside a folder of that
    name, which would escape the check of the digest; if that folder holds a model, a line on
    standard error says so. A string with a separator (`./name`) and a `Path` mean the folder.

    Raises:
      UserError: there is no such model, or its digest differs from the manifest.
    """
    name, path = str(checkpoint), Path(checkpoint).expanduser()
    released = read_manifest(checkpoints / "manifest.tsv")
    if name in released and (isinstance(checkpoint, str) or not path.exists()):
        checked = _check(checkpoints / name, released[name]["sha256"])
        if _in_folder(path) and not path.samefile(checked):
            print(
                f"warning: {name} names the released model; write ./{name} for the folder.",
                file=sys.stderr,
            )
        return checked
    if folder := _in_folder(path):
        return folder
    if (path / "series.json").is_file():
        raise UserError(f"{checkpoint} is a series of trainings; name the folder of one of them.")
    if (path / "config.json").is_file():
        raise UserError(f"{checkpoint} holds a training that was never evaluated; train it longer.")
    beside = path.parent.glob("*/best/model.json")
    trained = [str(path.parent / model.parts[-3]) for model in beside]
    raise UserError(
        f"{name} is neither a work directory with a trained model nor a released model "
        f"({', '.join(released) or 'none'}){suggestion(name, [*released, *trained])}"
    )


def _in_folder(path: Path) -> Optional[Path]:
    """Returns the folder of a work directory's best model, or of a bundle; None without one."""
    folders = (path / "best", path)
    return next((folder for folder in folders if (folder / "model.json").is_file()), None)


def _check(folder: Path, digest: str) -> Path:
    """Returns a folder whose `model.json`, which holds the other files' digests, has a digest."""
    path = folder / "model.json"
    if not path.is_file() or sha256(path) != digest:
        raise UserError(
            f"{path} is not the file that the manifest describes (SHA-256 {digest[:12]}...); "
            "restore the folder from the repository."
        )
    return folder


def model_name(bundle: Any) -> str:
    """Returns a `Bundle`'s name: its folder's if it is released, otherwise its config's."""
    is_released = bundle.directory.resolve().parent == CHECKPOINTS
    return bundle.directory.name if is_released else bundle.info["name"]


def describe_task(model: Any, classes: Sequence) -> str:
    """Describes what a model, or its class, reads and predicts."""
    sentences = "one sentence" if len(model.fields) == 1 else " and ".join(model.fields)
    if model.label_dtype.is_floating:
        return f"{sentences} -> how related they are, from {classes[0]} to {classes[-1]}"
    return f"{sentences} -> {', '.join(classes)}"


def read_manifest(path: Path) -> dict:
    """Reads the manifest: name -> row.

    Raises:
      UserError: a row lacks the columns of `COLUMNS`, or is damaged.
    """
    rows, fault = {}, ""
    for number, line in read_lines(path):
        row = line.split("\t")
        if len(row) != len(COLUMNS) or (number == 1 and tuple(row) != COLUMNS):
            fault = f"not the columns {', '.join(COLUMNS)}"
        elif row[0] in rows or not all(cell.isprintable() for cell in row):
            fault = "a control character, or a name for the second time"
        if fault:
            raise UserError(f"{path}, line {number}: {fault}; restore the file.")
        rows[row[0]] = dict(zip(COLUMNS, row))
    rows.pop(COLUMNS[0], None)
    return rows
