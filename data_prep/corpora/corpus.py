"""What every corpus reader is, and what it returns."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Callable, NamedTuple, Optional, Protocol, Union

DIFFERENCE = "{corpus} {split} has {read:,} {unit}; the official split has {expected:,}."


class Example(NamedTuple):
    """One labelled example: a tuple of tokens for each text field of its corpus.

    `label` indexes `Corpus.classes`, or is a score where `Corpus.scores` is true. `genre` says
    where the text comes from, "" nothing. A phrase of a longer sentence may have that sentence as
    its `context`, with `start` tokens before the phrase.
    """

    example_id: str
    sentences: tuple[tuple[str, ...], ...]
    label: Union[int, float]
    genre: str = ""
    context: tuple[str, ...] = ()
    start: int = 0


@dataclass
class Corpus:
    """A raw corpus, read and checked.

    Attributes:
      name: the key of its reader in `READERS`.
      fields: names of the texts of an example, in the order of `Example.sentences`.
      classes: class names by label.
      splits: examples by split name.
      counts: by split, or by file where a file makes several splits: what was read, kept and
        dropped (by reason), and the official count.
      inputs: every file that was read.
      warnings: sentences for the user, e.g. a count that differs from the official one.
      unit: what `counts` counts, and its key there, e.g. "trees".
      scores: whether labels are numbers, e.g. from 1 to 5, and `classes` the points of their scale.
    """

    name: str
    fields: tuple[str, ...]
    classes: tuple[str, ...]
    splits: dict[str, list[Example]]
    counts: dict[str, dict]
    inputs: list[Path]
    warnings: list[str] = field(default_factory=list)
    unit: str = "examples"
    scores: bool = False

    def count(
        self,
        split: str,
        read: int,
        expected: Optional[int] = None,
        difference: str = DIFFERENCE,
        is_whole: bool = True,
        **others,
    ) -> None:
        """Records the counts of a split, with a warning if they are not the official ones.

        Args:
          split: its name, or that of the file.
          read, expected: how many of `unit` there are, and how many there should be; None = there
            is no official count.
          difference: the warning; `str.format` fills in what `DIFFERENCE` names.
          is_whole: False warns even if `read` equals `expected`.
          others: further counts, among them "dropped" (by reason) and "kept".
        """
        self.counts[split] = {self.unit: read, "expected": expected, **others}
        if expected is not None and (read != expected or not is_whole):
            figures = {"split": split, "read": read, "expected": expected, "unit": self.unit}
            self.warnings.append(difference.format(corpus=self.name.upper(), **figures))

    @property
    def genres(self) -> list[str]:
        """The genres of the examples, in alphabetical order."""
        genres = {example.genre for examples in self.splits.values() for example in examples}
        return sorted(genres - {""})

    def tokens(self, split: str) -> Iterator[str]:
        """All tokens of a split, in order."""
        sentences = chain.from_iterable(example.sentences for example in self.splits[split])
        return chain.from_iterable(sentences)


Names = tuple[str, ...]


class Reader(Protocol):
    """The modules of this package that read a corpus.

    `options` are those of `data_prep.prepare.prepare`; the docstring of a module's `read` says
    which ones it takes.

    Attributes:
      CHECKS: functions of these options that raise ValueError, see `disan_tf.common.options`.
      FIELDS: names of the texts of an example; or a function of the options that gives them.
      SPLITS: names of the splits; or such a function.
    """

    CHECKS: tuple[Callable, ...]
    FIELDS: Union[Names, Callable[..., Names]]
    SPLITS: Union[Names, Callable[..., Names]]

    def files(self, data_dir: Path, options) -> list[Path]:
        """The files that `read` would read now.

        Raises:
          UserError: one is missing.
        """

    def read(self, data_dir: Path, options) -> Corpus:
        """Reads and checks the corpus.

        Raises:
          UserError: a missing file, or malformed data (names file and line).
        """
