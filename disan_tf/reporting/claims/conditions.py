"""The conditions under which two models were trained, and the choice of runs to compare."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Optional

from disan_tf.reporting.paper_tables.table import Row, Table
from disan_tf.reporting.results import (
    UNKNOWN,
    describe_vectors,
    members_of,
    training_examples,
)

# Options of `config.train` that change no computed number, or that a model has for itself.
_FREE = {"log_every", "checkpoint_every", "distribution", "clip_norm", "examples", "steps"}


def unequal_conditions(table: Table, first: dict, second: dict) -> str:
    """Describes where the trainings of two results differ beyond the model, "" if nowhere.

    Compared are data, precision, training examples, options of training, the number of steps and,
    where both have samplers, the policy gradient. Steps that train the samplers alone may count or
    not. A limit of steps counts only where a training reached it.

    Args:
      table: the two models' table; its `distinguishing_options` may differ.
      first, second: results, see `disan_tf.reporting.result_files.read_results`.
    """
    return ", ".join(_differences(table, first, second))


def _differences(table, first, second) -> Iterator[str]:
    one, other = first["config"], second["config"]
    for part, free in (
        ("data", {"seed", *table.distinguishing_options}),
        ("train", _FREE),
        ("policy", ()),
    ):
        yield from _unequal(part, one.get(part, {}), other.get(part, {}), free)
    if one.get("dtype") != other.get("dtype"):
        yield f"dtype {one.get('dtype')} and {other.get('dtype')}"
    if training_examples(first) != training_examples(second):
        yield f"{training_examples(first):,} and {training_examples(second):,} training examples"
    if not _steps(first) & _steps(second):
        yield f"{max(_steps(first)):,} and {max(_steps(second)):,} steps"


def _unequal(part: str, one: Mapping, other: Mapping, free) -> Iterator[str]:
    for key in sorted((one.keys() & other.keys()) - set(free)):
        if one[key] != other[key]:
            yield f"{part}.{key} {one[key]} and {other[key]}"


def _steps(result) -> set[int]:
    """Returns the numbers of steps that describe a training; 0 = patience ended all members."""
    train, policy = result["config"]["train"], result["config"].get("policy", {})
    limit = train.get("steps", 0)
    members = members_of(result)
    if train.get("patience") and all(member["steps"] < limit for member in members):
        return {0}
    return {limit, limit - policy.get("policy_steps", 0)}


def seeds_of(result: dict) -> int:
    """Returns the number of seeds of a run or series."""
    members = result.get("members", [result["config"]])
    return len({member["seed"] for member in members})


def most_complete(runs: Iterable[dict]) -> Optional[dict]:
    """Returns the run with most training examples, then most tokens with vectors, then most seeds.

    For claims that compare no two runs; None where there is no run.
    """

    def rank(run):
        covered = run["data"]["training_tokens_covered"] or 0.0
        return training_examples(run), covered, seeds_of(run)

    return max(runs, key=rank, default=None)


def describe_protocol(result: dict) -> str:
    """Describes vectors, precision, averaging and length of a training, where papers differ."""
    config = result["config"]
    covered = describe_vectors(result)
    parts = ["no word vectors"]
    if config["data"]["vectors"]:
        narrow, width = config["data"].get("vector_dim"), config["data"]["embedding_dim"]
        parts = [f"{narrow or width}-dimensional vectors"]
        parts[0] += f" for {covered} of the tokens" if covered != UNKNOWN else ""
        parts += [f"padded to {width} dimensions"] if narrow else []
    if config.get("dtype", "float32") != "float32":
        parts.append(config["dtype"].replace("mixed_", ""))
    if config["train"].get("moving_average"):
        parts.append("averaged weights")
    return ", ".join([*parts, f"best after {result['best_epoch']:.0f} epochs"])


def choose_runs(
    table: Table,
    ours: Row,
    other: Row,
    results: Mapping[str, dict],
    kept: Mapping[str, object],
    examples: Optional[int] = None,
) -> Optional[tuple[str, str]]:
    """Chooses the runs of two rows that are compared, by their conditions and never by scores.

    Pairs under equal conditions come first, then most training examples, most seeds, kept
    predictions, and the first name.

    Args:
      table, ours, other: a table and two of its rows.
      results: see `disan_tf.reporting.result_files.read_results`.
      kept: the names of the results whose predictions were kept.
      examples: None = any number of training examples.

    Returns:
      Two names, or None where a row has no run.
    """
    candidates = [
        [name for name, run in results.items() if _fits(row, run, examples)]
        for row in (ours, other)
    ]

    def rank(pair):
        first, second = (results[name] for name in pair)
        seeds = sorted((seeds_of(first), seeds_of(second)))
        return (
            unequal_conditions(table, first, second) != "",
            -min(training_examples(first), training_examples(second)),
            *(-count for count in seeds),
            not {*pair} <= kept.keys(),
            pair,
        )

    return min(product(*candidates), key=rank, default=None)


def _fits(row: Row, run: dict, examples: Optional[int]) -> bool:
    return row.matches(run["config"]) and examples in (None, training_examples(run))
