"""The kinds of `evidence` in `checkpoints/papers/*.yaml`, which find figures in our records."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, Optional

from disan_tf.metrics.differences import PAIRED, Interval, difference
from disan_tf.study.claims.conditions import (
    choose_runs,
    describe_protocol,
    gain_at_the_end,
    most_complete,
    other_trainings,
    scope_of,
    unequal_conditions,
)
from disan_tf.study.papers import TABLES, Row, Score
from disan_tf.study.results import (
    Records,
    difference_to_published,
    mean,
    members_of,
    percent,
    seeds_of,
    training_share,
)

LOWER_IS_BETTER = ("loss", "mse")
_MACHINE = ("processor", "threads", "gpu", "tensorflow")  # equal where two benchmarks are compared
_SELECTED = ("head", "dependent")
_SELECTION = {  # what the selected tokens show -> the two scores that tell it, and the gain
    "no cost": ("accuracy", "all_accuracy", lambda selected, everything: selected - everything),
    "few tokens": ("head_fraction", "dependent_fraction", lambda h, d: 0.5 - (h + d) / 2),
    "more dependents": ("dependent_fraction", "head_fraction", lambda d, h: d - h),
}


@dataclass(frozen=True)
class Finding:
    """Our figures beside a paper's."""

    paper: str  # the paper's figures
    ours: str = ""  # our figures, the model that should lead first
    gain: str = ""  # our difference or ratio as it is printed, with its interval
    value: Optional[float] = None  # the difference, above 0 where it has the paper's direction
    interval: Optional[Interval] = None  # its 95 % interval, in the same direction
    covers: str = ""  # a description of the interval, or why there is none
    lead: Optional[float] = None  # the paper's difference, in the unit and direction of `value`
    scope: str = ""  # a condition that a verdict must name, such as "at equal steps"
    share: str = ""  # of the official training examples
    seeds: str = ""  # their number for each model
    dev: str = ""  # our difference on dev, as it is printed
    gain_on_dev: str = ""  # of the weaker model in the last third of its steps, as it is printed
    protocol: str = ""  # how the first model was trained, and other trainings of the two
    remarks: tuple[str, ...] = ()  # what a reader must know of the models
    unequal: str = ""  # the conditions in which the two models' trainings differ
    missing: str = ""  # the runs that are missing
    reason: str = ""  # why the figures decide nothing
    runs: tuple[str, ...] = ()  # the names of the compared records


@dataclass(frozen=True)
class Rows:
    """Two rows of a table, of which the first has the better score in the paper."""

    table: str  # a key of `TABLES`
    models: tuple[str, ...]  # of the two rows
    column: str = ""  # its name; "" = `Table.headline`
    examples: int = 0  # of training; 0 = any number
    apart: tuple[str, ...] = ()  # options in which the paper's models differ too: "task.dropout"

    def __post_init__(self):
        columns = {score.name for score in TABLES[self.table].scores} if self.rows else set()
        if len(self.models) != 2 or self.column not in {*columns, ""}:
            raise ValueError(f"{self.table} needs two models and a column of {sorted(columns)}")

    @property
    def rows(self) -> list[Row]:
        """The two rows; a ValueError if there is no such table or row."""
        return [_find_row(self.table, model) for model in self.models]

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
    def lead(self) -> Optional[float]:
        """The paper's difference in the direction of better scores; None without its figures."""
        if not all(self.figures):
            return None
        first, second = (float(figure.split()[0]) / self.score.scale for figure in self.figures)
        return second - first if self.score.key in LOWER_IS_BETTER else first - second

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
        score, names = self.score, self.choose(records)
        paper = _printed(self.figures)
        if names is None:
            best = {row.model: most_complete(row.runs(records.results)) for row in self.rows}
            known = ", ".join(f"{model} {score.show(run)}" for model, run in best.items() if run)
            lacking = [model for model, run in best.items() if run is None]
            missing = ", ".join(lacking or [f"runs on {self.examples:,} training examples"])
            return Finding(paper, ours=known, missing=f"{missing}: not run")
        first, second = (records.results[name] for name in names)
        value, interval, covers = _difference(names, records, score)
        dev = [mean(run, "dev", score.key) for run in (first, second)]
        has_dev = score.split == "test" and None not in dev
        toward, gain, lead = _toward(score, interval), None, 0.0
        if toward and score == TABLES[self.table].headline:  # curves show no other score
            lead = max(toward.low, -toward.high)
            gain = gain_at_the_end(second if toward.value > 0 else first)
        return Finding(
            paper,
            ours=f"{score.show(first)} and {score.show(second)}".replace("r ", ""),
            gain=score.show_difference(value, interval, covers),
            value=-value if score.key in LOWER_IS_BETTER else value,
            interval=toward,
            lead=self.lead,
            covers=covers,
            scope=scope_of(first, second, gain, lead),
            gain_on_dev="" if gain is None else score.show_difference(gain),
            share=_shares(first, second),
            seeds=f"{len(seeds_of(first))} and {len(seeds_of(second))}",
            dev=score.show_difference(dev[0] - dev[1]) if has_dev else "",
            protocol=", ".join([describe_protocol(first), *self._others(names, records)]),
            remarks=tuple(self._remarks(first, second)),
            unequal=unequal_conditions(first, second, self.free),
            runs=names,
        )

    def _remarks(self, *runs: dict) -> Iterator[str]:
        """Yields what a reader must know of the two models."""
        processors = [_processors(run) for run in runs]
        if all(processors) and processors[0] != processors[1]:
            yield f"trained on {' and on '.join(processors)}"
        for row, run in zip(self.rows, runs):
            heads, dependents = (_selected(run, f"{kind}_fraction") for kind in _SELECTED)
            if heads:
                yield f"{row.model} selects {heads} of the heads and {dependents} of the dependents"
        for row, run in zip(self.rows, runs):
            width = run["config"]["data"]["embedding_dim"]
            if row.width and width != row.width:
                theirs = f" ({row.parameters} parameters)" if row.parameters else ""
                yield (
                    f"{row.model} is {width} wide ({run['parameters']:,} parameters), in the paper "
                    f"{row.width}{theirs}"
                )

    def _others(self, names, records: Records) -> Iterator[str]:
        """Yields the scores of other trainings of both models, and the difference they leave."""
        for side, row in enumerate(self.rows):
            for name, how in other_trainings(records.results[names[side]], records.results):
                pair = (name, names[1]) if side == 0 else (names[0], name)
                gain = self.score.show_difference(*_difference(pair, records, self.score))
                yield f"{row.model} {how}: {self.score.show(records.results[name])}, {gain}"


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
class Selection:
    """A statement on the tokens that ReSAN selects on SNLI."""

    paper: str  # the paper's figure
    # "no cost": selecting is as accurate as all tokens with the same weights; "few tokens": fewer
    # than half are selected; "more dependents" than heads are selected.
    shows: Literal["no cost", "few tokens", "more dependents"]

    def find(self, records: Records) -> Finding:
        """Averages over the members of all series of ReSAN on SNLI."""
        runs = _find_row("resan_table_1", "ReSAN").runs(records.results)
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
            ours=" and ".join(f"{100 * fmean(side):.2f}" for side in zip(*pairs)),
            gain=f"{100 * fmean(gains):+.2f}",
            value=fmean(gains),
            covers=f"no interval: not kept by example; paper's sign in {agreeing} of {len(gains)}",
            share=_shares(*series.values()),
            seeds=f"{len(gains)} models",
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
    second_file: str = ""  # that has `second`, "" = `file`

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
        differing = [key for key in _MACHINE if machine.get(key) != other["machine"].get(key)]
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
            _find_row(self.table, self.model)
            float(self.paper.split()[0])

    def find(self, records: Records) -> Finding:
        """Returns the paper's figures, and ours of the row if there is one.

        Ours stands beside the published score of the other model, which counts as a constant.
        """
        if not self.table:
            return Finding(self.paper, missing=self.missing)
        table, row = TABLES[self.table], _find_row(self.table, self.model)
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
            share=_shares(run),
            missing=self.missing,
            reason=f"not comparable: {self.apart}",
            runs=(name,),
        )


