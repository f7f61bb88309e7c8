"""The runs that the papers' tables still lack, with their estimated hours.

`checkpoints/missing_runs.json` names the commands, the tables that lack them, and the times that
`python -m tests.measurements.missing_runs` measured: of a training step and of an evaluation.
"""

import shlex
from pathlib import Path
from typing import NamedTuple, Optional

from disan_tf.common.files import read_json

_TIMED = {
    "members": int,
    "steps": int,
    "step_seconds": float,
    "evaluations": int,
    "evaluation_seconds": float,
}
_MISSING_RUNS = {
    "machine": {"processor": str, "threads": int, "beside": str},
    "runs": [{"tables": [str], "command": str, "timed": (_TIMED, type(None))}],
}


class MissingRun(NamedTuple):
    """A run, or series of runs, that nobody has recorded.

    Attributes:
      tables: the names of the tables that lack it, such as "resan_table_1".
      command: the command that trains it.
      hours: the hours of all members on `machine`; None = not timed.
      machine: a description such as "AMD EPYC, 2 threads, beside nothing else".
    """

    tables: tuple[str, ...]
    command: str
    hours: Optional[float]
    machine: str


def read_missing_runs(path: Path, results: dict[str, dict]) -> list[MissingRun]:
    """Returns the file's runs that have no recorded result; [] where there is no file.

    Args:
      path: the path of `missing_runs.json`.
      results: see `disan_tf.reporting.result_files.read_results`.

    Raises:
      UserError: the file is damaged.
    """
    if not path.is_file():
        return []
    content = read_json(path, "restore it from the repository", _MISSING_RUNS)
    about = content["machine"]
    threads = f"{about['threads']} thread{'s' if about['threads'] > 1 else ''}"
    machine = f"{about['processor']}, {threads}, beside {about['beside']}"
    recorded = {_words(result.get("command") or "") for result in results.values()}
    return [
        MissingRun(tuple(run["tables"]), run["command"], _hours(run["timed"]), machine)
        for run in content["runs"]
        if _words(run["command"]) not in recorded
    ]


def add_missing_runs(tables: dict[str, str], runs: list[MissingRun]) -> dict[str, str]:
    """Appends to each Markdown table the runs that it lacks: file name -> text."""
    return {
        name: text + _end([run for run in runs if name.removesuffix(".md") in run.tables])
        for name, text in tables.items()
    }


def _end(runs: list[MissingRun]) -> str:
    if not runs:
        return ""
    lines = "".join(f"- {_text(run.hours)}: `{run.command}`.\n" for run in runs)
    return (
        f"\nTo be run yet, with the hours of all their steps, reckoned from the time of a step and "
        f"of an evaluation ({runs[0].machine}):\n\n{lines}"
    )


def _text(hours):
    return "not timed" if hours is None else f"{hours:.1f} hours"


def _hours(timed: Optional[dict]) -> Optional[float]:
    if timed is None:
        return None
    training = timed["steps"] * timed["step_seconds"]
    evaluating = timed["evaluations"] * timed["evaluation_seconds"]
    return timed["members"] * (training + evaluating) / 3600


def _words(command: str) -> frozenset[str]:
    """Returns a command's words in no order; a command with an open quotation is one word."""
    try:
        return frozenset(shlex.split(command))
    except ValueError:
        return frozenset([command])
