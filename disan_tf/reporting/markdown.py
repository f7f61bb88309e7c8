"""Tables in Markdown and CSV."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence


def markdown_table(head: Sequence[str], rows: Iterable[Sequence]) -> str:
    """Renders a table with a line for each row."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def csv_table(lines: Sequence[Mapping]) -> str:
    """Renders lines of column -> cell as CSV; all have the columns of the first line."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(lines[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()
