"""Reads a work directory, a series or a recorded result, also of a training that goes on."""

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Optional

from disan_tf.common.errors import UserError
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.common.options import flatten, suggestion
from disan_tf.common.schema import check_schema
from disan_tf.metrics.differences import Predictions
from disan_tf.runs.metrics_log import MetricsLog
from disan_tf.runs.run_summary import CRITERIA, SCORES, best_step, read_scores
from disan_tf.runs.series_summary import MEMBER_CONFIGS
from disan_tf.runs.work_directory import read_config, read_start
from disan_tf.study.descriptions import members_of
from disan_tf.study.results import read_evaluation, read_prediction_file, read_result

SPLITS = ("dev", "test", "mismatched")  # in tables
_KEPT = (*SCORES, "perplexity")


class Member(NamedTuple):
    """One training of a run."""

    folder: Optional[Path]  # its work directory; None for a recorded result
    best: int  # the step of its best model
    scores: Mapping[str, Mapping[str, float]]  # split -> score -> value, of the best model
    predictions: Mapping[str, Predictions]  # split -> predictions of the best model
    curve: Sequence[tuple[float, float]]  # epochs with the dev scores that choose the best model


class Run(NamedTuple):
    """A training, or a series of trainings that differ in seed or fold."""

    name: str  # the name that a user gave
    config: Mapping[str, object]  # option, such as "train.dropout" or "init_from" -> value
    members: Sequence[Member]  # the evaluated trainings

    @property
    def criterion(self) -> str:
        """The score that chooses the best model on dev."""
        return next(score for score in CRITERIA if score in self.members[0].scores["dev"])

    def values(self, split: str, score: str) -> list[float]:
        """Returns a score of every member on a split; [] unless all members have it."""
        found = [member.scores.get(split, {}).get(score) for member in self.members]
        return [] if None in found else found


def read_run(name: str, results: Path = CHECKPOINTS) -> Run:
    """Reads a work directory, a series or, from the folder `results`, a recorded result by name.

    Raises:
      UserError: there is no such run, it was never evaluated, or its files are damaged.
    """
    folder, recorded = Path(name), results / "results" / f"{name}.json"
    if (folder / "config.json").is_file():
        return _read_folder(name, folder)
    if recorded.is_file():
        path = results / "predictions" / f"{name}.npz"
        kept = read_prediction_file(path) if path.is_file() else []
        return _of_result(name, read_result(recorded), kept)
    known = [str(path.parent) for path in folder.parent.glob("*/config.json")]
    known += [path.stem for path in recorded.parent.glob("*.json")]
    raise UserError(
        f"{name} is neither a work directory nor a recorded result{suggestion(name, known)}"
    )


def _read_folder(name: str, folder: Path) -> Run:
    folders = [folder]
    if (folder / "series.json").is_file():
        found = chain.from_iterable(map(folder.glob, MEMBER_CONFIGS))
        folders = sorted(path.parent for path in found)
    trained = [path for path in folders if (path / "best" / "model.json").is_file()]
    if not trained:
        raise UserError(f"{name} holds a training that was never evaluated; train it longer.")
    options = _options(read_config(folder), read_start(trained[0]))
    return Run(name, options, [_read_member(path) for path in trained])


def _options(config: dict, start: Optional[dict]) -> dict:
    return {**flatten(config), **({"init_from": start["name"]} if start else {})}


def _read_member(folder: Path) -> Member:
    best = best_step(folder)
    log, scores = folder / "metrics.jsonl", read_scores(folder)
    dev = [record for record in MetricsLog.read(log) if record["split"] == "dev"]
    at_best = next((record for record in reversed(dev) if record["step"] == best), {})
    criterion = next((score for score in CRITERIA if score in at_best), None)
    if criterion is None:
        raise UserError(f"{log} lacks the dev score of the best model, of step {best}; restore it.")
    scores["dev"] = {**at_best, **scores.get("dev", {})}
    predictions = {split: read_evaluation(folder, split) for split in scores}
    return Member(
        folder,
        best,
        {split: _kept(folder, values) for split, values in scores.items()},
        {split: found for split, found in predictions.items() if found is not None},
        [(one["epoch"], _kept(log, one)[criterion]) for one in dev if criterion in one],
    )


def _of_result(name: str, result: dict, predictions: Sequence[Predictions]) -> Run:
    """Returns the run of a recorded result and its kept predictions on test."""
    parts, members = members_of(result), []
    for number, part in enumerate(parts):
        scores, epochs = part.get("scores", part), part["epochs"] / part["steps"]
        splits = [split for split in (*SPLITS, "train") if split in scores]
        kept = {split: _kept(name, scores[split]) for split in splits}
        predicted = {"test": predictions[number]} if len(predictions) == len(parts) else {}
        curve = [(step * epochs, value) for step, value in part["dev_curve"]]
        members.append(Member(None, part["best_step"], kept, predicted, curve))
    return Run(name, _options(result["config"], result.get("init_from")), members)


def _kept(place: object, scores: Mapping) -> dict[str, float]:
    """Returns the scores to show; raises UserError for one that is no number."""
    check_schema(place, scores, {f"{name}?": float for name in _KEPT}, "evaluate it again")
    return {name: float(scores[name]) for name in _KEPT if name in scores}
