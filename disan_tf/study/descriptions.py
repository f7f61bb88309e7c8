"""The scores of recorded results, and their descriptions for the tables.

`summarise_run` returns the result of a single run, and `summarise_series` a series' result.
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
    """Returns a series' trainings, which have "seed" and "fold"; a run is its own member."""
    config = run["config"]
    single = {**run, "seed": config["seed"], "fold": config["data"].get("fold")}
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


def _trained_units(run) -> int:
    """Returns the number of training examples; phrases of trees count as the trees."""
    return min(training_examples(run), run["data"]["training_read"])


def training_share(run: dict) -> Optional[float]:
    """Returns a run's share of the official training examples; None where it is not recorded."""
    official = run["data"]["official_training_examples"]
    return _trained_units(run) / official if official else None


def describe_examples(run: dict) -> str:
    """Describes `training_share`, as "89,169 of 550,152 pairs (16.2 %)"."""
    data, share = run["data"], training_share(run)
    if share is None:
        return UNKNOWN
    official = data["official_training_examples"]
    return f"{_trained_units(run):,} of {official:,} {data['unit']} ({percent(share)})"


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
