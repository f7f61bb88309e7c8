"""The summary of a series: its finished members' scores, their mean and deviation."""

import shlex
from itertools import chain
from pathlib import Path
from typing import Callable

import numpy as np
from ml_collections import ConfigDict

from disan_tf.common.errors import UserError
from disan_tf.common.tables import text_table
from disan_tf.runs.run_summary import SCORES, is_finished, summarise_run
from disan_tf.runs.work_directory import read_config

MEMBER_CONFIGS = tuple(f"{name}/config.json" for name in ("seed-*", "fold-*", "seed-*/fold-*"))
_MEMBER_KEYS = (
    "steps",
    "epochs",
    "minutes",
    "seconds_per_epoch",
    "best_step",
    "best_epoch",
    "minutes_to_best",
)


def summarise_series(workdir: Path) -> dict:
    """Returns the finished members of a series, and the mean and deviation of their scores.

    Returns:
      "config" of the series; "versions", "commit", "command", "parameters", "inputs", "data" and,
      if it has one, "init_from" of its first member; means of the members' steps and times;
      "members", each with "name", "seed", "fold" (or None), "machine" if it is recorded, its steps,
      times and curves, and
      "scores": split -> score -> value, with an optimistic "best_on_<split>" for each split that
      was watched during training (`config.evaluate.splits`); "mean" and "standard_deviation" (over
      n - 1; None with a single member): split -> score -> value; "by_length", see `_by_length`; and
      for classes "confusion": the sum of the members' matrices on test.

    Raises:
      UserError: no member is finished.
    """
    runs = read_members(workdir)
    if not runs:
        raise UserError(f"{workdir} is a series without a finished member: train it.")
    config = read_config(workdir)
    members = [_describe(workdir, folder, run) for folder, run in runs]
    scores = [member["scores"] for member in members]
    first = runs[0][1]
    return {
        "config": config,
        **{key: first[key] for key in ("versions", "commit", "parameters", "inputs", "data")},
        **({"init_from": first["init_from"]} if "init_from" in first else {}),
        "command": series_command(first["command"], members, config),
        **{key: round(_mean([member[key] for member in members]), 2) for key in _MEMBER_KEYS},
        "members": members,
        "mean": _over_members(scores, _mean),
        "standard_deviation": _over_members(scores, _deviation),
        "by_length": _by_length([run for _, run in runs]),
        **_confusion([run["test"] for _, run in runs]),
    }


def read_members(workdir: Path) -> list[tuple[Path, dict]]:
    """Returns (folder, `summarise_run`) of each finished member, sorted by seed and fold."""
    members = []
    for path in chain.from_iterable(map(workdir.glob, MEMBER_CONFIGS)):
        config = ConfigDict(read_config(path.parent))
        if is_finished(path.parent, config):
            members.append((path.parent, summarise_run(path.parent)))
    return sorted(members, key=lambda member: _place(member[1]["config"]))


def series_command(command, members, config):
    """Returns a member's command from `run.json`, with the seeds and folds of all `members`."""
    if command is None:
        return None
    numbers = {
        "seeds": sorted({member["seed"] for member in members if "seed-" in member["name"]}),
        "folds": sorted({member["fold"] for member in members if "fold-" in member["name"]}),
    }
    texts = {name: ",".join(map(str, values)) for name, values in numbers.items() if values}
    if texts.get("folds") and len(numbers["folds"]) == config["data"]["folds"]:
        texts["folds"] = "all"
    parts = [part for part in shlex.split(command) if not part.startswith(("--seeds", "--folds"))]
    return shlex.join([*parts, *(f"--{name}={text}" for name, text in texts.items())])


def render_series(summary: dict) -> str:
    """Formats the scores of a series as a table."""
    columns = [
        (split, score)
        for split, scores in summary["mean"].items()
        for score in SCORES
        if score in scores
    ]
    members = {member["name"]: member["scores"] for member in summary["members"]}
    members.update({"mean": summary["mean"], "standard deviation": summary["standard_deviation"]})
    return text_table(
        [
            {"": name, **{" ".join(column): scores[column[0]].get(column[1]) for column in columns}}
            for name, scores in members.items()
        ]
    )


def _place(config):
    return config["seed"], config["data"].get("fold", 0)


def _describe(workdir, folder, run):
    splits = [key for key in run if key.startswith("best_on_") or key in run["data"]["splits"]]
    return {
        "name": folder.relative_to(workdir).as_posix(),
        "seed": run["config"]["seed"],
        "fold": run["config"]["data"].get("fold"),
        **{key: run[key] for key in ("machine",) if key in run},
        **{key: run[key] for key in run if key in _MEMBER_KEYS or key.endswith("_curve")},
        "scores": {split: _scores(run[split]) for split in splits},
    }


def _scores(scores):
    return {key: value for key, value in scores.items() if isinstance(value, float)}


def _over_members(members: list, statistic: Callable) -> dict:
    """Returns split -> score -> statistic over the members, for splits that all members have."""
    return {
        split: {
            score: statistic([member[split][score] for member in members])
            for score in members[0][split]
        }
        for split in members[0]
        if all(split in member for member in members)
    }


def _mean(values):
    return float(np.mean(values))


def _deviation(values):
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def _confusion(scores):
    """Returns {"confusion"} with the sum of the members' matrices; {} if a member has none."""
    if not all("confusion" in member for member in scores):
        return {}
    matrices = [member["confusion"]["matrix"] for member in scores]
    return {"confusion": {**scores[0]["confusion"], "matrix": np.sum(matrices, axis=0).tolist()}}


def _by_length(runs):
    """Computes the accuracy on test by length (DiSAN Fig. 5).

    Bins in which a member has no sentence are left out; numeric labels have no bins.

    Returns:
      Bin -> {"sentences" (the mean over the members), "accuracy", "standard_deviation"}.
    """
    members = [run["test"].get("by_length", {}) for run in runs]
    bins = {}
    for name in members[0]:
        accuracies = [member[name]["accuracy"] for member in members]
        if None not in accuracies:
            bins[name] = {
                "sentences": _mean([member[name]["count"] for member in members]),
                "accuracy": _mean(accuracies),
                "standard_deviation": _deviation(accuracies),
            }
    return bins
