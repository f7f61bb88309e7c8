"""`--mode=report --output=checkpoints`: records the results of work directories, writes the tables.

    <output>/results/<name>.json      one for each run or series, named for its place in the tree
    <output>/predictions/<name>.npz   its models' predictions for the test examples
    <output>/deviations.md            settings in which the runs differ from the papers
    <output>/tables/                  the papers' tables with our runs beside, all runs, benchmarks
    <output>/claims.md, claims.csv    the papers' claims with computed verdicts
    <output>/figures/                 a picture for each table, the papers' figures of results

If a result of the same name is recorded, it is extended if both are of one experiment and have no
seed and fold in common, so that seeds can be trained on several machines. It is replaced if the new
one has all of its seeds and folds. Otherwise the new one is skipped.

Runs in a folder `fine_tuning` of the tree go to folders of this name. No table shows them;
`--mode=compare --runs=fine_tuning/ONE,fine_tuning/OTHER` compares them. `note.txt` in a run's or
series' folder says why its figures differ from the paper's.
"""

from collections import Counter
from pathlib import Path
from typing import Callable, Optional

from ml_collections import ConfigDict

from disan_tf.common.atomic import write_atomically, write_json
from disan_tf.common.errors import UserError, escape
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.common.tables import markdown_table
from disan_tf.runs.run import find_runs
from disan_tf.runs.run_summary import summarise_run
from disan_tf.runs.series_summary import extend, member_name, obstacles, summarise_series
from disan_tf.study import settings
from disan_tf.study.benchmark.recorded import benchmark_tables
from disan_tf.study.claims.conditions import most_complete
from disan_tf.study.claims.ledger import (
    LARGER,
    NOT_SUPPORTED,
    NOT_TESTED,
    SUPPORTED,
    UNDECIDED,
    Ledger,
    assess_claims,
    render_claims,
)
from disan_tf.study.figures.catalogue import draw_results
from disan_tf.study.figures.data import render_figure_data
from disan_tf.study.figures.drawings import draw_table_curves
from disan_tf.study.papers import TABLES, Table, paper_figures
from disan_tf.study.reproduce import read_targets, render_rows
from disan_tf.study.results import (
    Records,
    describe_members,
    mean,
    members_of,
    percent,
    read_records,
    read_result,
    training_share,
    write_predictions,
)
from disan_tf.study.tables import render_tables, results_table

FILES = {"results": "README.md", "rows": "docs/reproduce.md"}  # marks -> the file that has them
LoadConfig = Callable[[str], ConfigDict]


def report(runs: Optional[Path], output: Path, load_config: LoadConfig) -> None:
    """Records all finished runs below `runs`, see `record`, and writes all tables anew.

    Args:
      runs: a work directory, a series or a tree of them; None = only write the tables.
      output: the folder of the files above. If it is this repository's `checkpoints/`, the front
        page's results are written too.
      load_config: returns a config of `configs/` by its name.
    """
    if runs is not None:
        record(Path(runs), output)
    records = read_records(output)
    draw_table_curves(records.results, output / "figures")
    draw_results(records.results, output / "figures")
    ledger = assess_claims(records)
    pages = {
        output / name: text for name, text in render_pages(records, ledger, load_config).items()
    }
    if output.resolve() == CHECKPOINTS:
        pages.update(repository_pages(records.results, ledger))
    for path, text in pages.items():
        write_atomically(path, text)
    print(f"tables in {output / 'tables'}")


def render_pages(records: Records, ledger: Ledger, load_config: LoadConfig) -> dict[str, str]:
    """Renders the tables and pages of records: path below `checkpoints` -> text."""
    tables = {
        **render_tables(records),
        **render_figure_data(records.results),
        **results_table(records.results),
        **benchmark_tables(records.benchmarks),
    }
    return {
        **{f"tables/{name}": text for name, text in tables.items()},
        **render_claims(ledger),
        settings.PAGE: settings.render_settings(records.results, load_config),
    }


def record(root: Path, output: Path) -> None:
    """Writes the results and predictions of a tree's runs, and prints a line for each.

    Raises:
      UserError: there is no run.
    """
    folders = list(find_runs(root))
    if not folders:
        raise UserError(f"{root} holds no work directory; name the folder of your runs.")
    for folder in folders:
        name = _name(root, folder)
        path = output / "results" / f"{name}.json"
        previous = read_result(path) if path.exists() else {}
        try:
            run = summarise(folder, previous)
        except UserError as error:
            print(f"skipped: {escape(str(error))}")
            continue
        joined = extend(previous, run) if previous else None
        if previous and not joined and _trainings(previous) - _trainings(run):
            held = describe_members(previous)
            print(
                f"skipped: {folder} cannot extend {path}, which holds {held} "
                f"({', '.join(obstacles(previous, run))}); delete this file to replace it, or "
                "rename the folder."
            )
            continue
        names = [member["name"] for member in run.get("members", [])]
        members = {name: folder / name for name in names} or {member_name(run["config"]): folder}
        # Predictions first: after a kill between the two, the same command writes both again.
        write_predictions(output / "predictions" / f"{name}.npz", members, joins=bool(joined))
        write_json(path, {**run, **(joined or {})})
        print(f"{folder}: {path}" + (f", {describe_members(joined)} now" if joined else ""))


