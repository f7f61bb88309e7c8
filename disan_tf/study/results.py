"""Readers and writers of recorded results; files are checked as they are read.

<folder>/results/<name>.json      what `summarise_run` or `summarise_series` returned, "command",
                                  "paper" (the paper's figures) and "note" (why ours differ)
<folder>/predictions/<name>.npz   each member's predictions for the test examples
<folder>/benchmarks/<name>.json   what `--mode=benchmark` wrote
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Optional

import numpy as np

from disan_tf.common.atomic import write_arrays
from disan_tf.common.checks import suggestion
from disan_tf.common.errors import UserError
from disan_tf.common.files import read_json
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.common.machine import MACHINE
from disan_tf.common.schema import check_schema
from disan_tf.metrics.differences import (
    PAIRED,
    Interval,
    Predictions,
    join_folds,
    score_interval,
    seeds_interval,
)
from disan_tf.runs.recorded_config import CONFIG, read_options
from disan_tf.runs.run import (
    SPLITS,
    Member,
    Run,
    open_arrays,
    options_of,
    read_arrays,
    read_evaluation,
    read_run,
    shown_scores,
)
from disan_tf.runs.run_summary import criteria
from disan_tf.runs.series_summary import fold_of
from disan_tf.runs.work_directory import START

_REMEDY = "restore it from the repository"
_SPEEDS = {"epoch_seconds?": float, "inference_pairs_per_second?": float}
_MACHINE = {"processor": str, "threads": int, "tensorflow": str}
_BENCHMARK = {"machine": _MACHINE, "encoders?": {"encoders": {str: _SPEEDS}}}
UNKNOWN = "not recorded"  # in tables
SEEDS_ONLY = "seeds only"  # what an interval covers
_NULL = type(None)
_LENGTHS = {str: {"count": int, "accuracy": (float, _NULL)}}
_MEAN_LENGTHS = {str: {"sentences": float, "accuracy": float, "standard_deviation": (float, _NULL)}}
_CONFUSION = {"matrix": [[int]]}
_CURVES = {"dev_curve": 2, "test_curve": 2, "selection_curve": 3}  # numbers of a point
_TRAINED = {
    **{"steps": float, "epochs": float, "best_step": int, "minutes": float, "machine?": MACHINE},
    **dict.fromkeys(("dev_curve", "test_curve?", "selection_curve?"), [[float]]),
}
_RESULT = {
    "command": (str, _NULL),
    "paper": str,
    "note": str,
    "config": CONFIG,
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
    """Recorded results, predictions and benchmarks, by the names of their files.

    The predictions are of each seed; those of its folds are joined.
    """

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
    kept = sorted((folder / "predictions").glob("*.npz"))
    predictions = {path.stem: read_predictions(path) for path in kept}
    results = read_results(folder / "results")
    for path in kept:
        if path.stem not in results:
            continue
        members, parts = members_of(results[path.stem]), predictions[path.stem]
        if len(members) != len(parts):
            raise UserError(
                f"{path} holds the predictions of {len(parts)} trainings, and the "
                f"result has {len(members)}; {_REMEDY}, or record its runs again."
            )
        predictions[path.stem] = by_seed(members, parts)
    return Records(results, predictions, benchmarks)


def read_results(folder: Path) -> dict[str, dict]:
    """Reads the results of the papers' models, which did not begin with a trained one, by name.

    Raises:
      UserError: a file is no result, or contradicts itself.
    """
    results = {path.stem: read_result(path) for path in sorted(folder.glob("*.json"))}
    return {name: run for name, run in results.items() if "init_from" not in run}


def read_result(path: Path) -> dict:
    """Reads a recorded result; see `read_results`."""
    result = read_json(path, _REMEDY, _RESULT)
    check_schema(path, result, _SERIES if "members" in result else _RUN, _REMEDY)
    if wrong := _contradiction(result):
        raise UserError(f"{path}: {wrong}; {_REMEDY}.")
    return {**result, "config": read_options(path, result["config"], _REMEDY)}


def _contradiction(result: dict) -> Optional[str]:
    """Describes a contradiction in a result whose types are right, or returns None."""
    members = members_of(result)
    if not members:
        return "members is empty"
    for member in members:
        if not (member["steps"] > 0 and 0 < member["epochs"] < math.inf):
            return "steps and epochs must be above 0"
        if not (member["dev_curve"] and member.get("scores", member).get("dev")):
            return "dev_curve or the dev scores are missing"
        for curve, columns in _CURVES.items():
            if any(len(point) != columns for point in member.get(curve, ())):
                return f"{curve} must have lists of {columns} numbers"
    matrix = result.get("test", result).get("confusion", {"matrix": []})["matrix"]
    if any(len(row) != len(matrix) for row in matrix):
        return "confusion.matrix must be square"
    return None


def read_predictions(path: Path) -> list[Predictions]:
    """Reads a file of `write_predictions`; a UserError says that it is damaged."""
    with open_arrays(path, _REMEDY) as arrays:
        members = sorted({key.rpartition("/")[0] for key in arrays})
        return [read_arrays(arrays, f"{member}/") for member in members]


def write_predictions(path: Path, workdirs: Mapping[str, Path], joins: bool) -> None:
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
        with open_arrays(path, _REMEDY) as kept:
            arrays = {**kept, **arrays}
    write_arrays(path, **arrays)


def read_any_run(name: str, results: Path = CHECKPOINTS) -> Run:
    """Reads a work directory, a series or, from the folder `results`, a recorded result by name.

    Raises:
      UserError: there is no such run, it was never evaluated, or its files are damaged.
    """
    folder, recorded = Path(name), results / "results" / f"{name}.json"
    if (folder / "config.json").is_file():
        return read_run(name)
    if recorded.is_file():
        path = results / "predictions" / f"{name}.npz"
        kept = read_predictions(path) if path.is_file() else []
        return _as_run(name, read_result(recorded), kept)
    known = [str(path.parent) for path in folder.parent.glob("*/config.json")]
    known += [path.stem for path in recorded.parent.glob("*.json")]
    raise UserError(
        f"{name} is neither a work directory nor a recorded result{suggestion(name, known)}"
    )


def _as_run(name: str, result: dict, predictions: Sequence[Predictions]) -> Run:
    """Returns the run of a recorded result and its kept predictions on test."""
    parts, members, names = members_of(result), [], criteria(result["config"])
    for number, part in enumerate(parts):
        scores, epochs = part.get("scores", part), part["epochs"] / part["steps"]
        splits = [split for split in (*SPLITS, "train") if split in scores]
        kept = {split: shown_scores(name, scores[split], names) for split in splits}
        predicted = {"test": predictions[number]} if len(predictions) == len(parts) else {}
        curve = [(step * epochs, value) for step, value in part["dev_curve"]]
        of_member = part["seed"], part["fold"]
        members.append(Member(None, of_member, part["best_step"], kept, predicted, curve))
    options = options_of(result["config"], result.get("init_from"))
    matrix = result.get("test", result).get("confusion", {"matrix": ()})["matrix"]
    return Run(name, options, members, len(matrix))


def mean(run: dict, split: str, score: str) -> Optional[float]:
    """Returns a run's score on a split, or a series' mean; None where there is none."""
    return run.get("mean", run).get(split, {}).get(score)


def standard_deviation(run: dict, split: str, score: str) -> Optional[float]:
    """Returns the standard deviation over a series; None where there is none."""
    return run.get("standard_deviation", {}).get(split, {}).get(score)


def difference_to_published(
    run: dict, kept: Sequence[Predictions], split: str, score: str, published: float
) -> tuple[float, Optional[Interval], str]:
    """Returns a run's score minus a published one, which counts as a constant, and its interval.

    The interval covers seeds and examples, or the seeds alone if predictions were not kept.

    Args:
      run: a recorded result.
      kept: the predictions of each seed for the test examples; empty if they were not kept.
      split, score: the names of the split and of the score.
      published: the score that a paper prints, without its variance.

    Returns:
      The difference, its interval or None, and what the interval covers or why it is None.
    """
    value, members = mean(run, split, score) - published, members_of(run)
    folds = any(member["fold"] is not None for member in members)
    if any(not np.array_equal(each.labels, kept[0].labels) for each in kept):
        return value, None, "no interval: the seeds have different test examples"
    if kept and split == "test" and score in PAIRED:
        interval, covers = score_interval(kept, score)
    elif len(members) > 1 and not folds:
        scores = [member["scores"][split][score] for member in members]
        interval, covers = seeds_interval(scores, [0.0, 0.0]), SEEDS_ONLY
    else:
        return value, None, "no interval: predictions were not kept"
    # A mean over folds differs a little from the score on all of their examples.
    low, high = (value + limit - interval.value for limit in interval[1:])
    return value, Interval(value, low, high), covers


def by_seed(members: Sequence[dict], kept: Sequence[Predictions]) -> list[Predictions]:
    """Returns the predictions of a run's members, with each seed's folds joined."""
    return join_folds([(member["seed"], member["fold"]) for member in members], kept)


def members_of(run: dict) -> list[dict]:
    """Returns a series' trainings, which have "seed" and "fold"; a run is its own member."""
    config = run["config"]
    single = {**run, "seed": config["seed"], "fold": fold_of(config)}
    return run.get("members", [single])


