"""The comparison of two rows of a table: scores, intervals, conditions and remarks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Optional

from disan_tf.metrics.differences import (
    BORROWED,
    PAIRED,
    Interval,
    difference,
    seeds_interval,
)
from disan_tf.study.claims.conditions import (
    choose_runs,
    describe_protocol,
    gain_at_the_end,
    most_complete,
    other_trainings,
    scope_of,
    spread_run,
    unequal_conditions,
)
from disan_tf.study.papers import TABLES, Row, Score
from disan_tf.study.results import (
    SEEDS_ONLY,
    Records,
    mean,
    members_of,
    percent,
    seeds_of,
    standard_deviation,
    training_share,
)

LOWER_IS_BETTER = ("loss", "mse")
_SPREAD = "the interval takes the spread over seeds from {} (standard deviation {})"
_SELECTED = ("head", "dependent")


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
    share: str = ""  # the share of the official training examples that the runs read
    seeds: str = ""  # the number of seeds of each model
    dev: str = ""  # our difference on dev, as it is printed
    gain_on_dev: str = ""  # the weaker model's `gain_at_the_end`, as it is printed
    protocol: str = ""  # how the first model was trained
    remarks: tuple[str, ...] = ()  # what a reader must know about the models
    unequal: str = ""  # the conditions in which the two models' trainings differ
    missing: str = ""  # the runs that are missing
    reason: str = ""  # why the figures decide nothing
    runs: tuple[str, ...] = ()  # the names of the compared records


@dataclass(frozen=True)
class Rows:
    """Two rows of a table, of which the first has the better score in the paper."""

    table: str  # a key of `TABLES`
    models: tuple[str, ...]  # the models of the two rows
    column: str = ""  # the name of the score's column; "" = `Table.headline`
    examples: int = 0  # number of training examples; 0 = any number
    # Options in which the paper's models differ, besides the table's: "task.dropout".
    apart: tuple[str, ...] = ()

    def __post_init__(self):
        columns = {score.name for score in TABLES[self.table].scores} if self.rows else set()
        if len(self.models) != 2 or self.column not in {*columns, ""}:
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
    def lead(self) -> Optional[float]:
        """The paper's difference in the direction of better scores; None without its figures."""
        if not all(self.figures):
            return None
        first, second = (float(figure.split()[0]) / self.score.scale for figure in self.figures)
        return second - first if self.score.key in LOWER_IS_BETTER else first - second

    @property
    def free(self) -> set[str]:
        """The options in which rows of the table may differ."""
        return TABLES[self.table].free

    @property
    def _apart(self) -> tuple[str, ...]:
        """The options in which the paper's models differ."""
        return (*self.apart, *TABLES[self.table].apart)

    def choose(self, records: Records) -> Optional[tuple[str, str]]:
        """Returns the names of the compared runs, see `choose_runs`."""
        runs = [row.runs(records.results) for row in self.rows]
        return choose_runs(*runs, records.predictions, self.free, self._apart, self.examples)

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
        table = TABLES[self.table]
        spread = spread_run(table, score, names, records, self.free)
        value, interval, covers = score_difference(names, records, score, spread)
        dev = [mean(run, "dev", score.key) for run in (first, second)]
        has_dev = score.split == "test" and None not in dev
        borrowed = ["with another model's spread over seeds"] if covers == BORROWED else []
        toward, gain, lead = _toward(score, interval), None, 0.0
        if toward and score == table.headline:  # curves show no other score
            lead = max(toward.low, -toward.high)
            gain = gain_at_the_end(second if toward.value > 0 else first)
        conditions = self._conditions(names, records, gain, lead)
        conditions["scope"] = ", ".join([*filter(None, [conditions["scope"]]), *borrowed])
        deviation = standard_deviation(records.results.get(spread, {}), score.split, score.key)
        return Finding(
            paper,
            ours=f"{score.show(first)} and {score.show(second)}".replace("r ", ""),
            gain=score.show_difference(value, interval, covers),
            value=-value if score.key in LOWER_IS_BETTER else value,
            interval=toward,
            lead=self.lead,
            covers=covers,
            gain_on_dev="" if gain is None else score.show_difference(gain),
            dev=score.show_difference(dev[0] - dev[1]) if has_dev else "",
            remarks=(
                *self._remarks(first, second),
                *self._classifiers(names, records.results),
                *([_SPREAD.format(spread, score.format(deviation))] if spread else []),
                *self._others(names, records),
                *self._trials(records),
            ),
            **conditions,
        )

    def _conditions(self, names, records: Records, gain=None, lead: float = 0.0) -> dict:
        """Returns the fields of a `Finding` that describe the trainings; see `scope_of`."""
        first, second = runs = [records.results[name] for name in names]
        return {
            "scope": scope_of(first, second, gain, lead),
            "share": shares(*runs),
            "seeds": " and ".join(str(len(seeds_of(run))) for run in runs),
            "protocol": describe_protocol(first),
            "unequal": unequal_conditions(*runs, {*self.free, *self._apart}),
            "runs": names,
        }

    def _remarks(self, *runs: dict) -> Iterator[str]:
        """Yields what a reader must know about the two models."""
        apart = unequal_conditions(*runs, self.free)
        if apart and not unequal_conditions(*runs, {*self.free, *self._apart}):
            yield f"the models differ as in the paper: {apart}"
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

    def _classifiers(self, names, results) -> Iterator[str]:
        """Yields the options of the classifier in which a run differs from its row's recorded run.

        `choose_runs` prefers such a run if the other model's run has the same classifier.
        """
        for row, name in zip(self.rows, names):
            ours = results[name]["config"]["task"]
            recorded = results[row.recorded]["config"]["task"] if row.recorded in results else ours
            for option in sorted(ours.keys() | recorded.keys()):
                values = [options.get(option, False) for options in (ours, recorded)]
                if values[0] != values[1]:
                    yield (
                        f"{row.model} was trained with task.{option}={values[0]}; the run that its "
                        f"row names, {row.recorded}, with {values[1]}"
                    )

    def _others(self, names, records: Records) -> Iterator[str]:
        """Yields the scores of longer or wider trainings of both models, and their differences."""
        for side, row in enumerate(self.rows):
            for name, how in other_trainings(records.results[names[side]], records.results):
                pair = (name, names[1]) if side == 0 else (names[0], name)
                gain = self.score.show_difference(*score_difference(pair, records, self.score))
                shown = self.score.show(records.results[name])
                yield f"{row.model} {how}: {shown}, difference {gain}"

    def _trials(self, records: Records) -> Iterator[str]:
        """Yields the scores of the rows' trials, see `Table.trials`, if both rows have one."""
        score, trials = self.score, TABLES[self.table].trials
        runs = [row.trial_runs(records.results) for row in self.rows]
        pair = choose_runs(*runs, records.predictions, self.free, self._apart, self.examples)
        if trials and pair:
            results = [records.results[name] for name in pair]
            how = [f"{option}={' or '.join(trials[option])}" for option in trials]
            how += {f"dtype={run['config'].get('dtype')}": run for run in results}
            gain = score.show_difference(*score_difference(pair, records, score))
            ours = " and ".join(map(score.show, results))
            yield f"trained with {', '.join(how)}: {ours}, difference {gain}"


