"""Generated parts of pages, which stand between marks such as `<!-- results: begin -->`."""

import csv
from collections import Counter
from pathlib import Path

from disan_tf.common.errors import UserError
from disan_tf.common.files import write_atomically
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.common.tables import markdown_table
from disan_tf.study.descriptions import mean, percent, training_share
from disan_tf.study.papers import TABLES, Table
from disan_tf.study.reproduce import read_targets, render_rows
from disan_tf.study.results import read_results

FILES = {"results": "README.md", "rows": "docs/reproduce.md"}  # marks -> the file that has them


def update_pages(repository: Path = CHECKPOINTS.parent) -> None:
    """Writes the generated parts; a UserError says that marks are missing, and changes no file."""
    for path, text in pages(repository).items():
        write_atomically(path, text)


def pages(repository: Path = CHECKPOINTS.parent) -> dict[Path, str]:
    """Returns the pages, with what stands between their marks written anew."""
    results = read_results(repository / "checkpoints" / "results")
    ledger = ledger_sentence(repository / "checkpoints" / "claims.csv")
    table, rows = front_page_table(results), render_rows(read_targets(results))
    parts = {"results": f"{table}\n{ledger}\n", "rows": rows}
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


def ledger_sentence(path: Path) -> str:
    """Returns the number of the papers' claims with each verdict in `claims.csv`, as a sentence."""
    with open(path, encoding="utf-8", newline="") as file:
        lines = [line for line in csv.DictReader(file) if line["made by"] == "the paper"]
    counts = Counter(line["verdict"] for line in lines)
    return (
        f"The [ledger](checkpoints/claims.md) lists {len(lines)} claims: {counts['supported']} "
        f"supported, {counts['not supported']} not supported, {counts['undecided']} undecided and "
        f"{counts['not tested']} not tested."
    )


def front_page_table(results: dict[str, dict]) -> str:
    """Renders a line for each table with `front_page`: the paper's test score, and ours.

    Ours comes from the run best on dev, and both scores belong to the same model. Where the paper
    has no score for our best model, its strongest model's stands there, and ours names its model.
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
        line["paper"] = figure or strongest
        line["ours"] = ours if figure else f"{ours}, {model}"
        line["training data"] = percent(training_share(best))
    return line
