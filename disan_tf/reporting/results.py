"""Recorded results, single runs and series alike: `checkpoints/results/*.json`.

A single run is what `summarise_run` returns, a series what `summarise_series` returns, each with
"paper" (what the paper reports), "note" (why ours differs) and "command".
"""

from pathlib import Path
from typing import Optional

from disan_tf.files import read_json


def read_results(folder: Path) -> dict[str, dict]:
    """Name -> result of each JSON file of a folder, by name."""
    return {
        path.stem: read_json(path, "restore it from the repository")
        for path in sorted(folder.glob("*.json"))
    }


def mean(run: dict, split: str, score: str) -> Optional[float]:
    """The score of a run on a split, or the mean over a series; None where there is none."""
    return run.get("mean", run).get(split, {}).get(score)


def deviation(run: dict, split: str, score: str) -> Optional[float]:
    """The standard deviation over a series; None where there is none."""
    return run.get("standard_deviation", {}).get(split, {}).get(score)


def describe_members(run: dict) -> str:
    """Such as "seed 1", "seeds 1, 2, 3" or "seed 1, 10 folds"."""
    members = run.get("members", [run["config"]])
    seeds = sorted({member["seed"] for member in members})
    data = run["config"]["data"]
    single = [{"fold": data.get("fold")}]
    folds = sorted({each["fold"] for each in run.get("members", single)} - {None})
    parts = [_list("seed", seeds)]
    if folds and len(folds) == data["folds"]:
        parts.append(f"{len(folds)} folds")
    elif folds:
        parts.append(f"{_list('fold', folds)} of {data['folds']}")
    return ", ".join(parts)


def describe_data(run: dict) -> str:
    """How much of the official training data a run saw, "" where it was not recorded."""
    data = run.get("data") or {}
    if not data.get("official_training_examples"):
        return ""
    read = run["config"].get("train", {}).get("examples") or data["training_read"]
    return (
        f"{read:,} of {data['official_training_examples']:,} training "
        f"{data['unit']}, vectors for {data['training_tokens_covered']:.1%} of the training tokens"
    )


def _list(noun, numbers):
    return f"{noun}{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
