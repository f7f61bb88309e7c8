"""The options of a user's own tables, and the combinations of them that are refused."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

from disan_tf.common.checks import check_at_least, check_choice
from disan_tf.text.text_files import check_encoding

NO_FOLD = -1  # `test_share` draws the test part
MOST_SCORES = 1000  # between the ends of a scale


@dataclass(frozen=True)
class TableOptions:
    """The tables of a corpus, their columns, and how parts are drawn from the training table.

    Raises ValueError for options that do not fit together.

    Attributes:
      train, dev, test: the names of the tables (or their absolute paths). Where `dev` or `test` is
        "", it is replaced by `dev_share` or `test_share` of the training examples, stratified by
        class; `split_seed` decides which examples.
      text, second_text, label, score, example_id: columns. If `second_text` is "", there is one
        text; if `example_id` is "", it is the number of the row; `label` or `score` is "".
      classes: the classes in order; () = the training table's labels, in alphabetical order, or in
        numerical order if all are numbers.
      lowest, highest: the ends of the scale of scores, whose points are whole numbers.
      folds, fold: part `fold` of `folds` equal parts replaces `test_share`, unless it is -1.
      drop_labels: labels, with commas between them, whose rows are dropped.
      on_bad_rows: "error", or "drop" for rows without text or label.
      encoding: the tables' encoding.
    """

    train: str
    dev: str
    test: str
    dev_share: float
    test_share: float
    split_seed: int
    text: str
    second_text: str
    label: str
    score: str
    example_id: str
    classes: Sequence[str]
    lowest: int
    highest: int
    folds: int = 10
    fold: int = NO_FOLD
    drop_labels: str = ""
    on_bad_rows: str = "error"
    encoding: str = "utf-8"

    def __post_init__(self):
        self._check_columns()
        self._check_scale()
        self._check_parts()
        check_choice("on_bad_rows", self.on_bad_rows, ("error", "drop"))
        check_encoding(self.encoding)

    @classmethod
    def of(cls, options) -> "TableOptions":
        """Takes the fields from `config.data`, with defaults for those that older models lack."""
        names = [field.name for field in fields(cls) if field.name in options]
        return cls(**{name: options[name] for name in names})

    @property
    def text_fields(self) -> tuple[str, ...]:
        """Returns the names of an example's texts, as the model for the task reads them."""
        if not self.second_text:
            return ("sentence",)
        return ("sentence_a", "sentence_b") if self.score else ("premise", "hypothesis")

    @property
    def splits(self) -> tuple[str, ...]:
        """Returns the names of the splits; "test" exists if it has a file, a share or a fold."""
        has_test = self.test or self.test_share or self.fold != NO_FOLD
        return ("train", "dev", "test") if has_test else ("train", "dev")

    def _check_columns(self) -> None:
        text, second_text, label, score = self.text, self.second_text, self.label, self.score
        if not self.train:
            raise ValueError(
                "train is empty; name the table of training examples, e.g. reviews.csv."
            )
        if not text:
            raise ValueError("text is empty; name the column of the text.")
        if bool(label) == bool(score):
            raise ValueError(f"label={label!r} and score={score!r}: name one of these columns.")
        columns = [name for name in (text, second_text, label, score) if name]
        if twice := [name for name in columns if columns.count(name) > 1]:
            raise ValueError(
                f"text={text}, second_text={second_text}, label={label}, score={score}: the column "
                f"{twice[0]} is named twice; name different columns."
            )
        if score and not second_text:
            raise ValueError(f"second_text is empty; a score, {score}, is one of two texts.")

    def _check_scale(self) -> None:
        classes, lowest, highest = self.classes, self.lowest, self.highest
        if len(set(classes)) != len(classes) or len(classes) == 1:
            raise ValueError(f"classes={classes} must be () or at least two different names.")
        if not lowest < highest:
            raise ValueError(f"lowest={lowest} must be below --config.data.highest={highest}.")
        if highest - lowest > MOST_SCORES:
            raise ValueError(
                f"highest={highest} must be at most {MOST_SCORES:,} above --config.data.lowest="
                f"{lowest}, since each whole number between them is a class of the model."
            )
        if self.drop_labels and self.score:
            raise ValueError(
                f"drop_labels={self.drop_labels} needs a column of labels, not of scores."
            )

    def _check_parts(self) -> None:
        dev_share, test_share, folds, fold = self.dev_share, self.test_share, self.folds, self.fold
        drawn = (0 if self.dev else dev_share) + (0 if self.test else test_share)
        if min(dev_share, test_share) < 0 or drawn >= 1 or not (self.dev or dev_share):
            raise ValueError(
                f"dev_share={dev_share} and --config.data.test_share={test_share} must leave "
                "examples to train on and, without --config.data.dev, examples that choose the "
                "model."
            )
        check_at_least("split_seed", self.split_seed, 0)
        check_at_least("folds", folds, 2)
        if not NO_FOLD <= fold < folds:
            raise ValueError(f"fold={fold} is not one of the {folds} folds; use 0 to {folds - 1}.")
        if fold != NO_FOLD and self.test:
            raise ValueError(
                f"fold={fold} replaces the test part, so leave --config.data.test={self.test} out."
            )
