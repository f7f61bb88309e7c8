"""`--mode=report --output=checkpoints`: records the results of work directories, writes the tables.

    <output>/results/<name>.json      one for each run or series, named for its place in the tree
    <output>/predictions/<name>.npz   its models' predictions for the test examples
    <output>/deviations.md            settings in which the runs differ from the papers
    <output>/tables/                  the papers' tables with our runs beside, see `paper_tables`,
                                      all runs, all benchmarks, the results of
                                      `--mode=transfer`, and models that began with a trained one
    <output>/claims.md, claims.csv    the papers' claims with computed verdicts, see `claims`
    <output>/figures/                 a picture for each table, see `figures.table_curves`, and
                                      the papers' figures of recorded results

A recorded result of the same name is replaced. If it is of the same experiment and has other seeds
or folds, it is extended instead, so that seeds can be trained on several machines.

Runs in a folder `fine_tuning` of the tree go to folders of this name, and no table of a paper reads
them. `note.txt` in a run's or series' folder says why its figures differ from the paper's.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Optional

from disan_tf.common.errors import UserError
from disan_tf.common.files import write_atomically, write_json
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.reporting import deviations
from disan_tf.reporting.all_runs import results_table
from disan_tf.reporting.benchmark_tables import benchmark_tables
from disan_tf.reporting.claims.ledger import assess_claims, read_records, render_claims
from disan_tf.reporting.figures.main import draw_results
from disan_tf.reporting.figures.table_curves import draw_table_curves
from disan_tf.reporting.front_page import update_pages
from disan_tf.reporting.other_tables import FINE_TUNING, fine_tuning_tables, transfer_tables
from disan_tf.reporting.paper_tables import render_tables
from disan_tf.reporting.papers import paper_figures
from disan_tf.reporting.result_files import (
    read_predictions,
    read_result,
    read_results,
    read_speeds,
    write_predictions,
)
from disan_tf.reporting.results import describe_members
from disan_tf.runs.run_summary import summarise_run
from disan_tf.runs.series_summary import extend, member_name, summarise_series


def report(runs: Optional[Path], output: Path) -> None:
    """Records all finished runs below `runs`, and writes all tables anew.

    Args:
      runs: a work directory, a series or a tree of them; None = only write the tables.
      output: gets `results/`, `predictions/`, `tables/`, `figures/` and the two pages. If it is
        this repository's `checkpoints/`, the front page's results are written too.

    Raises:
      UserError: `runs` holds no run.
    """
    if runs is not None:
        _record(Path(runs), output / "results", output / "predictions")
    results, predictions = (
        read_results(output / "results"),
        read_predictions(output / "predictions"),
    )
    draw_table_curves(results, output / "figures")
    draw_results(results, output / "figures")
    tables = {
        **render_tables(results, predictions, read_speeds(output / "benchmarks")),
        **transfer_tables(output / "results"),
        **fine_tuning_tables(output),
        **results_table(results),
        **benchmark_tables(output / "benchmarks"),
    }
    for name, text in tables.items():
        write_atomically(output / "tables" / name, text)
    ledger = assess_claims(read_records(results, predictions, output / "benchmarks"))
    for name, text in render_claims(ledger).items():
        write_atomically(output / name, text)
    texts = deviations.render_deviations(results, deviations.load_defaults())
    write_atomically(output / deviations.PAGE, texts)
    if output.resolve() == CHECKPOINTS:
        update_pages()
    print(f"tables in {output / 'tables'}")


def find_results(runs: Optional[Path]) -> dict[str, dict]:
    """Returns this repository's recorded results, and the results of finished runs below `runs`.

    Trainings that began with a trained model are left out, as in `read_results`.
    """
    results = read_results(CHECKPOINTS / "results")
    for folder in find_runs(Path(runs)) if runs else ():
        try:
            run = summarise(folder, {})
            if "init_from" not in run:
                results[_name(Path(runs), folder)] = run
        except UserError as error:
            print(f"skipped: {error}")
    return results


def find_work_directories(root) -> list[Path]:
    """Returns all work directories at and below `root`, members of series included."""
    return sorted(path.parent for path in Path(root).rglob("metrics.jsonl"))


def find_runs(root: Path) -> Iterator[Path]:
    """Yields work directories and series at and below `root`, without members of series."""
    for folder, folders, files in os.walk(root):
        folders.sort()
        if "series.json" in files or "config.json" in files:
            folders.clear()
            yield Path(folder)


def summarise(folder: Path, previous: dict) -> dict:
    """Returns the result of a run or series.

    Args:
      folder: the folder of the run or series.
      previous: the last recorded result; its command and note stay where the folder has none.

    Returns:
      "command", "paper", "note", and what `summarise_series` or `summarise_run` returns.

    Raises:
      UserError: the run is not finished, or a file is not as a training writes it.
    """
    try:
        is_series = (folder / "series.json").exists()
        run = summarise_series(folder) if is_series else summarise_run(folder)
        paper = paper_figures(run["config"])
    except (LookupError, TypeError, ValueError, AttributeError, StopIteration) as error:
        raise UserError(f"{folder} holds files that no training writes ({error!r}).") from None
    about = {
        "command": run.pop("command") or previous.get("command"),
        "paper": paper or previous.get("paper", ""),
        "note": _note(folder) or previous.get("note", ""),
    }
    return {**about, **run}


def _record(root: Path, results: Path, predictions: Path) -> None:
    """Writes a tree's results, and prints a line for each run that is not finished."""
    folders = list(find_runs(root))
    if not folders:
        raise UserError(f"{root} holds no work directory; name the folder of your runs.")
    for folder in folders:
        name = _name(root, folder)
        path = results / f"{name}.json"
        previous = read_result(path) if path.exists() else {}
        try:
            run = summarise(folder, previous)
        except UserError as error:
            print(f"skipped: {error}")
            continue
        joined = extend(previous, run) if previous else None
        names = [member["name"] for member in run.get("members", [])]
        members = {name: folder / name for name in names} or {member_name(run["config"]): folder}
        write_json(path, {**run, **(joined or {})})
        write_predictions(predictions / f"{name}.npz", members, joins=bool(joined))
        print(f"{folder}: {path}" + (f", {describe_members(joined)} now" if joined else ""))


def _name(root, folder) -> str:
    """Returns a run's name: its path below the root."""
    first, *others = folder.relative_to(root).parts or [folder.resolve().name]
    if first == FINE_TUNING and others:
        return f"{first}/{'-'.join(others)}"
    return "-".join([first, *others])


def _note(folder):
    path = folder / "note.txt"
    return " ".join(path.read_text(encoding="utf-8").split()) if path.exists() else ""
