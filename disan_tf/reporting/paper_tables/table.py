"""A paper's table: columns, rows, and the runs that stand beside a row."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Callable, Optional

from disan_tf.reporting.results import deviation, mean, vectors_of
from disan_tf.runs.run_summary import CRITERIA

VECTOR_DIMS = (100, 300)  # `glove_100d` and the papers; smaller vectors are for tests
CLASSES = {"sst": 5, "trec": 6}  # corpora whose configs have a choice
FIVE_RUNS = "--seeds=1,2,3,4,5"


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
        return self._text(mean(run, split or self.split, self.key))

    def deviation(self, run: dict, split: Optional[str] = None) -> str:
        """Formats the standard deviation over a series, see `mean`."""
        return self._text(deviation(run, split or self.split, self.key))

    def show(self, run: dict, split: Optional[str] = None) -> str:
        """Formats a run as "75.22", a series as "r 0.8685 (0.0010)"; "" where there is none."""
        value, spread = self.mean(run, split), self.deviation(run, split)
        return " ".join(filter(None, [value and self.sign, value, spread and f"({spread})"]))

    def _text(self, value):
        return "" if value is None else f"{self.scale * value:.{self.digits}f}"


ACCURACIES = (Score("train", "train"), Score("test", "test"))
RELATEDNESS = (
    Score("Pearson's r", "test", "pearson", 1, 4, "r"),
    Score("Spearman's ρ", "test", "spearman", 1, 4),
    Score("MSE", "test", "mse", 1, 4),
)


@dataclass(frozen=True)
class Row:
    """A model on a corpus.

    Attributes:
      model: its name in the table.
      config: the name of its file in `configs/`, which is `config.name` too.
      variant: the file's variant, "" = the default.
      figures: the figure of each column, as printed.
      variant_of: returns a config's variant in the paper's tables; None = in no table.
      parameters: number of parameters without word vectors, as printed.
      seconds: T(s)/epoch, on a GTX 1080 Ti.
      inference: inference T(s), on a GTX 1080 Ti.
      flags: our command's flags besides --config: the paper's runs or folds.
      classes: number of classes; None = as in `CLASSES`.
    """

    model: str
    config: str
    variant: str
    figures: tuple[str, ...]
    variant_of: Callable[[dict], Optional[str]]
    parameters: str = ""
    seconds: str = ""
    inference: str = ""
    flags: str = ""
    classes: Optional[int] = None

    @property
    def command(self) -> str:
        """The command that trains the model."""
        variant = f":{self.variant}" if self.variant else ""
        return f"python run.py --config=configs/{self.config}.py{variant} {self.flags}".rstrip()

    def matches(self, config: dict) -> bool:
        """Returns whether a run with this config is a run of this model."""
        data = config["data"]
        return (
            config["name"] == self.config
            and self.variant_of(config) == self.variant
            and data["embedding_dim"] in VECTOR_DIMS
            and data.get("classes") in (None, self.classes or CLASSES.get(data["corpus"]))
        )

    def runs(self, results: Mapping[str, dict]) -> dict[str, dict]:
        """Returns the recorded runs of this model: name -> result."""
        return {name: run for name, run in results.items() if self.matches(run["config"])}


@dataclass(frozen=True)
class Table:
    """A paper's table.

    Attributes:
      paper: "DiSAN", "ReSAN", "DSA", "DRCN" or "ELMo-DiSAN".
      number: its number in the paper.
      title: its corpus.
      scores: the columns that the paper and we have.
      rows: the models that we build.
      further: columns that only we have.
      part: names a part where we divide the paper's table into several.
      caption: what a reader must know of our scores before they compare them.
      main: the variant of the paper's own model, to which the others are compared.
      told_apart_by: options of `config.data` in which rows differ; compared models agree in all
        other options.
    """

    paper: str
    number: int
    title: str
    scores: tuple[Score, ...]
    rows: tuple[Row, ...]
    further: tuple[Score, ...] = ()
    part: str = ""
    caption: str = ""
    main: str = ""
    told_apart_by: tuple[str, ...] = ()

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
        """Returns the paper's headline figure, such as "85.62" or "r .8695 (.0012)"."""
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
        parts = [] if "vectors" in self.told_apart_by else [vectors_of(run)]
        subset = run["config"]["data"].get("subset")
        return ", ".join([*parts, f"subset {subset}"] if subset else parts)

    @property
    def name(self) -> str:
        """The name of its files, such as "disan_table_1"."""
        part = f"_{self.part}" if self.part else ""
        return f"{self.paper.lower().replace('-', '_')}_table_{self.number}{part}"
