"""`--mode=compare` and `--mode=report` for a user's own runs: tables, intervals, learning curves.

<output>/comparison.md       `compare`: differences of configs, scores with paired intervals
<output>/runs.md, runs.csv   `report`: a line for each run, the best on dev first: the options in
                             which runs differ, then scores
<output>/curves.svg, .png    the dev scores by epoch, at most of 20 runs
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from disan_tf.common.errors import UserError
from disan_tf.common.files import write_atomically
from disan_tf.common.options import count
from disan_tf.common.plots import STYLES, End, label_ends, new_figure, save_picture
from disan_tf.common.tables import csv_table, markdown_table, text_table
from disan_tf.reporting.differences import difference
from disan_tf.reporting.own_runs import Run, read_run
from disan_tf.reporting.report import find_runs

COMPARISON, RUNS, CURVES = "comparison.md", "runs", "curves"
_PAIRED = ("accuracy", "pearson")
_SPLITS = ("dev", "test", "mismatched")
_MOST = 20  # runs in a picture


def compare(names: Sequence[str], output: Path) -> str:
    """Compares runs; writes the files and returns the text to print.

    Args:
      names: see `disan_tf.reporting.own_runs.read_run`; at least two.
      output: the folder of the files.

    Raises:
      UserError: there are fewer than two different runs, or see `read_run`.
    """
    if len(set(names)) < max(2, len(names)):
        raise UserError("--mode=compare needs two or more different runs: --runs=RUN,RUN.")
    runs = [read_run(name) for name in names]
    lines = [*option_lines(runs), *score_lines(runs)]
    sentences = [sentence for run in runs[1:] for sentence in describe_difference(run, runs[0])]
    sentences += _missing(runs)
    listed = "".join(f"- {sentence}\n" for sentence in sentences)
    page = f"# Runs compared\n\n{markdown_table(lines)}\n{listed}\n![dev scores]({CURVES}.svg)\n"
    write_atomically(output / COMPARISON, page)
    save_picture(draw_dev_scores(runs), output / CURVES)
    curves = f"tables in {output / COMPARISON}, curves in {output / CURVES}.svg"
    return "\n".join([text_table(lines), "", *sentences, curves])


def option_lines(runs: Sequence[Run]) -> list[dict[str, str]]:
    """Returns a line for each option of the config in which runs differ."""
    return [
        {"": option, **{run.name: str(run.config.get(option, "-")) for run in runs}}
        for option in differing_options(runs)
    ]


def differing_options(runs: Sequence[Run]) -> list[str]:
    """Returns the options of the config in which runs differ, in the order of their sections."""
    options = dict.fromkeys(option for run in runs for option in run.config)
    absent = object()
    return [
        option
        for option in options
        if any(run.config.get(option, absent) != runs[0].config.get(option, absent) for run in runs)
    ]


def score_lines(runs: Sequence[Run]) -> list[dict[str, str]]:
    """Returns a line for the trainings, one for the best steps, and one for each score."""
    lines = [
        {"": "trainings", **{run.name: str(len(run.members)) for run in runs}},
        {"": "best step", **{run.name: _steps(run) for run in runs}},
    ]
    for split, score in scored_by(runs):
        cells = {run.name: describe_score(run.values(split, score)) for run in runs}
        lines.append({"": f"{split} {score}", **cells})
    return lines


def scored_by(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """Returns the pairs of a split and a score that some run has."""
    pairs = (
        (split, score)
        for split in _SPLITS
        for run in runs
        for score in run.members[0].scores.get(split, ())
    )
    return list(dict.fromkeys(pairs))


def _steps(run: Run) -> str:
    return ", ".join(f"{step:,}" for step in sorted({member.best for member in run.members}))


def describe_score(values: Sequence[float]) -> str:
    """Returns the mean of a score and, of several trainings, its standard deviation."""
    if not values:
        return "-"
    spread = f" ({np.std(values, ddof=1):.4f})" if len(values) > 1 else ""
    return f"{np.mean(values):.4f}{spread}"


def describe_difference(run: Run, first: Run) -> Iterator[str]:
    """Yields a sentence on the paired difference of two runs for each split that both scored."""
    score = first.criterion
    if run.criterion != score or score not in _PAIRED:
        yield f"{run.name} and {first.name} have no score with a paired interval."
        return
    for split in _SPLITS:
        sides = [[member.answers.get(split) for member in each.members] for each in (run, first)]
        if None in [*sides[0], *sides[1]]:
            continue
        over_seeds = min(map(len, sides)) > 1
        found = difference(*sides, score, over_seeds)
        if found is None:
            yield f"{run.name} and {first.name} were scored on other {split} examples."
            continue
        chance = "examples and seeds" if over_seeds else "examples alone"
        verdict = "differs from 0" if found.low > 0 or found.high < 0 else "may be chance"
        yield (
            f"{run.name} minus {first.name}, {split} {score}: {found.value:+.4f} (95 % interval "
            f"{found.low:+.4f} to {found.high:+.4f}, over {chance}): {verdict}"
        )


def _missing(runs: Sequence[Run]) -> Iterator[str]:
    """Yields what to do for intervals on test, where predictions lack."""
    folders = [
        member.folder for run in runs for member in run.members if "test" not in member.answers
    ]
    for folder in filter(None, folders):
        command = f"--mode=evaluate --split=test --workdir={folder}"
        yield f"For an interval on test, run {command}, with the training's --data_dir"


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
    write_atomically(output / f"{RUNS}.md", page)
    write_atomically(output / f"{RUNS}.csv", csv_table(value_lines(runs)))
    save_picture(draw_dev_scores(runs), output / CURVES)
    files = f"{output / RUNS}.csv and .md, curves in {output / CURVES}.svg"
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


def draw_dev_scores(runs: Sequence[Run]) -> Figure:
    """Draws the dev score of each training of the first 20 runs by epoch."""
    figure = new_figure(8.6, max(4.0, 0.2 * min(len(runs), _MOST) + 1.0))
    axes, ends = figure.add_subplot(), []
    for number, run in enumerate(runs[:_MOST]):
        style = STYLES[number % len(STYLES)]
        for member in run.members:
            axes.plot(*zip(*member.curve), **style, markersize=3, linewidth=1.2)
        ends.append(End(*run.members[0].curve[-1], run.name, style["color"]))
    names = dict.fromkeys(run.criterion for run in runs)
    axes.set(xlabel="epochs", ylabel=f"dev {', '.join(names)}")
    axes.grid(alpha=0.3)
    label_ends(axes, ends)
    return figure
