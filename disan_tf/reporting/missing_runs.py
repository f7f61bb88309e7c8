"""The runs that the papers' tables still lack, with their estimated hours.

`checkpoints/missing_runs.json` names the commands, the tables that lack them, and the times that
`python -m tests.measurements.missing_runs` measured: of a training step and of an evaluation.
"""

import shlex
from pathlib import Path
from typing import Optional

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


def read_missing_runs(path: Path, results: dict[str, dict]) -> dict[str, str]:
    """Returns what tables lack: name, such as "resan_table_1" -> list of the runs in Markdown.

    Args:
      path: the path of `missing_runs.json`; where there is no file, nothing is missing.
      results: see `disan_tf.reporting.result_files.read_results`.

    Raises:
      UserError: the file is damaged.
    """
    if not path.is_file():
        return {}
    content = read_json(path, "restore it from the repository", _MISSING_RUNS)
    about = content["machine"]
    threads = f"{about['threads']} thread{'s' if about['threads'] > 1 else ''}"
    title = (
        "\nRemaining runs and their estimated hours "
        f"({about['processor']}, {threads}, beside {about['beside']}):\n\n"
    )
    recorded = {_words(result.get("command") or "") for result in results.values()}
    texts = {}
    for run in content["runs"]:
        if _words(run["command"]) not in recorded:
            for table in run["tables"]:
                line = f"- {_hours(run['timed'])}: `{run['command']}`.\n"
                texts[table] = texts.get(table, title) + line
    return texts


def add_missing_runs(tables: dict[str, str], missing: dict[str, str]) -> dict[str, str]:
    """Appends to each Markdown table the runs that it lacks: file name -> text."""
    return {name: text + missing.get(name.removesuffix(".md"), "") for name, text in tables.items()}


def _hours(timed: Optional[dict]) -> str:
    if timed is None:
        return "not timed"
    training = timed["steps"] * timed["step_seconds"]
    evaluating = timed["evaluations"] * timed["evaluation_seconds"]
    return f"{timed['members'] * (training + evaluating) / 3600:.1f} hours"


def _words(command: str) -> frozenset[str]:
    """Returns the words that decide a result, in no order; with an open quotation, the command."""
    try:
        return frozenset(shlex.split(command)) - {"--nopictures"}
    except ValueError:
        return frozenset([command])
