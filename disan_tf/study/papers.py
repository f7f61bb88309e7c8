"""The facts of `checkpoints/papers/*.yaml`: the papers' tables, and our runs that stand beside."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Optional

from disan_tf.common import typed_yaml
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.runs.run_summary import CRITERIA
from disan_tf.study.results import mean, members_of, standard_deviation, vectors_of

FOLDER = CHECKPOINTS / "papers"
PAPERS = ("disan", "resan", "dsa", "drcn", "elmo_disan")
SECTIONS = ("paper", "source", "tables", "rows", "claims", "deviations")
VECTOR_DIMS = (100, 300)  # `glove_100d` and the papers; smaller vectors are for tests


def read_section(paper: str, section: str, kind: Any, folder: Path = FOLDER):
    """Reads one of `SECTIONS` of one of `PAPERS`, see `typed_yaml.read_section`."""
    return typed_yaml.read_section(Path(folder) / f"{paper}.yaml", section, SECTIONS, kind)


def read_of_all(section: str, kind: Any) -> dict[str, Any]:
    """Reads a section of all papers, by the papers' names."""
    return {read_section(it, "paper", str): read_section(it, section, kind) for it in PAPERS}


@dataclass(frozen=True)
class Score:
    """A table's column."""

    name: str  # its heading
    split: str  # our split on which it is measured
    key: str = "accuracy"  # among the scores of `disan_tf.training.evaluation.evaluate`
    scale: int = 100  # 100 where the table has per cent
    digits: int = 2  # after the point
    sign: str = ""  # stands before a figure where several scores appear together

    def cells(self, run: dict, split: str) -> tuple[str, str]:
        """Formats a run's score, or a series' mean and standard deviation; "" = there is none."""
        return tuple(self.format(of(run, split, self.key)) for of in (mean, standard_deviation))

    def show(self, run: dict, split: Optional[str] = None) -> str:
        """Formats a run as "75.22", a series as "r 0.8685 (0.0010)"; "" where there is none."""
        value, spread = self.cells(run, split or self.split)
        return " ".join(filter(None, [value and self.sign, value, spread and f"({spread})"]))

    def format(self, value: Optional[float]) -> str:
        """Formats a value as the table does; "" for None."""
        return "" if value is None else f"{self.scale * value:.{self.digits}f}"

    def show_difference(self, value: float, interval=None, covers: str = "") -> str:
        """Formats a difference and its `Interval`: "+0.38 (-0.08 to +0.83; seeds and examples)"."""
        parts = [value, *(interval[1:] if interval else ())]
        numbers = [round(self.scale * part, self.digits) + 0.0 for part in parts]  # no "-0.00"
        texts = [f"{number:+.{self.digits}f}" for number in numbers]
        return f"{texts[0]} ({texts[1]} to {texts[2]}; {covers})" if interval else texts[0]


@dataclass(frozen=True)
class Row:
    """A model on a corpus."""

    name: str  # in commands, such as "disan/sick"; a model in several tables has one name
    model: str  # in the table
    config: str  # the name of its file in `configs/`, which is `config.name` too
    variant: str = ""  # of the file; "" = the default
    flags: str = ""  # of our command besides --config: the paper's runs or folds
    # Dotted option -> patterns, see `fnmatch`; "" = the option is absent or empty. A run of this
    # model matches one pattern for each option.
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    trials: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # see `Table.trials`
    figures: tuple[str, ...] = ()  # of each column, as printed; "" where only we have the model
    parameters: str = ""  # their number without word vectors, as printed
    width: int = 0  # the paper's width, if an encoder is as wide as its word vectors; 0 = else
    seconds: str = ""  # T(s)/epoch on a GTX 1080 Ti
    inference: str = ""  # inference T(s) on a GTX 1080 Ti
    cost: str = ""  # training time relative to another row's, as printed
    confusion: tuple[tuple[int, ...], ...] = ()  # test sentences by gold class, predicted class
    recorded: str = ""  # the result that `--mode=reproduce` expects; "" = it cannot run
    recorded_variant: str = "recorded"  # what `:variant` adds to train that result
    released: str = ""  # the name of the released model of this row

    @property
    def command(self) -> str:
        """The command that trains the model as in the paper."""
        variant = f":{self.variant}" if self.variant else ""
        return f"python run.py --config=configs/{self.config}.py{variant} {self.flags}".rstrip()

    @property
    def recorded_config(self) -> str:
        """The config of the recorded result with its variant, as `--config` takes it."""
        variants = filter(None, (self.variant, self.recorded_variant))
        return f"{self.config}:{','.join(variants)}"

    def matches(self, config: dict) -> bool:
        """Returns whether a run with this config is a run of this model."""
        return (
            config["name"] == self.config
            and config["data"]["embedding_dim"] in VECTOR_DIMS
            and all(_fits(config, *condition) for condition in self.where.items())
        )

    def runs(self, results: Mapping[str, dict]) -> dict[str, dict]:
        """Returns the recorded runs of this model, `recorded` first: name -> result."""
        names = sorted(results, key=lambda name: name != self.recorded)
        return {name: results[name] for name in names if self.matches(results[name]["config"])}

    def runs_and_trials(self, results: Mapping[str, dict]) -> dict[str, dict]:
        """Returns the recorded runs of this model, then those that match its `trials`."""
        return {**self.runs(results), **self.trial_runs(results)}

    def trial_runs(self, results: Mapping[str, dict]) -> dict[str, dict]:
        """Returns the recorded runs that match the row's `trials`; {} if it has none."""
        if not self.trials:
            return {}
        return replace(self, where={**self.where, **self.trials}).runs(results)