def _trainings(run) -> set[tuple]:
    """Returns the seeds and folds of a result."""
    return {(member["seed"], member["fold"]) for member in members_of(run)}


def _name(root: Path, folder: Path) -> str:
    """Returns a run's name: its path below the root."""
    first, *others = folder.relative_to(root).parts or [folder.resolve().name]
    if first == "fine_tuning" and others:
        return f"{first}/{'-'.join(others)}"
    return "-".join([first, *others])


def summarise(folder: Path, previous: dict) -> dict:
    """Returns what `summarise_series` or `summarise_run` returns, "command", "paper" and "note".

    Args:
      folder: the folder of the run or series.
      previous: the last recorded result; its command and note stay where the folder has none.

    Raises:
      UserError: the run is not finished, or a file is not as a training writes it.
    """
    is_series, note = (folder / "series.json").exists(), folder / "note.txt"
    try:
        run = summarise_series(folder) if is_series else summarise_run(folder)
        paper = paper_figures(run["config"])
    except (LookupError, TypeError, ValueError, AttributeError, StopIteration) as error:
        raise UserError(f"{folder} holds files that no training writes ({error!r}).") from None
    words = note.read_text(encoding="utf-8").split() if note.exists() else []
    about = {
        "command": run.pop("command") or previous.get("command"),
        "paper": paper or previous.get("paper", ""),
        "note": " ".join(words) or previous.get("note", ""),
    }
    return {**about, **run}


def repository_pages(
    results: dict[str, dict], ledger: Ledger, repository: Path = CHECKPOINTS.parent
) -> dict[Path, str]:
    """Returns the pages of `FILES`, with what stands between their marks written anew.

    Raises:
      UserError: a page lacks its marks.
    """
    table, rows = front_page_table(results), render_rows(read_targets(results))
    parts = {"results": f"{table}\n{ledger_sentence(ledger)}\n", "rows": rows}
    paths = {name: repository / file for name, file in FILES.items()}
    return {path: _with(path, name, parts[name]) for name, path in paths.items()}


def _with(path: Path, name: str, content: str) -> str:
    marks = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    before, begin, rest = path.read_text(encoding="utf-8").partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not begin or not end:
        lines = " and ".join(map(str.strip, marks))
        raise UserError(f"{path} lacks the lines {lines}; restore it.")
    return before + begin + content + end + after


def ledger_sentence(ledger: Ledger) -> str:
    """Returns the number of the papers' claims with each verdict, as a sentence."""
    entries = [entry for part in ledger.values() for entry in part if not entry.claim.ours]
    counts = Counter(entry.verdict for entry in entries)
    on_speed = sum(e.verdict == SUPPORTED and e.claim.about == "speed or size" for e in entries)
    return (
        f"The [ledger](checkpoints/claims.md) lists {len(entries)} claims: {counts[SUPPORTED]} "
        f"supported ({on_speed} on speed or size), {counts[LARGER]} supported with a lead larger "
        f"than the paper's, {counts[NOT_SUPPORTED]} not supported, {counts[UNDECIDED]} undecided "
        f"and {counts[NOT_TESTED]} not tested."
    )


def front_page_table(results: dict[str, dict]) -> str:
    """Renders a line for each table with `front_page`: the paper's test score, and ours.

    Ours comes from the run best on dev, and both scores belong to the same model. Where the paper
    has no score for our best model, its strongest model's stands there, and ours names its model.
    "(one seed)" marks a single training. The score of the table's `baseline` follows our score.
    """
    tables = (table for table in TABLES.values() if table.front_page)
    return markdown_table([_line(results, table) for table in tables])


def _line(results: dict[str, dict], table: Table) -> dict[str, str]:
    rows = {row.model: row for row in table.rows if row.model in table.front_page}
    runs = [(model, run) for model, row in rows.items() for run in row.runs(results).values()]
    model = f"[{table.paper}](checkpoints/tables/{table.name}.md)"
    strongest = table.headline_figure(rows[table.front_page[-1]])
    line = {"model": model, "corpus": table.corpus, "paper": strongest, "ours": "not run"}
    if runs:
        model, best = max(runs, key=lambda pair: mean(pair[1], "dev", table.headline.key))
        figure, ours = table.headline_figure(rows[model]), table.headline.show(best)
        ours += " (one seed)" if len(members_of(best)) == 1 else ""
        line["paper"] = figure or strongest
        line["ours"] = ", ".join(filter(None, [ours, "" if figure else model]))
        baselines = [row for row in table.rows if row.model == table.baseline]
        for run in filter(None, (most_complete(row.runs(results)) for row in baselines)):
            line["ours"] += f"; {table.headline.show(run)}, {table.baseline}"
        line["training data"] = percent(training_share(best))
    return line
