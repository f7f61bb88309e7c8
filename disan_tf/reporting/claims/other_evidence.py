"""Evidence from selections and benchmarks, and claims without any."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from disan_tf.reporting.claims.conditions import describe_protocol, most_complete
from disan_tf.reporting.claims.finding import Finding, Records
from disan_tf.reporting.claims.rows import find_row, shares
from disan_tf.reporting.differences import Interval
from disan_tf.reporting.paper_tables.all_tables import TABLES

_SELECTION = {  # what the selected tokens show -> the two scores that tell it, and the gain
    "no cost": ("accuracy", "all_accuracy", lambda selected, everything: selected - everything),
    "few tokens": ("head_fraction", "dependent_fraction", lambda h, d: 0.5 - (h + d) / 2),
    "more dependents": ("dependent_fraction", "head_fraction", lambda d, h: d - h),
}


@dataclass(frozen=True)
class Selection:
    """A statement on the tokens that ReSAN selects on SNLI.

    Attributes:
      paper: the paper's figure.
      shows: "no cost": selecting is as accurate as all tokens with the same weights; "few tokens":
        fewer than half are selected; "more dependents" than heads are selected.
    """

    paper: str
    shows: Literal["no cost", "few tokens", "more dependents"]

    def find(self, records: Records) -> Finding:
        """Averages over the members of all series of ReSAN on SNLI."""
        runs = find_row("resan_table_1", "ReSAN").runs(records.results)
        series = {name: run for name, run in runs.items() if "members" in run}
        *keys, gain = _SELECTION[self.shows]
        scores = [member["scores"]["test"] for run in series.values() for member in run["members"]]
        pairs = [[score[key] for key in keys] for score in scores if {*keys} <= score.keys()]
        if not pairs:
            return Finding(self.paper, missing="ReSAN with its selections: not run")
        gains = [gain(*pair) for pair in pairs]
        agreeing = sum(value > 0 for value in gains)
        return Finding(
            self.paper,
            ours=" and ".join(f"{100 * _average(side):.2f}" for side in zip(*pairs)),
            gain=f"{100 * _average(gains):+.2f}",
            value=_average(gains),
            covers=f"no interval: not kept by example; paper's sign in {agreeing} of {len(gains)}",
            share=shares(*series.values()),
            seeds=f"{len(gains)} models",
            protocol=describe_protocol(next(iter(series.values()))),
            runs=tuple(series),
        )


@dataclass(frozen=True)
class Benchmark:
    """Two measured times or speeds, of which the first is the better one in the paper.

    Attributes:
      paper: the paper's figures.
      file: a file of `checkpoints/benchmarks`, without ".json".
      first, second: the keys that lead to a measurement, separated by "/": it has "median_ms",
        "min_ms" and "max_ms", or "pairs_per_second", "min" and "max".
      kernels: what computes the two models; a verdict names the first where they differ.
    """

    paper: str
    file: str
    first: str
    second: str
    kernels: tuple[str, ...]

    def __post_init__(self):
        if len(self.kernels) != 2:
            raise ValueError("kernels must name what computes the first model and the second")

    def find(self, records: Records) -> Finding:
        """Compares the medians; the range of repetitions stands in for an interval."""
        record = records.benchmarks.get(self.file)
        if record is None:
            return Finding(self.paper, missing=f"benchmark {self.file}: not run")
        first, second = (_measure(record, path) for path in (self.first, self.second))
        times = zip(second[0], (first[0][0], first[0][2], first[0][1]))
        ratio = Interval(*(others / ours for others, ours in times))
        machine = record["machine"]
        return Finding(
            self.paper,
            ours=f"{first[1]} and {second[1]}",
            gain=f"{ratio.value:.2f} times ({ratio.low:.2f} to {ratio.high:.2f})",
            value=ratio.value - 1,
            interval=Interval(*(part - 1 for part in ratio)),
            covers=f"range of repetitions; {machine['processor']}, {machine['threads']} threads",
            scope=f"with {self.kernels[0]}" if len({*self.kernels}) > 1 else "",
            protocol=f"kernels: {' and '.join(self.kernels)}",
            runs=(f"benchmarks/{self.file}.json",),
        )


@dataclass(frozen=True)
class Untested:
    """A claim for which the repository has no comparison.

    Attributes:
      missing: the missing run or measurement.
      paper: the paper's figures; the other model's alone if `model` has one in our tables.
      table, model: a row of a table, "" = none.
    """

    missing: str
    paper: str
    table: str = ""
    model: str = ""

    def __post_init__(self):
        if self.table or self.model:
            find_row(self.table, self.model)

    def find(self, records: Records) -> Finding:
        """Returns the paper's figures, and ours of the row if there is one."""
        if not self.table:
            return Finding(self.paper, missing=self.missing)
        table, row = TABLES[self.table], find_row(self.table, self.model)
        run = most_complete(row.runs(records.results))
        return Finding(
            f"{table.headline_figure(row)} and {self.paper}",
            ours=table.headline.show(run) if run else "",
            share=shares(run) if run else "",
            missing=self.missing,
        )


def _average(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)


def _measure(record, path: str) -> tuple[tuple, str]:
    """Returns a measurement's median, lowest and highest time in any unit, and its text."""
    for key in path.split("/"):
        record = record[int(key) if isinstance(record, list) else key]
    if "median_ms" in record:
        times = record["median_ms"], record["min_ms"], record["max_ms"]
        return times, f"{record['median_ms']:.1f} ms"
    speeds = record["pairs_per_second"], record["max"], record["min"]
    return tuple(1 / speed for speed in speeds), f"{speeds[0]:,.0f} pairs a second"
