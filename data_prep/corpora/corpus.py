"""The interface of corpus readers, and the corpus that they return."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, combinations
from pathlib import Path
from typing import Callable, NamedTuple, Optional, Protocol, Union

DIFFERENCE = "{corpus} {split} has {read:,} {unit}; the official split has {expected:,}."


class Example(NamedTuple):
    """A labelled example: a tuple of tokens for each text field of its corpus.

    `label` indexes `Corpus.classes`, or is a score where `Corpus.scores` is true. `genre` is the
    text's source, "" = unknown. A phrase within a longer sentence may have that sentence as its
    `context`, with `start` tokens before the phrase.
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
      fields: names of an example's texts, in the order of `Example.sentences`.
      classes: class names by label.
      splits: examples by split name.
      counts: by split, or by file where a file makes several splits: the numbers read, kept and
        dropped (by reason), and the official count.
      inputs: every file that was read.
      warnings: sentences for the user, e.g. about a count that differs from the official count.
      unit: the unit of `counts`, and its key there, e.g. "trees".
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
        file: Optional[Path] = None,
        **others,
    ) -> None:
        """Records a split's counts, with a warning if they differ from the official counts.

        Args:
          split: the name of the split or of the file.
          read, expected: the actual and the official number of `unit`; None = there is no official
            count.
          difference: the warning; `str.format` fills in the fields of `DIFFERENCE`.
          is_whole: False warns even if `read` equals `expected`.
          file: the file that contains only this split; the warning names it.
          others: further counts, among them "dropped" (by reason) and "kept".
        """
        self.counts[split] = {self.unit: read, "expected": expected, **others}
        if expected is not None and (read != expected or not is_whole):
            figures = {"split": split, "read": read, "expected": expected, "unit": self.unit}
            warning = difference.format(corpus=self.name.upper(), **figures)
            self.warnings.append(f"{file.name}: {warning}" if file else warning)

    @property
    def genres(self) -> list[str]:
        """Returns the examples' genres, in alphabetical order."""
        genres = {example.genre for examples in self.splits.values() for example in examples}
        return sorted(genres - {""})

    def tokens(self, split: str) -> Iterator[str]:
        """Yields all tokens of a split, in order."""
        sentences = chain.from_iterable(example.sentences for example in self.splits[split])
        return chain.from_iterable(sentences)


def overlap_warnings(corpus: Corpus) -> list[str]:
    """Returns a sentence for every two splits that share examples, i.e. equal tokens in all fields.

    E.g. "train and test share 12 examples (9 with the same label)." Examples with equal tokens
    count once.
    """
    contents = {
        split: {example.sentences for example in examples}
        for split, examples in corpus.splits.items()
    }
    warnings = []
    for splits in combinations(corpus.splits, 2):
        shared = contents[splits[0]] & contents[splits[1]]
        if shared:
            number = f"{len(shared):,} example{'s' if len(shared) > 1 else ''}"
            same = _count_same_label(corpus, splits, shared)
            warnings.append(
                f"{' and '.join(splits)} share {number} ({same:,} with the same label)."
            )
    return warnings


def _count_same_label(corpus: Corpus, splits: tuple[str, str], shared: set) -> int:
    """Counts the shared contents that have a common label in both splits."""
    first, second = (
        {(e.sentences, e.label) for e in corpus.splits[split] if e.sentences in shared}
        for split in splits
    )
    return len({sentences for sentences, _ in first & second})


Names = tuple[str, ...]


class Reader(Protocol):
    """The interface of this package's modules that read a corpus.

    `options` are the options of `data_prep.prepare.prepare`; the docstring of a module's `read`
    names the options that it uses.

    Attributes:
      CHECKS: functions of the options that raise ValueError, see `disan_tf.common.options`.
      FIELDS: names of an example's texts, or a function from the options to these names.
      SPLITS: names of the splits, or a function from the options to these names.
      TOKENIZER_VERSION: the version of the tokenizer with which the recorded results were trained,
        if the newest version gives other tokens; else absent.
    """

    CHECKS: tuple[Callable, ...]
    FIELDS: Union[Names, Callable[..., Names]]
    SPLITS: Union[Names, Callable[..., Names]]

    def files(self, data_dir: Path, options) -> list[Path]:
        """Returns the files that `read` would read now.

        Raises:
          UserError: a file is missing.
        """

    def read(self, data_dir: Path, options) -> Corpus:
        """Reads and checks the corpus.

        `options` may have `tokenizer_version`, the version of the tokenizer; without it, the reader
        takes the newest. Readers of `data_prep.corpora.TEST_FILES` accept a third argument
        `splits`, the splits to read; the files of other splits may be missing.

        Raises:
          UserError: a missing file, or malformed data (names file and line).
        """
