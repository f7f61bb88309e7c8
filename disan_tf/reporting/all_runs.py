"""The table of all recorded runs, `tables/results.md`."""

from collections import Counter
from collections.abc import Mapping
from typing import Optional

from disan_tf.common.options import count
from disan_tf.common.tables import markdown_table
from disan_tf.reporting.papers import Score, find_row
from disan_tf.reporting.results import (
    UNKNOWN,
    describe_examples,
    describe_members,
    describe_vectors,
    members_of,
)

_SCORES = (  # the table has the first that a run has
    Score("accuracy", "test"),
    Score("Pearson's r", "test", "pearson", 1, 4, "r"),
    Score("perplexity", "test", "perplexity", 1, 2, "perplexity"),
)
_INTRODUCTION = """# All recorded runs

Accuracies are per cent; a number in parentheses is the standard deviation over seeds or folds.
Checkpoints were selected on the development set. Hours are wall-clock hours of all trainings of a
run with their evaluations. They are upper bounds, because other programs shared the cores.
`python run.py --mode=report` writes this table from [results](../results).

"""


def results_table(results: Mapping[str, dict]) -> dict[str, str]:
    """Renders `results.md`: a line for each recorded run or series of `read_results`, by name."""
    trainings = sum(len(members_of(run)) for run in results.values())
    hours = sum(map(_hours, results.values()))
    total = f"In all {count(len(results), 'run')}, {trainings:,} trainings, {hours:,.1f} hours.\n\n"
    lines = [_line(name, run) for name, run in results.items()]
    return {"results.md": _INTRODUCTION + total + markdown_table(lines)}


def _line(name: str, run: dict) -> dict[str, str]:
    score = next(score for score in _SCORES if score.mean(run))
    place = find_row(run["config"])
    machines = Counter(_describe_machine(member.get("machine")) for member in members_of(run))
    texts = [f"{text}: {count(number, 'training')}" for text, number in machines.most_common()]
    return {
        "run": f"{name} ({describe_members(run)})",
        "training examples": describe_examples(run),
        "tokens with vectors": describe_vectors(run),
        "parameters": f"{run['parameters']:,}",
        "best dev epoch": f"{run['best_epoch']:.1f}",
        "minutes to it": f"{run['minutes_to_best']:.0f}",
        "dev": score.show(run, "dev"),
        "test": score.show(run),
        "test, paper": place[0].headline_figure(place[1]) if place else "",
        "hours": f"{_hours(run):.1f}",
        "processor and threads": "; ".join(texts if len(machines) > 1 else machines),
    }


def _hours(run: dict) -> float:
    return sum(training["minutes"] for training in members_of(run)) / 60


def _describe_machine(machine: Optional[Mapping]) -> str:
    if not machine:
        return UNKNOWN
    gpu = machine.get("gpu", "none")  # older runs have no such key
    text = f"{machine['processor']}, {machine['threads']} of {machine['cores']}"
    return text if gpu == "none" else f"{gpu} beside {text}"
