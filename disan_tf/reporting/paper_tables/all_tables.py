"""All papers' tables, from `checkpoints/papers`, and functions that find a config's model."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Optional

from disan_tf.reporting.paper_tables.table import Row, Table
from disan_tf.reporting.papers import PAPERS, read_section


def _read_tables(paper: str) -> Iterator[Table]:
    """Yields a paper's tables; their rows get the table's conditions, and "" for no figures."""
    name = read_section(paper, "paper", str)
    for table in read_section(paper, "tables", tuple[Table, ...]):
        rows = (
            replace(
                row,
                where={**table.where, **row.where},
                figures=row.figures or ("",) * len(table.scores),
            )
            for row in table.rows
        )
        yield replace(table, paper=name, rows=tuple(rows))


TABLES: dict[str, Table] = {table.name: table for paper in PAPERS for table in _read_tables(paper)}


def find_row(config: dict) -> Optional[tuple[Table, Row]]:
    """Returns the first table that has a config's model, and its row; None if none has it."""
    rows = ((table, row) for table in TABLES.values() for row in table.rows)
    return next((place for place in rows if place[1].matches(config)), None)


def paper_figures(config: dict) -> str:
    """Returns the paper's figures for a config's model on all splits but train, "" if none.

    For instance "85.62", or ".8695 (.0012) / .8139 (.0012) / .2879 (.0036)".
    """
    place = find_row(config)
    if place is None:
        return ""
    table, row = place
    pairs = zip(table.scores, row.figures)
    return " / ".join(figure for score, figure in pairs if score.split != "train")


def paper_headline(config: dict) -> str:
    """Returns the paper's `Table.headline` figure for a config's model, "" if there is none."""
    place = find_row(config)
    return place[0].headline_figure(place[1]) if place else ""
