"""The kinds of `evidence` in `checkpoints/papers/*.yaml` besides the scores of two rows."""

from collections import defaultdict
from dataclasses import dataclass
from statistics import NormalDist, fmean
from typing import Literal

import numpy as np

from disan_tf.metrics.differences import ALL, Interval, Predictions, difference, grouped_interval
from disan_tf.study.claims.conditions import describe_protocol, most_complete
from disan_tf.study.claims.rows import Finding, Rows, find_row, shares
from disan_tf.study.papers import TABLES
from disan_tf.study.results import Records, difference_to_published, members_of

# What must be equal in two compared benchmarks, and what its absence means.
_MACHINE = {"processor": None, "threads": None, "gpu": "none", "tensorflow": None}
_SELECTION = {  # what the selected tokens show -> the two scores that tell it, and the gain
    "no cost": ("accuracy", "all_accuracy", lambda selected, everything: selected - everything),
    "few tokens": ("head_fraction", "dependent_fraction", lambda h, d: 0.5 - (h + d) / 2),
    "more dependents": ("dependent_fraction", "head_fraction", lambda d, h: d - h),
}


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
        ours, gain = f"{first:,} and {second:,}", f"{first / second:.2f} times"
        value = second / first - 1
        return Finding(paper, ours, gain, value, Interval(*[value] * 3), "exact", runs=names)


@dataclass(frozen=True)
class Recall(Rows):
    """Two rows of a table, of which the first has the higher recall of a class."""

    label: str = ""  # one of `Table.classes`

    def __post_init__(self):
        super().__post_init__()
        if self.label not in TABLES[self.table].classes:
            raise ValueError(f"no class {self.label} in {TABLES[self.table].classes}")

    def find(self, records: Records) -> Finding:
        """Compares the predictions of both rows for the test examples of the class."""
        names, score = self.choose(records), self.score
        if names is None or not {*names} <= records.predictions.keys():
            return Finding("none", missing="predictions of one of the two: not kept")
        number = TABLES[self.table].classes.index(self.label)
        sides = [[_of_class(kept, number) for kept in records.predictions[name]] for name in names]
        interval, covers = difference(*sides, score.key)
        recalls = [fmean(np.mean(kept.predictions == number) for kept in side) for side in sides]
        return Finding(
            "none",
            ours=" and ".join(map(score.format, recalls)),
            gain=score.show_difference(interval.value, interval, covers),
            value=interval.value,
            interval=interval,
            covers=covers,
            **self._conditions(names, records),
        )


@dataclass(frozen=True)
class Lengths(Rows):
    """Two rows of a table, of which the first is more accurate on sentences of certain lengths."""

    lengths: str = ""  # a key of "by_length" in a series

    def find(self, records: Records) -> Finding:
        """Compares the recorded accuracies, which were not kept by example.

        The interval is a normal approximation. It assumes independent errors of the models, so it
        is usually wider than a paired interval.
        """
        names, score = self.choose(records), self.score
        runs = [records.results[name] for name in names or ()]
        parts = [run.get("by_length", {}).get(self.lengths) for run in runs]
        if not parts or not all(it and it["standard_deviation"] is not None for it in parts):
            missing = f"two series of several trainings with scores of {self.lengths} tokens"
            return Finding("none", missing=missing)
        accuracies = [part["accuracy"] for part in parts]
        variance = sum(
            part["standard_deviation"] ** 2 / len(members_of(run))
            + part["accuracy"] * (1 - part["accuracy"]) / part["sentences"]
            for part, run in zip(parts, runs)
        )
        value, half = accuracies[0] - accuracies[1], NormalDist().inv_cdf(0.975) * variance**0.5
        interval, covers = Interval(value, value - half, value + half), f"{ALL}, not paired"
        return Finding(
            "none",
            ours=" and ".join(map(score.format, accuracies)),
            gain=score.show_difference(value, interval, covers),
            value=value,
            interval=interval,
            covers=covers,
            remarks=(f"{parts[0]['sentences']:.0f} sentences",),
            **self._conditions(names, records),
        )


def _of_class(kept: Predictions, number: int) -> Predictions:
    """Returns the predictions for the examples of a class."""
    return Predictions(*(array[kept.labels == number] for array in kept))


@dataclass(frozen=True)
class Selection:
    """A statement on the tokens that ReSAN selects on SNLI."""

    paper: str  # the paper's figure
    # "no cost": selecting is as accurate as all tokens with the same weights; "few tokens": fewer
    # than half are selected; "more dependents" than heads are selected.
    shows: Literal["no cost", "few tokens", "more dependents"]

    def find(self, records: Records) -> Finding:
        """Averages over the models of each seed of ReSAN on SNLI, and then over seeds."""
        runs = find_row("resan_table_1", "ReSAN").runs(records.results)
        series = {name: run for name, run in runs.items() if "members" in run}
        *keys, gain = _SELECTION[self.shows]
        groups = defaultdict(list)  # seed -> models: two series may share a seed's first steps
        for run in series.values():
            for member in run["members"]:
                score = member["scores"]["test"]
                if {*keys} <= score.keys():
                    groups[member["seed"]].append([score[key] for key in keys])
        if not groups:
            return Finding(self.paper, missing="ReSAN with its selections: not run")
        means = np.mean([np.mean(group, axis=0) for group in groups.values()], axis=0)
        gains = [[gain(*pair) for pair in group] for group in groups.values()]
        value, count = float(gain(*means)), sum(map(len, gains))  # gains are linear
        agreeing = sum(found > 0 for group in gains for found in group)
        interval = grouped_interval(gains) if len(gains) > 1 else None
        covers = f"seeds and models; expected sign in {agreeing} of {count} models"
        limits = [f"{100 * limit:+.2f}" for limit in interval[1:]] if interval else []
        shown = f" ({' to '.join(limits)}; {covers})" if interval else ""
        return Finding(
            self.paper,
            ours=" and ".join(f"{100 * side:.2f}" for side in means),
            gain=f"{100 * value:+.2f}{shown}",
            value=value,
            interval=interval,
            covers=covers,
            share=shares(*series.values()),
            seeds=f"{count} models",
            protocol=describe_protocol(next(iter(series.values()))),
            runs=tuple(series),
        )


