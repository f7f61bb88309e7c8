"""The page of hours and machines behind the papers' tables, `checkpoints/compute.md`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Optional

from disan_tf.common.options import count
from disan_tf.common.tables import markdown_table
from disan_tf.reporting.paper_tables.all_tables import TABLES
from disan_tf.reporting.paper_tables.table import Table
from disan_tf.reporting.results import UNKNOWN, members_of

PAGE = "compute.md"
_INTRODUCTION = """# Hours of training behind each table

A run is a file of [results](results); a series counts one training for each seed and fold. Hours
are those of the clock, with the evaluations during training. They include the time that other
programs took: nearly all notes of the runs say that other work shared the cores, so the hours are
upper bounds. Load is the number of busy processes, a mean of one minute, at the start and at the
end of a training. Older runs did not record their machine; some of their notes name it. Two tables
may show the same run, so the last line is less than the sum. A run that continues another one
counts the steps before it too. Trials that were not recorded, and trainings that failed, are
missing.

"""


def render_compute(results: Mapping[str, dict]) -> str:
    """Renders a line for each table with a recorded run, for the other runs, and for all.

    Args:
      results: see `disan_tf.reporting.result_files.read_results`.
    """
    lines, seen = [], set()
    for table in TABLES.values():
        names = [name for name, run in results.items() if _shows(table, run)]
        seen.update(names)
        if names:
            title = f"[{table.paper}, {table.number}](tables/{table.name}.md), {table.title}"
            lines.append(_line(title, [results[name] for name in names]))
    others = [run for name, run in results.items() if name not in seen]
    lines += [_line("runs in no table", others), _line("all runs", list(results.values()))]
    return _INTRODUCTION + markdown_table(lines)


def _shows(table: Table, run: dict) -> bool:
    return any(row.matches(run["config"]) for row in table.rows)


def _line(title: str, runs: Sequence[dict]) -> dict[str, str]:
    trainings = [training for run in runs for training in members_of(run)]
    hours = sum(training["minutes"] for training in trainings) / 60
    machines = [training.get("machine") for training in trainings]
    known = [machine for machine in machines if machine]
    return {
        "table": title,
        "recorded runs": f"{len(runs):,}",
        "trainings": f"{len(trainings):,}",
        "hours": f"{hours:.1f}",
        "processor and threads": _describe_machines(machines),
        "load": _describe_load(known),
    }


def _describe_machines(machines: Sequence) -> str:
    """Returns the processors with their threads, each with its trainings if there are several."""
    counts = Counter(map(_describe_machine, machines)).most_common()
    if len(counts) < 2:
        return counts[0][0] if counts else UNKNOWN
    return "; ".join(f"{text}: {count(number, 'training')}" for text, number in counts)


def _describe_machine(machine: Optional[Mapping]) -> str:
    if not machine:
        return UNKNOWN
    gpu = machine.get("gpu", "none")  # older runs have no such key
    text = f"{machine['processor']}, {machine['threads']} of {machine['cores']}"
    return text if gpu == "none" else f"{gpu} beside {text}"


def _describe_load(machines: Sequence[dict]) -> str:
    """Returns the lowest and the highest load of trainings."""
    found = [machine.get(key) for machine in machines for key in ("load_before", "load_after")]
    loads = [load for load in found if load is not None]
    return f"{min(loads):.1f} to {max(loads):.1f}" if loads else UNKNOWN
