"""Evidence from selections, parameter counts, benchmarks and figures that a paper quotes."""

from collections.abc import Sequence
from dataclasses import dataclass

from disan_tf.reporting.claims.claim import Finding, Records
from disan_tf.reporting.claims.conditions import (
    choose_runs,
    describe_protocol,
    most_complete,
)
from disan_tf.reporting.claims.rows import find_row
from disan_tf.reporting.differences import Interval
from disan_tf.reporting.paper_tables.all_tables import TABLES
from disan_tf.reporting.results import percent, training_share

_SERIES = "ReSAN"  # a row of "resan_table_1"


@dataclass(frozen=True)
class SameWeights:
    """ReSAN's accuracy with its selections minus that of the same weights with all tokens."""

    paper: str

    def find(self, records: Records) -> Finding:
        """Averages over the members of all series of ReSAN on SNLI."""
        names, members = _selecting_members(records)
        members = [member for member in members if "all_accuracy" in member]
        if not members:
            return Finding(self.paper, missing="ReSAN scored with all tokens selected: not run")
        selected = _average([member["accuracy"] for member in members])
        everything = _average([member["all_accuracy"] for member in members])
        below = sum(member["accuracy"] < member["all_accuracy"] for member in members)
        gain = selected - everything
        return Finding(
            self.paper,
            ours=f"{100 * selected:.2f} and {100 * everything:.2f}",
            gain=f"{100 * gain:+.2f}",
            value=gain,
            protocol=describe_protocol(records.results[names[0]]),
            covers=f"lower in {below} of {len(members)} models; no interval: predictions with all "
            "tokens selected were not kept",
            share=_share(records, names),
            seeds=f"{len(members)} models",
            runs=names,
        )


@dataclass(frozen=True)
class SelectedShare:
    """A statement on the shares of heads and dependents that ReSAN selects.

    Attributes:
      paper: the paper's figure.
      than_heads: True = more dependents than heads; False = fewer than half of the tokens.
    """

    paper: str
    than_heads: bool

    def find(self, records: Records) -> Finding:
        """Averages over the members of all series of ReSAN on SNLI."""
        names, members = _selecting_members(records)
        if not members:
            return Finding(self.paper, missing="ReSAN: not run")
        heads = [member["head_fraction"] for member in members]
        dependents = [member["dependent_fraction"] for member in members]
        if self.than_heads:
            gains = [dependent - head for head, dependent in zip(heads, dependents)]
        else:
            gains = [0.5 - (head + dependent) / 2 for head, dependent in zip(heads, dependents)]
        so = sum(gain > 0 for gain in gains)
        return Finding(
            self.paper,
            ours=f"heads {percent(_average(heads))}, dependents {percent(_average(dependents))}",
            gain=f"{100 * _average(gains):+.0f} points",
            value=_average(gains),
            protocol=describe_protocol(records.results[names[0]]),
            covers=f"so in {so} of {len(gains)} models; no interval: shares were not kept by "
            "example",
            share=_share(records, names),
            seeds=f"{len(gains)} models",
            runs=names,
        )


@dataclass(frozen=True)
class Parameters:
    """Two rows of a table, of which the first has fewer parameters in the paper."""

    table: str
    ours: str
    other: str

    def find(self, records: Records) -> Finding:
        """Compares the parameters of the runs that `Rows` would compare; they are exact."""
        table = TABLES[self.table]
        rows = [find_row(table, name) for name in (self.ours, self.other)]
        paper = " and ".join(row.parameters for row in rows)
        names = choose_runs(table, *rows, records.results, records.predictions)
        if names is None:
            return Finding(paper, missing="a run of one of the two: not run")
        first, second = (records.results[name]["parameters"] for name in names)
        ratio = second / first
        return Finding(
            paper,
            ours=f"{first:,} and {second:,}",
            gain=f"{first / second:.2f} times",
            value=ratio - 1,
            interval=Interval(ratio - 1, ratio - 1, ratio - 1),
            covers="exact",
            decisive=True,
            runs=names,
        )