@dataclass(frozen=True)
class Benchmark:
    """Two measured times or speeds, of which the first is the better one in the paper.

    `first` and `second` are the keys that lead to a measurement, separated by "/". It has
    "median_ms", "min_ms" and "max_ms", or "pairs_per_second", "min" and "max".
    """

    paper: str  # the paper's figures
    file: str  # in `checkpoints/benchmarks`, without ".json"
    first: str
    second: str
    kernels: tuple[str, ...]  # what computes the models; a verdict names the first if they differ
    second_file: str = ""  # the benchmark that has `second`; "" = `file`

    def __post_init__(self):
        if len(self.kernels) != 2:
            raise ValueError("kernels must name what computes the first model and the second")

    def find(self, records: Records) -> Finding:
        """Compares the medians; the range of repetitions stands in for an interval."""
        files = dict.fromkeys((self.file, self.second_file or self.file))
        lacking = [name for name in files if name not in records.benchmarks]
        if lacking:
            return Finding(self.paper, missing=f"benchmark {' and '.join(lacking)}: not run")
        record, *others = (records.benchmarks[name] for name in files)
        other = others[0] if others else record
        first, ours = _measure(record, self.first)
        second, others = _measure(other, self.second)
        ratio = Interval(second[0] / first[0], second[1] / first[2], second[2] / first[1])
        machine = record["machine"]
        differing = [
            key
            for key, absent in _MACHINE.items()
            if machine.get(key, absent) != other["machine"].get(key, absent)
        ]
        kernel = f"with {self.kernels[0]}" if len({*self.kernels}) > 1 else ""
        processor = "" if machine.get("gpu", "none") != "none" else "on a CPU"
        return Finding(
            self.paper,
            ours=f"{ours} and {others}",
            gain=f"{ratio.value:.2f} times ({ratio.low:.2f} to {ratio.high:.2f})",
            value=ratio.value - 1,
            interval=Interval(*(part - 1 for part in ratio)),
            covers=f"range of repetitions; {machine['processor']}, {machine['threads']} threads",
            scope=" ".join(filter(None, [kernel, processor])),
            protocol=f"kernels: {' and '.join(self.kernels)}",
            unequal=", ".join(f"another {key}" for key in differing),
            runs=tuple(f"benchmarks/{name}.json" for name in files),
        )


@dataclass(frozen=True)
class Untested:
    """A claim for which the repository has no comparison."""

    missing: str  # run or measurement
    paper: str  # the paper's figures; the other model's alone if `model` has one in our tables
    table: str = ""  # the table and the model of a row, "" = none
    model: str = ""
    apart: str = ""  # what differs between the published model and our run of the row

    def __post_init__(self):
        if self.table or self.model or self.apart:
            find_row(self.table, self.model)
            float(self.paper.split()[0])

    def find(self, records: Records) -> Finding:
        """Returns the paper's figures, and our score if the claim names a row.

        The other model's published score counts as a constant.
        """
        if not self.table:
            return Finding(self.paper, missing=self.missing)
        table, row = TABLES[self.table], find_row(self.table, self.model)
        paper = f"{table.headline_figure(row)} and {self.paper}"
        runs, score = row.runs(records.results), table.headline
        run = most_complete(runs)
        if run is None:
            return Finding(paper, missing=self.missing)
        name = next(name for name, other in runs.items() if other is run)
        published = float(self.paper.split()[0]) / score.scale
        kept = records.predictions.get(name, ())
        found = difference_to_published(run, kept, score.split, score.key, published)
        return Finding(
            paper,
            ours=score.show(run),
            gain=score.show_difference(*found),
            value=found[0],
            interval=found[1],
            covers=found[2],
            share=shares(run),
            missing=self.missing,
            reason=f"not comparable: {self.apart}",
            runs=(name,),
        )


@dataclass(frozen=True)
class Measured:
    """A measurement that neither supports nor contradicts the paper's statement."""

    paper: str  # the paper's figures
    ours: str
    gain: str  # our ratio or difference
    reason: str  # why it decides nothing

    def find(self, _: Records) -> Finding:
        """Returns the figures and the reason."""
        return Finding(self.paper, self.ours, self.gain, reason=self.reason)


def _measure(record, path: str) -> tuple[tuple, str]:
    """Returns a measurement's median, lowest and highest time in any unit, and its text."""
    for key in path.split("/"):
        record = record[int(key) if isinstance(record, list) else key]
    if "median_ms" in record:
        times = record["median_ms"], record["min_ms"], record["max_ms"]
        return times, f"{record['median_ms']:.1f} ms"
    speeds = record["pairs_per_second"], record["max"], record["min"]
    return tuple(1 / speed for speed in speeds), f"{speeds[0]:,.0f} pairs per second"
