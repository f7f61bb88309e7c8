"""What every corpus reader returns."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Union

DIFFERENCE = "{corpus} {split} has {read:,} {unit}; the official split has {expected:,}."


class Example(NamedTuple):
    """One labelled example: a tuple of tokens for each text field of its corpus.

    `label` indexes `Corpus.classes`, or is a score where `Corpus.scores` is true. `genre` tells
    where the text is from; "" says nothing. A phrase of a longer sentence has that as its
    `context`, and `start` counts the tokens before it; other examples have no context.
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
      name: its key in `READERS`.
      fields: names of the texts of an example, in the order of `Example.sentences`.
      classes: class names by label.
      splits: examples by split name.
      counts: by split, or by file where a file makes several splits: what was read, kept and
        dropped (with reasons), and the official count.
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
        self, split: str, read: int, expected: int, difference: str = DIFFERENCE,
        is_whole: bool = True, **others,
    ) -> None:  # fmt: skip
        """Enters the counts of a split, and a warning where they are not the official ones.

        Args:
          split: its name, or that of the file.
          read, expected: how many of `unit` there are, and how many there should be.
          difference: the warning; `str.format` fills in what `DIFFERENCE` names.
          is_whole: False warns even though `read` is `expected`.
          others: the counts that follow, among them "dropped" (by reason) and "kept".
        """
        self.counts[split] = {self.unit: read, "expected": expected, **others}
        if read != expected or not is_whole:
            figures = {"split": split, "read": read, "expected": expected, "unit": self.unit}
            self.warnings.append(difference.format(corpus=self.name.upper(), **figures))

    @property
    def genres(self) -> list[str]:
        """The genres that the examples tell, in alphabetical order."""
        told = {example.genre for examples in self.splits.values() for example in examples}
        return sorted(told - {""})

    def tokens(self, split: str) -> Iterator[str]:
        """All tokens of a split, in order."""
        sentences = chain.from_iterable(example.sentences for example in self.splits[split])
        return chain.from_iterable(sentences)
