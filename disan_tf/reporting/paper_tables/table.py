"""A paper's table: columns, rows, and the runs that stand beside a row; `all_tables` reads them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Optional

from disan_tf.reporting.results import deviation, mean, vectors_of
from disan_tf.runs.run_summary import CRITERIA

VECTOR_DIMS = (100, 300)  # `glove_100d` and the papers; smaller vectors are for tests


@dataclass(frozen=True)
class Score:
    """A table's column.

    Attributes:
      name: its heading.
      split: our split on which it is measured.
      key: its key among the scores, see `disan_tf.training.evaluation.evaluate`.
      scale: 100 where the table has per cent.
      digits: digits after the point.
      sign: stands before a figure where several scores appear together.
    """

    name: str
    split: str
    key: str = "accuracy"
    scale: int = 100
    digits: int = 2
    sign: str = ""

    def mean(self, run: dict, split: Optional[str] = None) -> str:
        """Formats a run's or series' mean on `split` or its own; "" where there is none."""
        return self.format(mean(run, split or self.split, self.key))

    def deviation(self, run: dict, split: Optional[str] = None) -> str:
        """Formats the standard deviation over a series, see `mean`."""
        return self.format(deviation(run, split or self.split, self.key))

    def show(self, run: dict, split: Optional[str] = None) -> str:
        """Formats a run as "75.22", a series as "r 0.8685 (0.0010)"; "" where there is none."""
        value, spread = self.mean(run, split), self.deviation(run, split)
        return " ".join(filter(None, [value and self.sign, value, spread and f"({spread})"]))

    def format(self, value: Optional[float]) -> str:
        """Formats a value as the table does; "" for None."""
        return "" if value is None else f"{self.scale * value:.{self.digits}f}"


@dataclass(frozen=True)
class Row:
    """A model on a corpus.

    Attributes:
      name: its name in commands, such as "disan/sick"; a model in several tables has one name.
      model: the model's name in the table.
      config: the name of its file in `configs/`, which is `config.name` too.
      variant: the file's variant, "" = the default.
      flags: our command's flags besides --config: the paper's runs or folds.
      where: dotted option -> pattern, see `fnmatch`, or several; "" = the option is absent or
        empty. All must match the config of a run of this model.
      figures: the figure of each column, as printed; "" where only we have the model.
      parameters: number of parameters without word vectors, as printed.
      seconds: T(s)/epoch, on a GTX 1080 Ti.
      inference: inference T(s), on a GTX 1080 Ti.
      cost: training time relative to that of another row, as printed.
      confusion: numbers of test sentences by gold class (rows) and predicted class, as printed.
      recorded: the name of the result that `--mode=reproduce` expects; "" = it cannot run.
      recorded_variant: what `:variant` adds to train that result.
      released: the name of the released model of this row.
      released_on: versions of TensorFlow and processors, such as "TensorFlow 2.15 on AMD EPYC", on
        which the released model has its score of `checkpoints/manifest.tsv` to all digits.
    """

    name: str
    model: str
    config: str
    variant: str = ""
    flags: str = ""
    where: Mapping[str, Any] = field(default_factory=dict)
    figures: tuple[str, ...] = ()
    parameters: str = ""
    seconds: str = ""
    inference: str = ""
    cost: str = ""
    confusion: tuple[tuple[int, ...], ...] = ()
    recorded: str = ""
    recorded_variant: str = "recorded"
    released: str = ""
    released_on: tuple[str, ...] = ()

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
        """Returns the recorded runs of this model: name -> result."""
        return {name: run for name, run in results.items() if self.matches(run["config"])}


def _fits(config: dict, option: str, patterns) -> bool:
    """Returns whether a dotted option of a config matches one of the patterns."""
    value = config
    for key in option.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    words = value if isinstance(value, (list, tuple)) else ["" if value is None else value]
    text = ", ".join(map(str, words)).lower()
    patterns = patterns if isinstance(patterns, tuple) else (patterns,)
    return any(fnmatchcase(text, str(pattern).lower()) for pattern in patterns)


@dataclass(frozen=True)
class Remaining:
    """A run that a table lacks: the flags of its command, and its estimated hours."""

    run: str
    hours: float


@dataclass(frozen=True)
class Table:
    """A paper's table.

    Attributes:
      number: its number in the paper.
      title: its corpus.
      scores: the columns that the paper and we have.
      rows: the models that we build.
      paper: "DiSAN", "ReSAN", "DSA", "DRCN" or "ELMo-DiSAN".
      further: columns that only we have.
      part: names a part where we divide the paper's table into several.
      caption: what a reader must know of our scores before they compare them.
      main: the variant of the paper's own model, to which the others are compared.
      distinguishing_options: options of `config.data` in which rows differ; compared models agree
        in all other options.
      classes: the classes of the rows' `confusion`.
      remaining: the runs that the table lacks, with hours on one thread of an AMD EPYC beside
        another training.
      where: conditions of every row, see `Row`.
    """

    number: int
    title: str
    scores: tuple[Score, ...]
    rows: tuple[Row, ...]
    paper: str = ""
    further: tuple[Score, ...] = ()
    part: str = ""
    caption: str = ""
    main: str = ""
    distinguishing_options: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    remaining: tuple[Remaining, ...] = ()
    where: Mapping[str, Any] = field(default_factory=dict)

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
        """Groups the table's runs: word vectors, see `vectors_of`, and subset -> names of runs.

        Runs stand in the order of the rows. Groups with more trainings come first. Vectors in which
        rows differ form no groups. Where all runs have the same inputs, there is one group, "".

        Args:
          results: see `disan_tf.reporting.result_files.read_results`.
        """
        names = [name for row in self.rows for name in row.runs(results)]
        kinds, trainings = {}, Counter()
        for name in names:
            kind = self._inputs_of(results[name])
            kinds.setdefault(kind, []).append(name)
            trainings[kind] += len(results[name].get("members", [name]))
        if len(kinds) < 2:
            return {"": names}
        return {kind: kinds[kind] for kind, _ in trainings.most_common()}

    def _inputs_of(self, run: dict) -> str:
        parts = [] if "vectors" in self.distinguishing_options else [vectors_of(run)]
        subset = run["config"]["data"].get("subset")
        return ", ".join([*parts, f"subset {subset}"] if subset else parts)

    @property
    def name(self) -> str:
        """The name of its files, such as "disan_table_1"."""
        part = f"_{self.part}" if self.part else ""
        return f"{self.paper.lower().replace('-', '_')}_table_{self.number}{part}"