def seeds_of(run: dict) -> list[int]:
    """Returns the seeds of a run or series."""
    return sorted({member["seed"] for member in members_of(run)})


def describe_members(run: dict) -> str:
    """Describes seeds and folds, as "seed 1", "seeds 1, 2, 3" or "seed 1, 10 folds"."""
    folds = sorted({member["fold"] for member in members_of(run)} - {None})
    parts = [_list("seed", seeds_of(run))]
    if folds:
        number = run["config"]["data"].get("folds")
        whole = len(folds) == number
        parts.append(f"{number} folds" if whole else f"{_list('fold', folds)} of {number}")
    return ", ".join(parts)


def _list(noun, numbers):
    return f"{noun}{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def training_examples(run: dict) -> int:
    """Returns how many examples a run was trained on.

    They are fewer than it read where long sentences, a dev part or a test fold are left out, and
    more where a tree has several phrases.
    """
    kept = run["data"]["training_examples"]
    return min(run["config"]["train"].get("examples") or kept, kept)


def training_share(run: dict) -> Optional[float]:
    """Returns a run's share of the official training examples; None where it is not recorded.

    Phrases of trees count as the trees.
    """
    units = min(training_examples(run), run["data"]["training_read"])
    official = run["data"]["official_training_examples"]
    return units / official if official else None


def describe_examples(run: dict) -> str:
    """Describes `training_share`, as "89,169 of 550,152 pairs (16.2 %)"."""
    data, share = run["data"], training_share(run)
    if share is None:
        return UNKNOWN
    official = data["official_training_examples"]
    units = min(training_examples(run), data["training_read"])
    return f"{units:,} of {official:,} {data['unit']} ({percent(share)})"


def describe_vectors(run: dict) -> str:
    """Describes the share of training tokens with a vector, as "92.0 %" or "no vectors"."""
    covered = run["data"]["training_tokens_covered"]
    if covered is None:
        return UNKNOWN
    return percent(covered) if run["config"]["data"]["vectors"] else "no vectors"


def vectors_of(run: dict) -> str:
    """Describes a run's vector file, as "glove/glove.6B.100d*.txt, 100 dimensions"."""
    data = run["config"]["data"]
    padded = f"{data['vector_dim']} dimensions padded to " if data.get("vector_dim") else ""
    return f"{data['vectors'] or 'no vectors'}, {padded}{data['embedding_dim']} dimensions"


def percent(share: float) -> str:
    """Formats a share with three digits, such as "92.0 %" or "3.64 %"."""
    text = f"{100 * share:#.3g}".rstrip(".")
    return f"{text} %"
