"""Evidence from two rows of a paper's table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Optional

from disan_tf.reporting.claims.claim import Finding, Records
from disan_tf.reporting.claims.conditions import (
    choose_runs,
    describe_protocol,
    most_complete,
    seeds_of,
    unequal_conditions,
)
from disan_tf.reporting.differences import ALL, Interval, difference_over_all
from disan_tf.reporting.paper_tables.all_tables import TABLES
from disan_tf.reporting.paper_tables.table import Row, Score, Table
from disan_tf.reporting.results import mean, percent, training_share

_LOWER_IS_BETTER = {"loss", "mse"}
_WITH_PREDICTIONS = {"accuracy", "pearson"}


@dataclass(frozen=True)
class Rows:
    """Two rows of a table, of which the first has the better score in the paper.

    Attributes:
      table: a key of `TABLES`.
      ours, other: the names of two rows; the paper's own model is usually the first.
      score: the name of a column; "" = `Table.headline`.
      examples: None = runs on any number of training examples.
      stand_in: says that the first row's model stands in for one that was not run.
    """

    table: str
    ours: str
    other: str
    score: str = ""
    examples: Optional[int] = None
    stand_in: str = ""

    def find(self, records: Records) -> Finding:
        """Compares the chosen runs of both rows; see `conditions.choose_runs`."""
        table = TABLES[self.table]
        score = column(table, self.score)
        rows = [find_row(table, name) for name in (self.ours, self.other)]
        paper = _paper(table, rows, score)
        missing = [row for row in rows if not _runs_of(row, records)]
        if missing:
            names = ", ".join(row.model for row in missing)
            return Finding(paper, ours=_known(rows, records, score), missing=f"{names}: not run")
        names = choose_runs(table, *rows, records.results, records.predictions, self.examples)
        if names is None:
            return Finding(paper, missing=f"runs on {self.examples:,} training examples: not run")
        first, second = (records.results[name] for name in names)
        sign = -1 if score.key in _LOWER_IS_BETTER else 1
        gain = mean(first, score.split, score.key) - mean(second, score.split, score.key)
        interval, covers, decisive = _interval(names, records, score)
        return Finding(
            paper,
            ours=f"{score.show(first)} and {score.show(second)}".replace("r ", ""),
            gain=_signed(score, gain, interval),
            value=sign * gain,
            interval=interval,
            covers=covers,
            decisive=decisive,
            share=_share(first, second),
            seeds=f"{seeds_of(first)} and {seeds_of(second)}",
            dev=_dev(score, first, second),
            protocol=", ".join([describe_protocol(first), *_padded(rows, names, records, score)]),
            unequal=self.stand_in or unequal_conditions(table, first, second),
            runs=names,
        )


def column(table: Table, name: str) -> Score:
    """Returns a table's column by its name, "" = the headline.

    Raises:
      KeyError: the table has no such column.
    """
    if not name:
        return table.headline
    return {score.name: score for score in table.scores}[name]


def find_row(table: Table, model: str) -> Row:
    """Returns a table's row by its model.

    Raises:
      KeyError: the table has no such row.
    """
    return {row.model: row for row in table.rows}[model]


def _runs_of(row: Row, records: Records) -> list[dict]:
    return [run for run in records.results.values() if row.matches(run["config"])]


def _padded(
    rows: Sequence[Row], compared: Sequence[str], records: Records, score: Score
) -> Iterator[str]:
    """Yields the scores of other runs of these rows, whose vectors were padded to their width."""
    for row in rows:
        for name, run in records.results.items():
            is_padded = row.matches(run["config"]) and run["config"]["data"].get("vector_dim")
            if is_padded and name not in compared:
                width = run["config"]["data"]["embedding_dim"]
                yield f"{row.model} with vectors padded to {width} dimensions: {score.show(run)}"


def _paper(table: Table, rows: Sequence[Row], score: Score) -> str:
    figures = [row.figures[table.scores.index(score)] for row in rows]
    if not all(figures):
        return "none"
    numbers = [float(figure.split()[0]) for figure in figures]
    digits = max(len(figure.split()[0].partition(".")[2]) for figure in figures)
    return f"{' and '.join(figures)}: {numbers[0] - numbers[1]:+.{digits}f}"


def _known(rows: Sequence[Row], records: Records, score: Score) -> str:
    """Returns the scores of the rows that were run; see `conditions.most_complete`."""
    texts = []
    for row in rows:
        if run := most_complete(_runs_of(row, records)):
            texts.append(f"{row.model} {score.show(run)}")
    return ", ".join(texts)


def _interval(names, records: Records, score: Score) -> tuple[Optional[Interval], str, bool]:
    """Returns the interval, what it covers or why there is none, and whether it may decide."""
    if score.key not in _WITH_PREDICTIONS:
        return None, f"no interval: {score.name} was not kept by example", False
    lacking = [name for name in names if name not in records.predictions]
    if lacking:
        return None, "no interval: predictions were not kept", False
    ours, others = (records.predictions[name] for name in names)
    found, covers = difference_over_all(ours, others, score.key)
    if found is None:
        return None, "no interval: scored on different examples", False
    return found, covers, covers == ALL


def _signed(score: Score, value: float, interval: Optional[Interval] = None) -> str:
    """Formats a difference as "+0.38 (-0.08 to +0.83)"."""
    parts = [value, *(interval[1:] if interval else ())]
    numbers = [round(score.scale * part, score.digits) + 0.0 for part in parts]  # no "-0.00"
    texts = [f"{number:+.{score.digits}f}" for number in numbers]
    return f"{texts[0]} ({texts[1]} to {texts[2]})" if interval else texts[0]


def _dev(score: Score, first: dict, second: dict) -> str:
    """Returns the difference on dev where the column is a score on test."""
    values = [mean(run, "dev", score.key) for run in (first, second)]
    return "" if score.split != "test" or None in values else _signed(score, values[0] - values[1])


def _share(first: dict, second: dict) -> str:
    shares = {training_share(first), training_share(second)} - {None}
    return " and ".join(percent(share) for share in sorted(shares, reverse=True))
