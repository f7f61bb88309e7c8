"""Recorded results, single runs and series alike: `checkpoints/results/*.json`.

A single run is what `summarise_run` returns, a series what `summarise_series` returns, each with
"paper" (what the paper reports), "note" (why ours differs) and "command".
"""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Optional

import numpy as np

from disan_tf.errors import UserError
from disan_tf.files import read_json, write_arrays
from disan_tf.reporting.differences import Answers
from disan_tf.training.run_summary import best_step

_UNKNOWN = "not recorded"
_RESULT = {"config": {"name": str, "seed": int, "data": dict, "train": dict}}


def read_results(folder: Path) -> dict[str, dict]:
    """Name -> result of each JSON file of a folder, by name."""
    return {
        path.stem: read_json(path, "restore it from the repository", _RESULT)
        for path in sorted(folder.glob("*.json"))
    }


def read_predictions(folder: Path) -> dict[str, list[Answers]]:
    """Name -> the `Answers` of each member of a recorded run or series, as `write_predictions`."""
    found = {}
    for path in sorted(folder.glob("*.npz")):
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
                members = sorted({key.rpartition("/")[0] for key in arrays})
                found[path.stem] = [
                    Answers(*(arrays[f"{member}/{field}"] for field in Answers._fields))
                    for member in members
                ]
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise UserError(
                f"{path} is damaged ({error}); restore it from the repository."
            ) from None
    return found


def write_predictions(path: Path, workdirs: Mapping[str, Path]) -> None:
    """Keeps what the best models answered to the test examples, if all of them wrote it down.

    Args:
      path: of the file.
      workdirs: name of each member -> its work directory.
    """
    arrays = {}
    for member, workdir in workdirs.items():
        source = workdir / "evaluation" / "test.npz"
        if not source.is_file():
            return
        with np.load(source, allow_pickle=False) as answers:
            if int(answers["step"]) != best_step(workdir):
                return
            arrays.update({f"{member}/{field}": answers[field] for field in Answers._fields})
    write_arrays(path, **arrays)


def read_speeds(benchmarks: Path) -> dict[str, dict]:
    """Encoder of DiSAN's Table 1 -> how fast it is, by the benchmark of them all; {} without it."""
    path = benchmarks / "disan_encoders.json"
    if not path.is_file():
        return {}
    schema = {"encoders": {"encoders": {str: dict}}}
    return read_json(path, "restore it from the repository", schema)["encoders"]["encoders"]


def mean(run: dict, split: str, score: str) -> Optional[float]:
    """The score of a run on a split, or the mean over a series; None where there is none."""
    return run.get("mean", run).get(split, {}).get(score)


def deviation(run: dict, split: str, score: str) -> Optional[float]:
    """The standard deviation over a series; None where there is none."""
    return run.get("standard_deviation", {}).get(split, {}).get(score)


def describe_members(run: dict) -> str:
    """Such as "seed 1", "seeds 1, 2, 3" or "seed 1, 10 folds"."""
    data = run["config"]["data"]
    single = [{"seed": run["config"]["seed"], "fold": data.get("fold")}]
    members = run.get("members", single)
    seeds = sorted({member["seed"] for member in members})
    folds = sorted({member["fold"] for member in members} - {None})
    parts = [_list("seed", seeds)]
    if folds and len(folds) == data["folds"]:
        parts.append(f"{len(folds)} folds")
    elif folds:
        parts.append(f"{_list('fold', folds)} of {data['folds']}")
    return ", ".join(parts)


def describe_examples(run: dict) -> str:
    """The share of the official training examples that a run saw.

    Such as "94,108 of 550,152 pairs (17.1 %)".
    """
    data = run.get("data") or {}
    official = data.get("official_training_examples")
    if not official:
        return _UNKNOWN
    read = run["config"]["train"].get("examples") or data["training_read"]
    return f"{read:,} of {official:,} {data['unit']} ({percent(read / official)})"


def describe_vectors(run: dict) -> str:
    """The share of the training tokens whose words have a vector of the vector file.

    Such as "92.0 %" or, for a run without a vector file, "no vectors".
    """
    covered = (run.get("data") or {}).get("training_tokens_covered")
    if covered is None:
        return _UNKNOWN
    return percent(covered) if run["config"]["data"]["vectors"] else "no vectors"


def vectors_of(run: dict) -> str:
    """The vector file of a run and its size, such as "glove/glove.6B.100d*.txt, 100 dimensions"."""
    data = run["config"]["data"]
    return f"{data['vectors'] or 'no vectors'}, {data['embedding_dim']} dimensions"


def percent(share: float) -> str:
    """With three digits, such as "92.0 %" or "3.64 %"."""
    text = f"{100 * share:#.3g}".rstrip(".")
    return f"{text} %"


def _list(noun, numbers):
    return f"{noun}{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
