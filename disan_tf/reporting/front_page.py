"""Generated parts of pages, which stand between marks.

<!-- results: begin -->
<!-- results: end -->
"""

import csv
from collections import Counter
from pathlib import Path

from disan_tf.common.errors import UserError
from disan_tf.common.files import write_atomically
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.common.tables import markdown_table
from disan_tf.reporting.papers import TABLES
from disan_tf.reporting.reproduction import read_targets, render_rows
from disan_tf.reporting.result_files import read_results
from disan_tf.reporting.results import mean, percent, training_share

FILES = {"results": "README.md", "rows": "docs/reproduce.md"}  # marks -> the file that has them
_MULTIWAY = ("B-Cs-D-M", "B-Ca-D-M", "B-Ca-Cs-D-M", "B-Ca-Cs-D", "B-Ca-Cs-M")
_ELMO = ("DiSAN + small biLM", "DiSAN + small biLM and GloVe", "DiSAN + ELMo")
ROWS = (  # table, corpus, and the rows with the paper's own model, the strongest last
    ("disan_table_1", "SNLI", "DiSAN"),
    ("disan_table_2", "SST, five classes", "DiSAN"),
    ("disan_table_4", "SICK", "DiSAN"),
    ("resan_table_1", "SNLI", "ReSAN"),
    ("resan_table_3", "SICK", "ReSAN"),
    ("dsa_table_1", "SNLI", "Single DSA", "Multiple DSA"),
    ("drcn_table_1", "SNLI", *_MULTIWAY),
    ("elmo_disan_table_1", "SST, five classes", *_ELMO),
)


def update_pages(repository: Path = CHECKPOINTS.parent) -> None:
    """Writes the generated parts between their marks.

    Raises:
      UserError: marks are missing; their file is not changed.
    """
    for path, text in pages(repository).items():
        write_atomically(path, text)


def pages(repository: Path = CHECKPOINTS.parent) -> dict[Path, str]:
    """Returns the pages, with what stands between their marks written anew."""
    checkpoints = repository / "checkpoints"
    results = read_results(checkpoints / "results")
    ledger = ledger_sentence(checkpoints / "claims.csv")
    parts = {
        "results": f"{front_page_table(results)}\n{ledger}\n",
        "rows": render_rows(read_targets(results)),
    }
    return {
        repository / file: _with(repository / file, name, parts[name])
        for name, file in FILES.items()
    }


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
        f"{counts['supported']} of {len(lines)} claims are supported, "
        f"{counts['not supported']} are not, {counts['undecided']} are undecided and "
        f"{counts['not tested']} are not tested: see the [ledger](checkpoints/claims.md)."
    )


def front_page_table(results: dict[str, dict]) -> str:
    """Renders a line for each of `ROWS`: the paper's test score, and ours from the run best on dev.

    Both scores belong to the same model. Where the paper has no score for our best model, its
    strongest model's score stands there, and ours names its own model.

    Args:
      results: see `disan_tf.reporting.result_files.read_results`.
    """
    return markdown_table([_row(results, *row) for row in ROWS])


def _row(results, name: str, corpus: str, *models: str) -> dict:
    table = TABLES[name]
    rows = {row.model: row for row in table.rows if row.model in models}
    runs = [(model, run) for model, row in rows.items() for run in row.runs(results).values()]
    line = {"model": f"[{table.paper}](checkpoints/tables/{name}.md)", "corpus": corpus}
    strongest = table.headline_figure(rows[models[-1]])
    if not runs:
        return {**line, "paper": strongest, "ours": "not run"}
    model, best = max(runs, key=lambda pair: mean(pair[1], "dev", table.headline.key))
    figure, ours = table.headline_figure(rows[model]), table.headline.show(best)
    return {
        **line,
        "paper": figure or strongest,
        "ours": ours if figure else f"{ours}, {model}",
        "training data": percent(training_share(best)),
    }
