"""What a table of a paper is: columns, rows, and which runs stand beside a row."""

from dataclasses import dataclass
from typing import Callable, Optional

VECTOR_DIM = 300  # of all models of the papers; smaller ones are tests
CLASSES = {"sst": 5, "trec": 6}  # of corpora whose config has a choice
FIVE_RUNS = "--seeds=1,2,3,4,5"


@dataclass(frozen=True)
class Score:
    """A column of a table.

    Attributes:
      name: its heading.
      split: ours, on which it is measured; or another entry of a recorded result, "selected".
      key: of the report, see `disan_tf.training.evaluation.evaluate`; or of that entry.
      scale: 100 where the table has per cent.
      digits: after the point.
    """

    name: str
    split: str
    key: str = "accuracy"
    scale: int = 100
    digits: int = 2


ACCURACIES = (Score("train", "train"), Score("test", "test"))
RELATEDNESS = (
    Score("Pearson's r", "test", "pearson", 1, 4),
    Score("Spearman's ρ", "test", "spearman", 1, 4),
    Score("MSE", "test", "mse", 1, 4),
)


@dataclass(frozen=True)
class Row:
    """A model on a corpus.

    Attributes:
      model: its name in the table.
      config: the name of its file in `configs/`, which is `config.name` too.
      variant: of that file, "" = the default.
      figures: for each column of the table, as printed.
      variant_of: the variant that a run's config is in the paper's tables; None = in none of them.
      parameters: without word vectors, as printed.
      seconds: T(s)/epoch, on a GTX 1080 Ti.
      inference: inference T(s), on the same.
      flags: what our command has besides the config: the paper's runs or folds.
      classes: of the corpus; None = those of `CLASSES`.
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
        """What trains it."""
        variant = f":{self.variant}" if self.variant else ""
        return f"python run.py --config=configs/{self.config}.py{variant} {self.flags}".rstrip()

    def matches(self, config: dict) -> bool:
        """Whether a run of this config is a run of this model."""
        data = config["data"]
        return (
            config["name"] == self.config
            and self.variant_of(config) == self.variant
            and data["embedding_dim"] == VECTOR_DIM
            and data.get("classes") in (None, self.classes or CLASSES.get(data["corpus"]))
        )


@dataclass(frozen=True)
class Table:
    """A table of a paper.

    Attributes:
      paper: "DiSAN", "ReSAN", "DSA", "DRCN" or "ELMo-DiSAN".
      number: in the paper.
      title: its corpus.
      scores: the columns of the paper and of ours.
      rows: the models that we build.
      further: columns of ours alone.
      part: of a table of the paper that is several of ours.
    """

    paper: str
    number: int
    title: str
    scores: tuple[Score, ...]
    rows: tuple[Row, ...]
    further: tuple[Score, ...] = ()
    part: str = ""

    @property
    def name(self) -> str:
        """Of its files, such as "disan_table_1"."""
        part = f"_{self.part}" if self.part else ""
        return f"{self.paper.lower().replace('-', '_')}_table_{self.number}{part}"