@dataclass(frozen=True)
class Benchmark:
    """Two measured times or speeds, of which the first is the better one in the paper.

    Attributes:
      paper: the paper's figures.
      file: a file of `checkpoints/benchmarks`, without ".json".
      ours, other: the keys that lead to a measurement: "median_ms", "min_ms" and "max_ms", or
        "pairs_per_second", "min" and "max".
    """

    paper: str
    file: str
    ours: tuple
    other: tuple

    def find(self, records: Records) -> Finding:
        """Compares the medians; the range of repetitions stands in for an interval."""
        record = records.benchmarks.get(self.file)
        if record is None:
            return Finding(self.paper, missing=f"benchmark {self.file}: not run")
        first, second = (_seconds(record, keys) for keys in (self.ours, self.other))
        ratio = Interval(*(a / b for a, b in zip(second, (first[0], first[2], first[1]))))
        machine = record["machine"]
        return Finding(
            self.paper,
            ours=_measured(record, self.ours, self.other),
            gain=f"{ratio.value:.2f} times ({ratio.low:.2f} to {ratio.high:.2f})",
            value=ratio.value - 1,
            interval=Interval(*(part - 1 for part in ratio)),
            covers=f"range of repetitions; {machine['processor']}, {machine['threads']} threads",
            decisive=True,
            runs=(f"benchmarks/{self.file}.json",),
        )


@dataclass(frozen=True)
class Quoted:
    """A row beside the figure of another paper's model, which we do not train.

    Attributes:
      table, ours: a row of a table.
      other: the other paper's model.
      figure: its figure, as the paper quotes it.
    """

    table: str
    ours: str
    other: str
    figure: str

    def find(self, records: Records) -> Finding:
        """Returns our figure, if there is one; the claim itself cannot be tested."""
        table = TABLES[self.table]
        row = find_row(table, self.ours)
        best = most_complete(run for run in records.results.values() if row.matches(run["config"]))
        return Finding(
            f"{table.headline_figure(row)} and {self.figure}",
            ours=table.headline.show(best) if best else "",
            share=_percent_seen(best) if best else "",
            missing=f"{self.other}: another paper's model, which this repository does not train",
        )


@dataclass(frozen=True)
class Untested:
    """A claim for which the repository has no comparison.

    Attributes:
      paper: the paper's figures.
      missing: the missing run or measurement.
    """

    paper: str
    missing: str

    def find(self, records: Records) -> Finding:
        """Returns the paper's figures alone."""
        del records
        return Finding(self.paper, missing=self.missing)


def _selecting_members(records: Records) -> tuple[tuple[str, ...], list[dict]]:
    """Returns ReSAN's series on SNLI and the test scores of their members."""
    row = find_row(TABLES["resan_table_1"], _SERIES)
    series = {
        name: run
        for name, run in records.results.items()
        if row.matches(run["config"]) and "members" in run
    }
    scores = [member["scores"]["test"] for run in series.values() for member in run["members"]]
    return tuple(series), [score for score in scores if "head_fraction" in score]


def _share(records: Records, names: Sequence[str]) -> str:
    return _percent_seen(records.results[names[0]])


def _percent_seen(run: dict) -> str:
    share = training_share(run)
    return "" if share is None else percent(share)


def _average(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)


def _measurement(record: dict, keys: tuple) -> dict:
    for key in keys:
        record = record[key]
    return record


def _measured(record: dict, *places: tuple) -> str:
    """Formats two medians as "42.0 and 29.3 ms" or "756 and 472 pairs a second"."""
    found = [_measurement(record, keys) for keys in places]
    if "median_ms" in found[0]:
        return " and ".join(f"{one['median_ms']:.1f}" for one in found) + " ms"
    return " and ".join(f"{one['pairs_per_second']:,.0f}" for one in found) + " pairs a second"


def _seconds(record: dict, keys: tuple) -> tuple[float, float, float]:
    """Returns a measurement's median, lowest and highest time, in any unit."""
    measured = _measurement(record, keys)
    if "median_ms" in measured:
        return measured["median_ms"], measured["min_ms"], measured["max_ms"]
    return 1 / measured["pairs_per_second"], 1 / measured["max"], 1 / measured["min"]