def _find_row(table: str, model: str) -> Row:
    """Returns a table's row; a ValueError if there is no such table or row."""
    rows = {row.model: row for row in TABLES[table].rows} if table in TABLES else {}
    if model not in rows:
        known = ", ".join(rows or TABLES)
        raise ValueError(f"no table {table} with a model {model} (known: {known})")
    return rows[model]


def _difference(names, records: Records, score: Score) -> tuple[float, Optional[Interval], str]:
    """Returns the difference of two runs, its interval, and what that covers or why it is None."""
    first, second = (mean(records.results[name], score.split, score.key) for name in names)
    if score.key not in PAIRED:
        return first - second, None, f"no interval: {score.name} was not kept by example"
    if not {*names} <= records.predictions.keys():
        return first - second, None, "no interval: predictions were not kept"
    sides = (records.predictions[name] for name in names)
    interval, covers = difference(*sides, score.key)
    return first - second, interval, covers if interval else "no interval: different examples"


def _toward(score: Score, interval: Optional[Interval]) -> Optional[Interval]:
    """Returns an interval in the direction in which the score improves."""
    if interval is None or score.key not in LOWER_IS_BETTER:
        return interval
    return Interval(-interval.value, -interval.high, -interval.low)


def _printed(figures: Sequence[str]) -> str:
    """Returns a paper's two figures with their difference, to as many digits as they have."""
    if not all(figures):
        return "none"
    texts = [figure.split()[0] for figure in figures]
    digits = max(len(text.partition(".")[2]) for text in texts)
    return f"{' and '.join(figures)}: {float(texts[0]) - float(texts[1]):+.{digits}f}"


def _shares(*runs: dict) -> str:
    """Describes the shares of the official training examples that runs were trained on."""
    found = {training_share(run) for run in runs} - {None}
    return " and ".join(percent(share) for share in sorted(found, reverse=True))


def _processors(run: dict) -> str:
    """Returns the processors that trained a run, "" if they are not known."""
    machines = [member.get("machine") or {} for member in members_of(run)]
    if not all(machines):
        return ""
    gpus = (machine.get("gpu", "none") for machine in machines)
    names = (machine["processor"] if gpu == "none" else gpu for machine, gpu in zip(machines, gpus))
    return " or ".join(sorted({*names}))


def _selected(run: dict, key: str) -> str:
    """Returns the range of a selected fraction over the members, "" without hard attention."""
    scores = [member.get("scores", member)["test"] for member in members_of(run)]
    found = [score[key] for score in scores if key in score]
    ends = dict.fromkeys(f"{100 * end:.1f}" for end in (min(found), max(found))) if found else ()
    return f"{' to '.join(ends)} %" if found else ""


def _measure(record, path: str) -> tuple[tuple, str]:
    """Returns a measurement's median, lowest and highest time in any unit, and its text."""
    for key in path.split("/"):
        record = record[int(key) if isinstance(record, list) else key]
    if "median_ms" in record:
        times = record["median_ms"], record["min_ms"], record["max_ms"]
        return times, f"{record['median_ms']:.1f} ms"
    speeds = record["pairs_per_second"], record["max"], record["min"]
    return tuple(1 / speed for speed in speeds), f"{speeds[0]:,.0f} pairs per second"
