"""`--mode=report` for a user's own runs: a table and the learning curves, without papers' tables.

<output>/runs.md, runs.csv   a line for each run, the best on dev first: the options in which
                             runs differ, then scores
<output>/curves.svg, .png    the dev scores by epoch of the best 20 runs
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from disan_tf.common.errors import UserError
from disan_tf.common.files import write_atomically
from disan_tf.common.options import count
from disan_tf.common.plots import save_picture
from disan_tf.common.tables import csv_table, markdown_table, text_table
from disan_tf.reporting.own_runs.comparison import differing_options, score_lines, scored_by
from disan_tf.reporting.own_runs.curves import draw_dev_scores
from disan_tf.reporting.own_runs.run import Run, read_run
from disan_tf.reporting.report import find_runs

NAME, CURVES = "runs", "curves"


def report_runs(root: Path, output: Path) -> str:
    """Writes the table and the curves of all runs at and below `root`; returns the table as text.

    Runs that cannot be read, such as those without an evaluation yet, are named and left out.

    Args:
      root: a work directory, a series or a tree of them.
      output: the folder of the files.

    Raises:
      UserError: no run can be read.
    """
    runs, skipped = [], []
    for folder in find_runs(root):
        try:
            name = folder.relative_to(root).as_posix()
            run = read_run(str(folder))
            runs.append(run._replace(name=folder.resolve().name if name == "." else name))
        except UserError as error:
            skipped.append(f"skipped: {error}")
    if not runs:
        raise UserError(
            f"{root} holds no run with an evaluation; name the folder of your runs."
            + "".join(f" {sentence}" for sentence in skipped[:1])
        )
    runs.sort(key=_dev_score, reverse=True)
    lines = run_lines(runs)
    page = f"# Runs of {root}\n\n{markdown_table(lines)}\n![dev scores]({CURVES}.svg)\n"
    write_atomically(output / f"{NAME}.md", page)
    write_atomically(output / f"{NAME}.csv", csv_table(value_lines(runs)))
    save_picture(draw_dev_scores(runs), output / CURVES)
    files = f"{output / NAME}.csv and .md, curves in {output / CURVES}.svg"
    return "\n".join([text_table(lines), "", *skipped, f"{count(len(runs), 'run')} in {files}"])


def run_lines(runs: Sequence[Run]) -> list[dict[str, str]]:
    """Returns a line for each run: its name, the options in which runs differ, and scores."""
    options, scores = differing_options(runs), score_lines(runs)
    return [
        {
            "run": run.name,
            **{option: str(run.config.get(option, "-")) for option in options},
            **{line[""]: line[run.name] for line in scores},
        }
        for run in runs
    ]


def value_lines(runs: Sequence[Run]) -> list[dict]:
    """Returns the lines of `run_lines` for programs: a column for each mean and deviation."""
    options = differing_options(runs)
    return [
        {
            "run": run.name,
            **{option: run.config.get(option, "") for option in options},
            "trainings": len(run.members),
            **{key: value for pair in scored_by(runs) for key, value in _columns(run, *pair)},
        }
        for run in runs
    ]


def _columns(run: Run, split: str, score: str) -> Iterator[tuple[str, float]]:
    """Yields a column's name and value for the mean of a score and for its standard deviation."""
    values = run.values(split, score)
    if values:
        yield f"{split}_{score}", float(np.mean(values))
    if len(values) > 1:
        yield f"{split}_{score}_deviation", float(np.std(values, ddof=1))


def _dev_score(run: Run) -> float:
    return float(np.mean(run.values("dev", run.criterion)))
