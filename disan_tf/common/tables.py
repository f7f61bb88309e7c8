"""Tables as Markdown, CSV and plain text.

A table is a list of lines; a line maps the titles of its columns to their cells. A table has
the columns of all its lines, in the order in which they first appear; a line without a cell leaves
it empty.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from types import SimpleNamespace

from disan_tf.common.errors import escape

Lines = Sequence[Mapping]


def markdown_table(lines: Lines) -> str:
    """Renders lines as Markdown; "" where there are none."""
    titles, *rows = _rows(lines)
    marks = ["---"] * len(titles)
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in (titles, marks, *rows) if titles)


def csv_table(lines: Lines) -> str:
    """Renders lines as CSV."""
    return csv_rows(_rows(lines))


def csv_rows(rows: Iterable[Iterable], quoting: int = csv.QUOTE_MINIMAL) -> str:
    """Renders rows of cells as CSV; `quoting` is a constant of the module `csv`."""
    lines: list[str] = []
    # Before Python 3.13, `csv` quotes a carriage return only if the line's end contains one.
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\r\n", quoting=quoting)
    writer.writerows(rows)
    return "".join(line.removesuffix("\r\n") + "\n" for line in lines)


def text_table(lines: Lines) -> str:
    """Renders lines as text; aligns the first column left and the others right.

    A number has four digits after the point or separated thousands, and None is a dash. Control
    characters are escaped.
    """
    texts = [list(map(_text, row)) for row in _rows(lines)]
    widths = [max(map(len, column)) for column in zip(*texts)]
    alignments = [str.ljust, *[str.rjust] * len(widths)]
    aligned = ([align(*cell) for align, *cell in zip(alignments, row, widths)] for row in texts)
    return "\n".join("  ".join(row).rstrip() for row in aligned)


def _rows(lines: Lines) -> list[list]:
    """Returns the titles, then the cells of each line."""
    titles = list(dict.fromkeys(chain.from_iterable(lines)))
    return [titles, *([line.get(title, "") for title in titles] for line in lines)]


def _text(value) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4f}"
    return f"{value:,}" if isinstance(value, int) else escape(str(value))