def find_row(table: str, model: str) -> Row:
    """Returns a table's row; a ValueError if there is no such table or row."""
    rows = {row.model: row for row in TABLES[table].rows} if table in TABLES else {}
    if model not in rows:
        known = ", ".join(rows or TABLES)
        raise ValueError(f"no table {table} with a model {model} (known: {known})")
    return rows[model]


def score_difference(
    names: Sequence[str], records: Records, score: Score, spread: str = ""
) -> tuple[float, Optional[Interval], str]:
    """Returns the difference of two runs, its interval, and what that covers or why it is None.

    `spread` is the run from which a single seed takes its spread over seeds, "" = from none.
    """
    runs = [records.results[name] for name in names]
    value = mean(runs[0], score.split, score.key) - mean(runs[1], score.split, score.key)
    if score.key not in PAIRED:
        if min(len(members_of(run)) for run in runs) < 2:
            return value, None, f"no interval: {score.name} was not kept by example"
        sides = (
            [member["scores"][score.split][score.key] for member in members_of(run)] for run in runs
        )
        return value, seeds_interval(*sides), SEEDS_ONLY
    if not {*names} <= records.predictions.keys():
        return value, None, "no interval: predictions were not kept"
    sides = (records.predictions[name] for name in names)
    interval, covers = difference(*sides, score.key, records.predictions.get(spread, ()))
    return value, interval, covers if interval else "no interval: different examples"


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


def shares(*runs: dict) -> str:
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
