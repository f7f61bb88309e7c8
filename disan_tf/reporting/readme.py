"""The READMEs' tables and sentences on recorded results and benchmarks, which stand between marks.

<!-- results: begin -->
<!-- results: end -->
"""

from pathlib import Path

from disan_tf.common.errors import UserError
from disan_tf.common.files import write_atomically
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.reporting.benchmark_tables import benchmark_tables
from disan_tf.reporting.claims.all_claims import assess_claims, read_records
from disan_tf.reporting.claims.page import render_sentences
from disan_tf.reporting.front_page import front_page_table
from disan_tf.reporting.result_files import read_predictions, read_results
from disan_tf.reporting.results_table import results_table

FILES = {  # name of the marks -> the file that has them
    "claims": "README.md",
    "papers": "README.md",
    "results": "checkpoints/README.md",
    "benchmarks": "disan_tf/benchmark/README.md",
}


def update_readmes(repository: Path = CHECKPOINTS.parent) -> None:
    """Writes the tables between their marks.

    Raises:
      UserError: marks are missing; no file is changed.
    """
    tables = _tables(repository / "checkpoints")
    paths = {repository / path for path in FILES.values()}
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    for name, file in FILES.items():
        path = repository / file
        texts[path] = _between_marks(path, texts[path], name, tables[name])
    for path, text in texts.items():
        write_atomically(path, text)


def _tables(checkpoints) -> dict[str, str]:
    results = read_results(checkpoints / "results")
    predictions = read_predictions(checkpoints / "predictions")
    records = read_records(results, predictions, checkpoints / "benchmarks")
    return {
        "claims": render_sentences(assess_claims(records)),
        "papers": front_page_table(results),
        "results": results_table(results),
        "benchmarks": benchmark_tables(checkpoints / "benchmarks"),
    }


def _between_marks(path, text, name, content) -> str:
    """Returns a README's text with new content between its marks."""
    marks = (f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n")
    before, begin, rest = text.partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not begin or not end:
        raise UserError(
            f"{path} lacks the lines {' and '.join(map(str.strip, marks))}; restore it."
        )
    return before + begin + content + end + after
