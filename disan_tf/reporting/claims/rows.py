"""Evidence from the rows of a paper's table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Optional

from disan_tf.reporting.claims.conditions import (
    choose_runs,
    describe_protocol,
    most_complete,
    other_trainings,
    scope_of,
    seeds_of,
    unequal_conditions,
)
from disan_tf.reporting.claims.finding import Finding, Records
from disan_tf.reporting.differences import Interval, difference_over_all
from disan_tf.reporting.paper_tables.all_tables import TABLES
from disan_tf.reporting.paper_tables.table import Row, Score
from disan_tf.reporting.results import mean, percent, training_share

LOWER_IS_BETTER = ("loss", "mse")
_WITH_PREDICTIONS = ("accuracy", "pearson")


@dataclass(frozen=True)
class Rows:
    """Two rows of a table, of which the first has the better score in the paper.

    Attributes:
      table: a key of `TABLES`.
      models: the models of the two rows.
      column: the name of a column; "" = `Table.headline`.
      examples: 0 = runs on any number of training examples.
      apart: options in which the paper's two models differ too, such as "task.hidden_units".
    """

    table: str
    models: tuple[str, ...]
    column: str = ""
    examples: int = 0
    apart: tuple[str, ...] = ()

    def __post_init__(self):
        columns = {score.name for score in TABLES[self.table].scores} if self.rows else set()
        if len(self.models) != 2 or not {self.column} <= columns | {""}:
            raise ValueError(f"{self.table} needs two models and a column of {sorted(columns)}")

    @property
    def rows(self) -> list[Row]:
        """The two rows; a ValueError if there is no such table or row."""
        return [find_row(self.table, model) for model in self.models]

    @property
    def score(self) -> Score:
        """The column's score."""
        table = TABLES[self.table]
        return next((s for s in table.scores if s.name == self.column), table.headline)

    @property
    def figures(self) -> list[str]:
        """The paper's figures of the two rows, "" where it has none."""
        return [row.figures[TABLES[self.table].scores.index(self.score)] for row in self.rows]

    @property
    def free(self) -> set[str]:
        """The options in which the two trainings may differ."""
        return {*self.apart, *(f"data.{key}" for key in TABLES[self.table].distinguishing_options)}

    def choose(self, records: Records) -> Optional[tuple[str, str]]:
        """Returns the names of the compared runs, see `choose_runs`."""
        runs = [row.runs(records.results) for row in self.rows]
        return choose_runs(*runs, records.predictions, self.free, self.examples)

    def find(self, records: Records) -> Finding:
        """Compares the chosen runs of both rows."""
        score, rows = self.score, self.rows
        paper, names = _printed(self.figures), self.choose(records)
        if names is None:
            best = {row.model: most_complete(row.runs(records.results)) for row in rows}
            known = ", ".join(f"{model} {score.show(run)}" for model, run in best.items() if run)
            lacking = [model for model, run in best.items() if run is None]
            missing = ", ".join(lacking or [f"runs on {self.examples:,} training examples"])
            return Finding(paper, ours=known, missing=f"{missing}: not run")
        first, second = (records.results[name] for name in names)
        value, interval, covers = _difference(names, records, score)
        return Finding(
            paper,
            ours=f"{score.show(first)} and {score.show(second)}".replace("r ", ""),
            gain=_signed(score, value, interval, covers),
            value=-value if score.key in LOWER_IS_BETTER else value,
            interval=interval,
            covers=covers,
            scope=scope_of(first, second),
            share=shares(first, second),
            seeds=f"{seeds_of(first)} and {seeds_of(second)}",
            dev=_dev(score, first, second),
            protocol=", ".join([describe_protocol(first), *_others(rows, names, records, score)]),
            unequal=unequal_conditions(first, second, self.free),
            runs=names,
        )


@dataclass(frozen=True)
class Parameters(Rows):
    """Two rows of a table, of which the first has fewer parameters in the paper."""

    def find(self, records: Records) -> Finding:
        """Compares the parameters of the runs that `Rows` would compare; they are exact."""
        paper = " and ".join(row.parameters for row in self.rows)
        names = self.choose(records)
        if names is None:
            return Finding(paper, missing="a run of one of the two: not run")
        first, second = (records.results[name]["parameters"] for name in names)
        gain = second / first - 1
        return Finding(
            paper,
            ours=f"{first:,} and {second:,}",
            gain=f"{first / second:.2f} times",
            value=gain,
            interval=Interval(gain, gain, gain),
            covers="exact",
            runs=names,
        )


def find_row(table: str, model: str) -> Row:
    """Returns a table's row; a ValueError if there is no such table or row."""
    rows = {row.model: row for row in TABLES[table].rows} if table in TABLES else {}
    if model not in rows:
        known = ", ".join(rows or TABLES)
        raise ValueError(f"no table {table} with a model {model} (known: {known})")
    return rows[model]


def shares(*runs: dict) -> str:
    """Describes the shares of the official training examples that runs were trained on."""
    found = {training_share(run) for run in runs} - {None}
    return " and ".join(percent(share) for share in sorted(found, reverse=True))


def _others(rows: Sequence[Row], names, records: Records, score: Score) -> Iterator[str]:
    """Yields the scores of other trainings of both models, with the difference that they leave."""
    for side, row in enumerate(rows):
        for name, how in other_trainings(records.results[names[side]], records.results):
            pair = (name, names[1]) if side == 0 else (names[0], name)
            value, interval, covers = _difference(pair, records, score)
            gain = _signed(score, value, interval, covers)
            yield f"{row.model} {how}: {score.show(records.results[name])}, {gain}"


def _printed(figures: Sequence[str]) -> str:
    if not all(figures):
        return "none"
    numbers = [float(figure.split()[0]) for figure in figures]
    digits = max(len(figure.split()[0].partition(".")[2]) for figure in figures)
    return f"{' and '.join(figures)}: {numbers[0] - numbers[1]:+.{digits}f}"


def _difference(names, records: Records, score: Score) -> tuple[float, Optional[Interval], str]:
    """Returns the difference of two runs, its interval, and what that covers or why it is None."""
    first, second = (mean(records.results[name], score.split, score.key) for name in names)
    if score.key not in _WITH_PREDICTIONS:
        return first - second, None, f"no interval: {score.name} was not kept by example"
    if not {*names} <= records.predictions.keys():
        return first - second, None, "no interval: predictions were not kept"
    sides = (records.predictions[name] for name in names)
    interval, covers = difference_over_all(*sides, score.key)
    return first - second, interval, covers if interval else "no interval: different examples"


def _signed(score: Score, value: float, interval=None, covers: str = "") -> str:
    """Formats a difference as "+0.38 (-0.08 to +0.83; seeds and examples)"."""
    parts = [value, *(interval[1:] if interval else ())]
    numbers = [round(score.scale * part, score.digits) + 0.0 for part in parts]  # no "-0.00"
    texts = [f"{number:+.{score.digits}f}" for number in numbers]
    return f"{texts[0]} ({texts[1]} to {texts[2]}; {covers})" if interval else texts[0]


def _dev(score: Score, first: dict, second: dict) -> str:
    """Returns the difference on dev where the column is a score on test."""
    values = [mean(run, "dev", score.key) for run in (first, second)]
    return "" if score.split != "test" or None in values else _signed(score, values[0] - values[1])
