"""The scores of recorded results, and their descriptions for the tables.

`summarise_run` returns the result of a single run, `summarise_series` that of a series.
"""

from typing import Optional

UNKNOWN = "not recorded"


def mean(run: dict, split: str, score: str) -> Optional[float]:
    """Returns a run's score on a split, or a series' mean; None where there is none."""
    return run.get("mean", run).get(split, {}).get(score)


def deviation(run: dict, split: str, score: str) -> Optional[float]:
    """Returns the standard deviation over a series; None where there is none."""
    return run.get("standard_deviation", {}).get(split, {}).get(score)


def members_of(run: dict) -> list[dict]:
    """Returns a series' runs; a single run is its own member."""
    return run.get("members", [run])


def describe_members(run: dict) -> str:
    """Describes seeds and folds, as "seed 1", "seeds 1, 2, 3" or "seed 1, 10 folds"."""
    data = run["config"]["data"]
    single = [{"seed": run["config"]["seed"], "fold": data.get("fold")}]
    members = run.get("members", single)
    seeds = sorted({member["seed"] for member in members})
    folds = sorted({member["fold"] for member in members} - {None})
    parts = [_list("seed", seeds)]
    if folds and len(folds) == data.get("folds"):
        parts.append(f"{len(folds)} folds")
    elif folds:
        parts.append(f"{_list('fold', folds)} of {data.get('folds')}")
    return ", ".join(parts)


def describe_examples(run: dict) -> str:
    """Describes the share of the official training examples that a run saw.

    For instance "94,108 of 550,152 pairs (17.1 %)".
    """
    data = run["data"]
    official = data["official_training_examples"]
    if not official:
        return UNKNOWN
    read = run["config"]["train"].get("examples") or data["training_read"]
    return f"{read:,} of {official:,} {data['unit']} ({percent(read / official)})"


def describe_vectors(run: dict) -> str:
    """Describes the share of training tokens with a vector in the vector file.

    For instance "92.0 %" or, for a run without a vector file, "no vectors".
    """
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


def _list(noun, numbers):
    return f"{noun}{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