def _fits(config: dict, option: str, patterns: tuple[str, ...]) -> bool:
    """Returns whether a dotted option of a config matches one of the patterns."""
    value = config
    for key in option.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    words = value if isinstance(value, (list, tuple)) else ["" if value is None else value]
    text = ", ".join(map(str, words)).lower()
    return any(fnmatchcase(text, pattern.lower()) for pattern in patterns)


@dataclass(frozen=True)
class Remaining:
    """A run that a table lacks: the flags of its command, and its hours on one EPYC thread."""

    run: str
    hours: float


@dataclass(frozen=True)
class Table:
    """A paper's table."""

    number: int  # in the paper
    title: str  # its corpus
    scores: tuple[Score, ...]  # the columns that the paper and we have
    rows: tuple[Row, ...]  # the models that we build
    paper: str = ""  # "DiSAN", "ReSAN", "DSA", "DRCN" or "ELMo-DiSAN"
    further: tuple[Score, ...] = ()  # columns that only we have
    part: str = ""  # its name where we divide the paper's table into several
    caption: str = ""  # what a reader must know of our scores before they compare them
    main: str = ""  # the variant of the paper's own model, to which the others are compared
    corpus: str = ""  # its name on the front page
    front_page: tuple[str, ...] = ()  # the models there, the paper's strongest last
    baseline: str = ""  # the model whose score follows there; "" = none
    # Options of `config.data` in which rows differ; compared models agree in all others.
    distinguishing_options: tuple[str, ...] = ()
    # Other options in which the paper's models differ, such as "embedding.trainable".
    apart: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()  # of the rows' `confusion`
    remaining: tuple[Remaining, ...] = ()  # the runs that the table lacks
    # The conditions of every row, see `Row`.
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # Conditions that replace some of `where` for further runs: these have their own part of the
    # table; remarks of claims show them, and no verdict depends on them. {} = there are none.
    trials: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of its files, such as "disan_table_1"."""
        part = f"_{self.part}" if self.part else ""
        return f"{self.paper.lower().replace('-', '_')}_table_{self.number}{part}"

    @property
    def free(self) -> set[str]:
        """The options in which rows may differ, such as "data.vectors"."""
        return {f"data.{option}" for option in self.distinguishing_options}

    @property
    def main_row(self) -> Row:
        """The row of the paper's own model."""
        return next(row for row in self.rows if row.variant == self.main)

    @property
    def headline(self) -> Score:
        """The score that summarises a row: accuracy or Pearson's r on test."""
        scores = (score for score in self.scores if score.split == "test")
        return next(score for score in scores if score.key in CRITERIA)

    def headline_figure(self, row: Row) -> str:
        """Returns the paper's headline figure, such as "85.62" or "r .8695 (.0012)", or ""."""
        figure = row.figures[self.scores.index(self.headline)]
        return f"{self.headline.sign} {figure}".strip() if figure else ""

    def by_inputs(self, results: Mapping[str, dict]) -> dict[str, list[str]]:
        """Groups the table's runs and trials: word vectors, subset, balance -> names of runs.

        Runs stand in the order of the rows. Groups with more of the rows' recorded runs come first,
        then those with more trainings. Vectors in which rows differ form no groups. Where all runs
        have the same inputs, there is one group, "".
        """
        kinds: dict[str, list[str]] = {}
        recorded, trainings = Counter(), Counter()
        for row in self.rows:
            for name in row.runs_and_trials(results):
                kind = self._inputs_of(results[name])
                kinds.setdefault(kind, []).append(name)
                recorded[kind] += name == row.recorded
                trainings[kind] += len(members_of(results[name]))
        if len(kinds) < 2:
            return {"": next(iter(kinds.values()), [])}
        by_rank = sorted(kinds, key=lambda kind: (-recorded[kind], -trainings[kind]))
        return {kind: kinds[kind] for kind in by_rank}

    def _inputs_of(self, run: dict) -> str:
        data = run["config"]["data"]
        parts = [] if "vectors" in self.distinguishing_options else [vectors_of(run)]
        parts += [f"subset {data['subset']}"] if data.get("subset") else []
        parts += ["re-balanced phrases"] if data.get("rebalance") else []
        return ", ".join(parts)


def _read_tables() -> Iterator[Table]:
    """Yields all tables; their rows get the table's conditions and trials, "" for no figures."""
    for paper, tables in read_of_all("tables", tuple[Table, ...]).items():
        for table in tables:
            none = ("",) * len(table.scores)
            rows = (
                replace(
                    row,
                    where={**table.where, **row.where},
                    trials=table.trials,
                    figures=row.figures or none,
                )
                for row in table.rows
            )
            yield replace(table, paper=paper, rows=tuple(rows))


TABLES: dict[str, Table] = {table.name: table for table in _read_tables()}


def find_row(config: dict) -> Optional[tuple[Table, Row]]:
    """Returns the first table that has a config's model, and its row; None if none has it."""
    rows = ((table, row) for table in TABLES.values() for row in table.rows)
    return next((place for place in rows if place[1].matches(config)), None)


def paper_figures(config: dict) -> str:
    """Returns the paper's figures for a config's model, such as "85.62" or ".8695 / .8139 / .2879".

    Figures on train are left out; "" = the paper has no such model.
    """
    place = find_row(config)
    if place is None:
        return ""
    pairs = zip(place[0].scores, place[1].figures)
    return " / ".join(figure for score, figure in pairs if score.split != "train")
