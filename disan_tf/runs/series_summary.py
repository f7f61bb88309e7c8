"""The summary of a series: its finished members' scores, and their mean and standard deviation."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Callable, Optional

import numpy as np

from disan_tf.common.errors import UserError
from disan_tf.common.tables import text_table
from disan_tf.runs.recorded_config import is_same_experiment, read_config
from disan_tf.runs.run_summary import SCORES, criteria, is_finished, summarise_run
from disan_tf.runs.schedule import Schedule
from disan_tf.runs.work_directory import changed_inputs

_LAYOUTS = ("seed-*", "fold-*", "seed-*/fold-*")  # of members' folders; a series has one layout
_SHARED = ("versions", "commit", "parameters", "inputs", "data", "init_from")  # of the first
_MEMBER_KEYS = (
    *("steps", "epochs", "minutes", "seconds_per_epoch"),
    *("best_step", "best_epoch", "minutes_to_best"),
)


def summarise_series(workdir: Path) -> dict:
    """Returns the finished members of a series, and the statistics of their scores.

    Members whose config is not the series' config, such as members with fewer steps, do not count.

    Returns:
      "config" of the series; "versions", "commit", "command", "parameters", "inputs", "data" and
      "init_from" of the first member that has them; means of the members' steps and times;
      "members", each with "name", "seed", "fold" (or None), "machine" if it is recorded,
      "began_with" (a model or "random weights") if the members differ in it, its steps, times and
      curves, and "scores": split -> score -> value, with an optimistic "best_on_<split>"
      for each split that was watched during training; "mean" and "standard_deviation" (over n - 1;
      None with a single member): split -> score -> value; "by_length", see `_by_length`; and for
      classes "confusion": the sum of the members' matrices on test.
    """
    runs = read_members(workdir)
    if not runs:
        raise UserError(f"{workdir} is a series without a finished member: train it.")
    config, first = read_config(workdir), runs[0][1]
    parts = [_of_one(folder.relative_to(workdir).as_posix(), run) for folder, run in runs]
    starts = [run.get("init_from") for _, run in runs]
    names = [start["name"] if start else "random weights" for start in starts]
    if len({*names}) > 1:  # --init_from=auto chose for each member
        for part, name in zip(parts, names):
            part["members"][0]["began_with"] = name
    began = next(filter(None, starts), None)
    return {
        "config": config,
        **{key: first[key] for key in _SHARED if key in first},
        **({"init_from": began} if began else {}),
        **_summarise(parts, first["command"], config),
    }


def extend(recorded: dict, added: dict) -> Optional[dict]:
    """Joins two results of one experiment whose seeds or folds were trained apart.

    Both are results of `summarise_series` or `summarise_run`. Returns the series of all members, as
    `summarise_series` returns it; None if there are `obstacles`.
    """
    if obstacles(recorded, added):
        return None
    parts = [_as_series(run) for run in (recorded, added)]
    return {
        **{key: recorded[key] for key in ("config", *_SHARED) if key in recorded},
        **_summarise(parts, recorded["command"] or added["command"], recorded["config"]),
    }


def obstacles(recorded: dict, added: dict) -> list[str]:
    """Describes why two results cannot be one series, such as "other versions"; [] if they can."""
    runs = recorded, added
    read = [(run["data"]["unit"], run["data"]["training_read"]) for run in runs]
    places = [{_place(member) for member in _as_series(run)["members"]} for run in runs]
    found = {
        "another config": not is_same_experiment(recorded["config"], added["config"]),
        "other input files": changed_inputs(recorded["inputs"], added["inputs"]),
        "other examples": read[0] != read[1],  # the other counts vary by fold
        "other versions": recorded.get("versions") != added.get("versions"),
        "other parameters": recorded.get("parameters") != added.get("parameters"),
        "another model at the start": recorded.get("init_from") != added.get("init_from"),
        "a seed and fold in both": places[0] & places[1],
    }
    return [name for name, is_so in found.items() if is_so]


def _as_series(run: dict) -> dict:
    return run if "members" in run else _of_one(member_name(run["config"]), run)


def fold_of(config: dict) -> Optional[int]:
    """Returns the fold of a config; None without folds, which a user's table writes as -1."""
    fold = config["data"].get("fold")
    return None if fold == -1 else fold


def member_name(config: dict) -> str:
    """Returns the name that a single training has as a member, such as "seed-1"."""
    seed, fold = config["seed"], fold_of(config)
    return f"seed-{seed}" if fold is None else f"seed-{seed}/fold-{fold}"


