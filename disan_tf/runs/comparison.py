"""`--mode=compare` and `--mode=report` for a user's own runs: tables, intervals, learning curves.

<output>/comparison.md       `compare`: differences of configs, scores with paired intervals
<output>/runs.md, runs.csv   `report`: a line for each run, the best on dev first: the options in
                             which runs differ, then scores
<output>/curves.svg, .png    the dev scores by epoch, at most of 20 runs
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Callable

import numpy as np

from disan_tf.common.atomic import write_atomically
from disan_tf.common.checks import count
from disan_tf.common.errors import UserError, escape
from disan_tf.common.plots import legend_beside, line_style, new_figure, save_picture
from disan_tf.common.tables import csv_table, markdown_table, text_table
from disan_tf.metrics.differences import PAIRED, difference, join_folds
from disan_tf.runs.run import SPLITS, Run, find_runs, read_run

_CURVES = "curves.svg"
_MOST = 20  # runs in a picture


def compare(names: Sequence[str], output: Path, read: Callable[[str], Run] = read_run) -> str:
    """Compares the runs that `read` finds by name; returns the text to print.

    Raises:
      UserError: there are fewer than two different runs, or see `read`.
    """
    if len(set(names)) < max(2, len(names)):
        raise UserError("--mode=compare needs two or more different runs: --runs=RUN,RUN.")
    runs = [read(name) for name in names]
    by_run = run_lines(runs)
    titles = [title for title in by_run[0] if title != "run"]
    lines = [{"": title, **{line["run"]: line[title] for line in by_run}} for title in titles]
    sentences = [sentence for run in runs[1:] for sentence in _describe_difference(run, runs[0])]
    for member in (member for run in runs for member in run.members):
        if member.folder and "test" not in member.predictions:
            command = f"--mode=evaluate --split=test --workdir={member.folder}"
            advice = f"For an interval on test, run {command}, with the training's --data_dir"
            sentences.append(advice)
    listed = "".join(f"- {sentence}\n" for sentence in sentences)
    path, curves = output / "comparison.md", _save_curves(runs, output / _CURVES)
    page = f"# Runs compared\n\n{markdown_table(lines)}\n{listed}\n![dev scores]({curves.name})\n"
    write_atomically(path, page)
    return "\n".join([text_table(lines), "", *sentences, f"tables in {path}, curves in {curves}"])


def report_runs(root: Path, output: Path) -> str:
    """Writes the table and the curves of all runs at and below `root`; returns the table as text.

    Runs that cannot be read, such as those without an evaluation yet, are named and left out. A
    UserError says that no run can be read.
    """
    runs, skipped = [], []
    for folder in find_runs(root):
        try:
            name = folder.relative_to(root).as_posix()
            run = read_run(str(folder))
            runs.append(run._replace(name=folder.resolve().name if name == "." else name))
        except UserError as error:
            skipped.append(f"skipped: {escape(str(error))}")
    if not runs:
        sentences = [f"{root} holds no run with an evaluation; name the folder of your runs."]
        raise UserError(" ".join([*sentences, *skipped[:1]]))
    runs.sort(key=lambda run: np.mean(run.values("dev", run.criterion)), reverse=True)
    lines, path, curves = run_lines(runs), output / "runs.csv", _save_curves(runs, output / _CURVES)
    page = f"# Runs of {root}\n\n{markdown_table(lines)}\n![dev scores]({curves.name})\n"
    write_atomically(path.with_suffix(".md"), page)
    write_atomically(path, csv_table(value_lines(runs)))
    found = f"{count(len(runs), 'run')} in {path} and .md, curves in {curves}"
    return "\n".join([text_table(lines), "", *skipped, found])


def run_lines(runs: Sequence[Run]) -> list[dict[str, str]]:
    """Returns a line for each run: the options in which runs differ, and their scores."""
    options, scores = _differing_options(runs), _scored_by(runs)
    return [
        {
            "run": run.name,
            **{option: str(run.config.get(option, "-")) for option in options},
            "trainings": str(len(run.members)),
            "best step": ", ".join(f"{s:,}" for s in sorted({it.best for it in run.members})),
            **{" ".join(each): _describe_score(run.values(*each)) for each in scores},
        }
        for run in runs
    ]


def value_lines(runs: Sequence[Run]) -> list[dict]:
    """Returns the lines of `run_lines` for programs: with means and standard deviations."""
    options, lines = _differing_options(runs), []
    for run in runs:
        line = {"run": run.name, **{option: run.config.get(option, "") for option in options}}
        line["trainings"] = len(run.members)
        for split, score in _scored_by(runs):
            values = run.values(split, score)
            if values:
                line[f"{split}_{score}"] = float(np.mean(values))
            if len(values) > 1:
                line[f"{split}_{score}_deviation"] = float(np.std(values, ddof=1))
        lines.append(line)
    return lines


def _differing_options(runs: Sequence[Run]) -> list[str]:
    """Returns the options of the config in which runs differ, in the order of their sections."""
    absent, first = object(), runs[0].config
    return [
        option
        for option in dict.fromkeys(option for run in runs for option in run.config)
        if any(run.config.get(option, absent) != first.get(option, absent) for run in runs)
    ]


def _scored_by(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """Returns the pairs of a split and a score that some run has."""
    pairs = (
        (split, score)
        for split in SPLITS
        for run in runs
        for score in run.members[0].scores.get(split, ())
    )
    return list(dict.fromkeys(pairs))


def _describe_score(values: Sequence[float]) -> str:
    """Returns the mean of a score and, of several trainings, its standard deviation."""
    if not values:
        return "-"
    spread = f" ({np.std(values, ddof=1):.4f})" if len(values) > 1 else ""
    return f"{np.mean(values):.4f}{spread}"


def _describe_difference(run: Run, first: Run) -> Iterator[str]:
    """Yields a sentence on the paired difference of two runs for each split that both scored."""
    score = first.criterion
    if run.criterion != score or score not in PAIRED:
        yield f"{run.name} and {first.name} have no score with a paired interval."
        return
    for split in SPLITS:
        sides = [
            [member.predictions.get(split) for member in each.members] for each in (run, first)
        ]
        if None in [*sides[0], *sides[1]]:
            continue
        sides = [
            join_folds([member.seed_and_fold for member in each.members], kept)
            for each, kept in zip((run, first), sides)
        ]
        found, covers = difference(*sides, score, classes=first.classes)
        if found is None:
            yield f"{run.name} and {first.name} were scored on other {split} examples."
            continue
        verdict = "differs from 0" if found.low > 0 or found.high < 0 else "may be chance"
        yield (
            f"{run.name} minus {first.name}, {split} {score}: {found.value:+.4f} (95 % interval "
            f"{found.low:+.4f} to {found.high:+.4f}; {covers}): {verdict}"
        )


def _save_curves(runs: Sequence[Run], path: Path) -> Path:
    """Draws the dev score of each training of the first 20 runs by epoch; returns `path`."""
    figure = new_figure(8.6, max(4.0, 0.2 * min(len(runs), _MOST) + 1.0))
    axes = figure.add_subplot()
    for number, run in enumerate(runs[:_MOST]):
        for place, member in enumerate(run.members):
            name = f" {run.name}" if run.name.startswith("_") else run.name  # "_a" has no label
            label = None if place else name
            style = {**line_style(number), "markersize": 3, "linewidth": 1.2}
            axes.plot(*zip(*member.curve), label=label, **style)
    names = dict.fromkeys(run.criterion for run in runs)
    axes.set(xlabel="epochs", ylabel=f"dev {', '.join(names)}")
    axes.grid(alpha=0.3)
    legend_beside(axes)
    save_picture(figure, path.with_suffix(""))
    return path
