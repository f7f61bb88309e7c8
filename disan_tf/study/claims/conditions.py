"""The conditions under which two models were trained, and the choice of runs to compare."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from statistics import fmean
from typing import Optional

from disan_tf.runs.recorded_config import ADDED
from disan_tf.study.papers import Score, Table
from disan_tf.study.results import (
    Records,
    describe_vectors,
    members_of,
    seeds_of,
    standard_deviation,
    training_examples,
    vectors_of,
)

# Options that change no computed number, that a model has for itself, or that are compared apart.
_FREE = ("log_every", "checkpoint_every", "distribution", "jit_compile", "examples", "steps")
_ALWAYS_FREE = {
    *("data.seed", "embedding.name", "embedding.dim", "evaluate.batch_size", "evaluate.splits"),
    *(f"train.{option}" for option in _FREE),
}
_OF_BOTH = ("policy", "embedding", "evaluate")  # an option is compared if both models have it
_EVALUATIONS = 5  # number of evaluations whose dev scores are averaged


def unequal_conditions(first: dict, second: dict, free: Collection[str] = ()) -> str:
    """Describes where the trainings of two results differ beyond the encoder, "" if nowhere.

    Compared are data, vectors, classifier, precision, training examples, options of training, steps
    and, where both have samplers, the policy gradient and the scored selections. Steps that train
    the samplers alone may count or not. A limit of steps counts only where a training reached it.
    Options in `free`, such as "data.vectors", may differ.
    """
    return ", ".join(_differences(first, second, _ALWAYS_FREE | set(free)))


def _differences(first, second, free) -> Iterator[str]:
    one, other = first["config"], second["config"]
    for part in ("data", "train", "embedding", "policy", "evaluate", "task"):
        options = one.get(part, {}), other.get(part, {})
        names = {*options[0], *options[1]}
        if part in _OF_BOTH:
            names = {*options[0]} & {*options[1]}
        for name in sorted(names):
            key = f"{part}.{name}"
            values = [each.get(name, ADDED.get(key, False)) for each in options]
            if values[0] != values[1] and key not in free:
                yield f"{key} {values[0]} and {values[1]}"
    if one.get("dtype") != other.get("dtype"):
        yield f"dtype {one.get('dtype')} and {other.get('dtype')}"
    if training_examples(first) != training_examples(second):
        yield f"{training_examples(first):,} and {training_examples(second):,} training examples"
    if not _steps(first) & _steps(second):
        most = [max(_steps(run)) for run in (first, second)]
        ends = [f"for {steps:,} steps" if steps else "until patience ended" for steps in most]
        yield f"trained {' and '.join(ends)}"


def _steps(result) -> set[int]:
    """Returns the numbers of steps that describe a training; 0 = patience ended all members."""
    if all(_ended_by_patience(result)):
        return {0}
    train, policy = result["config"]["train"], result["config"].get("policy", {})
    limit = train.get("steps", 0)
    return {limit, limit - policy.get("policy_steps", 0)}


def scope_of(first: dict, second: dict, gain: Optional[float], lead: float) -> str:
    """Describes the steps after which a lead was found, "" if more steps would hardly change it.

    After equal steps, the leading model may only have learned faster. The lead counts as a
    difference between the models if the weaker model's `gain_at_the_end`, `gain`, is less than half
    the lead's lower limit, `lead`.
    """
    if gain is not None and gain < lead / 2:
        return ""
    if _patience_ended(first, second):
        return "when patience ended"
    ends = [*_ended_by_patience(first), *_ended_by_patience(second)]
    return "when patience or the steps ended" if any(ends) else "at equal steps"


def _patience_ended(first: dict, second: dict) -> bool:
    return _steps(first) == _steps(second) == {0}


def _ended_by_patience(result: dict) -> list[bool]:
    """Returns, for each member, whether patience ended its training."""
    train = result["config"]["train"]
    limit = train.get("steps", 0)
    return [bool(train.get("patience")) and m["steps"] < limit for m in members_of(result)]


def gain_at_the_end(result: dict) -> Optional[float]:
    """Returns how much the dev score rises in the last third of the steps, averaged over members.

    That is the mean of the last five evaluations minus the mean of the first five, divided by the
    steps between the two groups' mean steps and multiplied by a third of all steps. It is None if a
    member has fewer than ten evaluations in that third. A small gain is no sign of an optimum.
    """
    gains = []
    for member in members_of(result):
        curve = member["dev_curve"]
        last = curve[-1][0]
        third = [(step, score) for step, score in curve if 3 * step > 2 * last]
        if len(third) < 2 * _EVALUATIONS:
            return None
        ends = [list(zip(*part)) for part in (third[:_EVALUATIONS], third[-_EVALUATIONS:])]
        (first_steps, first_scores), (last_steps, last_scores) = ends
        rise = fmean(last_scores) - fmean(first_scores)
        gains.append(rise * last / 3 / (fmean(last_steps) - fmean(first_steps)))
    return fmean(gains)


def other_trainings(result: dict, results: Mapping[str, dict]) -> Iterator[tuple[str, str]]:
    """Yields the name of each result that trained the same model on the same data, and how.

    That is for more steps, or with vectors padded to another width; other options may differ.
    """
    longest = max(member["steps"] for member in members_of(result))
    for name, run in results.items():
        steps = [member["steps"] for member in members_of(run)]
        how = ""
        if min(steps) > longest:
            ends = dict.fromkeys((min(steps), max(steps)))
            how = f"after {' to '.join(map('{:,}'.format, ends))} steps"
        elif run is not result and run["config"]["data"].get("vector_dim"):
            how = f"with vectors padded to {run['config']['data']['embedding_dim']} dimensions"
        if how and _model_and_data(run) == _model_and_data(result):
            is_averaged = bool(run["config"]["train"].get("moving_average"))
            if is_averaged != bool(result["config"]["train"].get("moving_average")):
                how += f" {'with' if is_averaged else 'without'} averaged weights"
            yield name, how


def _model_and_data(run: dict) -> tuple:
    config, free = run["config"], ("seed", "vector_dim", "embedding_dim", "dim")
    parts = [config.get(part, {}) for part in ("encoder", "data", "embedding", "task")]
    chosen = [{key: part[key] for key in part if part[key] and key not in free} for part in parts]
    return chosen, config.get("dtype"), training_examples(run)


def most_complete(runs: Mapping[str, dict]) -> Optional[dict]:
    """Returns the run with most training examples, then vectors, then seeds; None without runs."""

    def rank(run):
        covered = run["data"]["training_tokens_covered"] or 0
        return training_examples(run), covered, len(seeds_of(run))

    return max(runs.values(), key=rank, default=None)


def describe_protocol(result: dict) -> str:
    """Describes vectors, precision, averaging and length of a training, where papers differ."""
    config = result["config"]
    parts = [f"{vectors_of(result)} for {describe_vectors(result)} of the tokens"]
    parts += [config["dtype"]] if config.get("dtype") else []
    parts += ["averaged weights"] if config["train"].get("moving_average") else []
    return ", ".join([*parts, f"best after {result['best_epoch']:.0f} epochs"])


def choose_runs(
    firsts: Mapping[str, dict],
    seconds: Mapping[str, dict],
    kept: Collection[str],
    free: Collection[str] = (),
    apart: Collection[str] = (),
    examples: int = 0,
) -> Optional[tuple[str, str]]:
    """Chooses a run of each model for a comparison, by their conditions and never by scores.

    Pairs under equal conditions come first, then pairs with equal options in `apart`, several seeds
    of both models, trainings that patience ended, most training examples, most seeds, and kept
    predictions. Among equal pairs, the order of `firsts`, then of `seconds`, decides.

    Args:
      firsts, seconds: the results of the two models; None is returned if one has none.
      kept: the names of the results whose predictions were kept.
      free, apart: options that may differ, see `unequal_conditions`.
      examples: 0 = any number of training examples.
    """
    results = {**firsts, **seconds}

    def rank(pair):
        first, second = (results[name] for name in pair)
        return (
            unequal_conditions(first, second, {*free, *apart}) != "",
            unequal_conditions(first, second, free) != "",
            min(len(seeds_of(first)), len(seeds_of(second))) < 2,
            not _patience_ended(first, second),
            -min(training_examples(first), training_examples(second)),
            *sorted((-len(seeds_of(first)), -len(seeds_of(second))), reverse=True),
            not {*pair} <= set(kept),
        )

    fits = [name for name in results if examples in (0, training_examples(results[name]))]
    pairs = product(*([name for name in side if name in fits] for side in (firsts, seconds)))
    return min(pairs, key=rank, default=None)


def spread_run(
    table: Table, score: Score, names: Sequence[str], records: Records, free: Collection[str]
) -> str:
    """Returns the name of the run that lends its spread over seeds to a single seed, or "".

    It is the series with the largest standard deviation among the table's runs and trials under
    equal conditions with one of the two runs.

    Args:
      table, score: the table that has both models, and the compared score.
      names: the names of the two runs.
      records: all records.
      free: options that may differ, see `unequal_conditions`.
    """
    results, kept = records.results, records.predictions
    pair = [results[name] for name in names]
    if min(len(kept.get(name, ())) for name in names) != 1:
        return ""
    deviations = {
        name: standard_deviation(run, score.split, score.key)
        for row in table.rows
        for name, run in row.runs_and_trials(results).items()
        if len(kept.get(name, ())) > 1
        and any(not unequal_conditions(run, one, free) for one in pair)
    }
    return max(deviations, key=deviations.get, default="")
