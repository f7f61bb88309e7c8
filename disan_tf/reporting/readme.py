"""The READMEs' tables of recorded results and benchmarks, which stand between marks.

<!-- results: begin -->
<!-- results: end -->
"""

from pathlib import Path

from disan_tf.common.errors import UserError
from disan_tf.common.files import write_atomically
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.reporting.benchmark_tables import benchmark_tables
from disan_tf.reporting.front_page import front_page_table
from disan_tf.reporting.result_files import read_results
from disan_tf.reporting.results_table import results_table

FILES = {  # name of the marks -> the file that has them
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
    texts = {
        path: _between_marks(repository / path, name, tables[name]) for name, path in FILES.items()
    }
    for path, text in texts.items():
        write_atomically(repository / path, text)


def _tables(checkpoints) -> dict[str, str]:
    results = read_results(checkpoints / "results")
    return {
        "papers": front_page_table(results),
        "results": results_table(results),
        "benchmarks": benchmark_tables(checkpoints / "benchmarks"),
    }


def _between_marks(path, name, content) -> str:
    """Returns a README's text with new content between its marks."""
    marks = (f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n")
    before, begin, rest = path.read_text(encoding="utf-8").partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not begin or not end:
        raise UserError(
            f"{path} lacks the lines {' and '.join(map(str.strip, marks))}; restore it."
        )
    return before + begin + content + end + after