def member_folders(workdir: Path, planned: Sequence[str] = ()) -> list[Path]:
    """Returns the work directories of a series' members, finished or not, sorted by name.

    Raises UserError if these folders and the names of `planned` members do not all have the same
    layout: one training might count twice.
    """
    paths = (path for name in _LAYOUTS for path in workdir.glob(f"{name}/config.json"))
    folders = sorted(path.parent for path in paths)
    names = [*planned, *(folder.relative_to(workdir).as_posix() for folder in folders)]
    mixed = {re.sub(r"-\d+", "", name): name for name in names}
    if len(mixed) > 1:
        raise UserError(
            f"{workdir} cannot hold both {' and '.join(sorted(mixed.values()))}, which may be the "
            "same training; use another --workdir for one of them."
        )
    return folders


def members_of_config(workdir: Path) -> list[Path]:
    """Returns the `member_folders` whose config is the series' config but for seed and fold."""
    config = read_config(workdir)
    folders = member_folders(workdir)
    return [folder for folder in folders if is_same_experiment(read_config(folder), config)]


def read_members(workdir: Path) -> list[tuple[Path, dict]]:
    """Returns (folder, `summarise_run`) of each finished member, sorted by seed and fold.

    See `summarise_series` about members that do not count.
    """
    schedule = Schedule.of_file(workdir / "config.json", read_config(workdir)["train"])
    folders = [path for path in members_of_config(workdir) if is_finished(path, schedule)]
    members = [(folder, summarise_run(folder)) for folder in folders]
    return sorted(members, key=lambda member: _numbers(member[1]["config"]))


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
        for score in dict.fromkeys((*criteria(summary["config"]), *SCORES))
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


def _numbers(config):
    return config["seed"], fold_of(config) or 0


def _place(member):
    return member["seed"], member["fold"] or 0


def _of_one(name, run):
    """Returns a finished run as a series of one member: "members", "by_length", "confusion"."""
    splits = [key for key in run if key.startswith("best_on_") or key in run["data"]["splits"]]
    test = run.get("test", {})
    member = {
        "name": name,
        "seed": run["config"]["seed"],
        "fold": fold_of(run["config"]),
        **{key: run[key] for key in ("machine",) if key in run},
        **{key: run[key] for key in run if key in _MEMBER_KEYS or key.endswith("_curve")},
        "scores": {
            split: {key: value for key, value in run[split].items() if isinstance(value, float)}
            for split in splits
        },
    }
    lengths = {
        name: {"sentences": bin["count"], "accuracy": bin["accuracy"], "standard_deviation": None}
        for name, bin in test.get("by_length", {}).items()
    }
    confusion = {"confusion": test["confusion"]} if "confusion" in test else {}
    return {"members": [member], "by_length": lengths, **confusion}


def _summarise(parts, command, config):
    """Joins series: the keys of `summarise_series` that depend on all members."""
    members = sorted((member for part in parts for member in part["members"]), key=_place)
    scores, confusion = [member["scores"] for member in members], {}
    if all("confusion" in part for part in parts):
        matrices = [part["confusion"]["matrix"] for part in parts]
        confusion = {**parts[0]["confusion"], "matrix": np.sum(matrices, axis=0).tolist()}
    return {
        "command": series_command(command, members, config),
        **{key: round(_mean([member[key] for member in members]), 2) for key in _MEMBER_KEYS},
        "members": members,
        "mean": _over_members(scores, _mean),
        "standard_deviation": _over_members(scores, _standard_deviation),
        "by_length": _by_length(parts),
        **({"confusion": confusion} if confusion else {}),
    }


def _over_members(members: list, statistic: Callable) -> dict:
    """Returns split -> score -> statistic over the members, for scores that all members have."""
    return {
        split: {
            score: statistic([member[split][score] for member in members])
            for score in members[0][split]
            if all(score in member[split] for member in members)
        }
        for split in members[0]
        if all(split in member for member in members)
    }


def _mean(values):
    return float(np.mean(values))


def _standard_deviation(values):
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def _by_length(parts):
    """Computes the accuracy on test by length (DiSAN Fig. 5), over the members of all parts.

    The standard deviation is over all members: squares within the parts, and between their means.
    Bins in which a member has no sentence are left out; numeric labels have no bins.

    Returns:
      Bin -> {"sentences" (the mean over the members), "accuracy", "standard_deviation"}.
    """
    sizes = np.array([len(part["members"]) for part in parts])
    bins = {}
    for name in parts[0]["by_length"]:
        same_length = [part["by_length"].get(name, {"accuracy": None}) for part in parts]
        accuracies = [bin["accuracy"] for bin in same_length]
        if None in accuracies:
            continue
        mean = np.average(accuracies, weights=sizes)
        inside = [bin["standard_deviation"] or 0.0 for bin in same_length]
        squares = (sizes - 1) * np.square(inside) + sizes * np.square(accuracies - mean)
        bins[name] = {
            "sentences": float(
                np.average([bin["sentences"] for bin in same_length], weights=sizes)
            ),
            "accuracy": float(mean),
            "standard_deviation": (
                float(np.sqrt(squares.sum() / (sizes.sum() - 1))) if sizes.sum() > 1 else None
            ),
        }
    return bins
