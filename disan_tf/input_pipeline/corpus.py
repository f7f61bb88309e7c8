"""The files of a prepared corpus, as memory-mapped arrays."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Optional

import numpy as np

from disan_tf.errors import UserError
from disan_tf.files import read_json, read_lines

_REMEDY = "delete the directory and prepare the corpus again with --mode=prepare"


class WordFeatures(NamedTuple):
    """The characters of the words of a split of pairs, and which of them match.

    Attributes:
      spellings: <uint8>[rows, word_length], ids of `disan_tf.text.spelling`; row 0 is zeros.
      spelling: by field, <int32>[tokens], the row of each token.
      match: by field, <uint8>[tokens], 1 where the other sentence has a token's stem or lemma.
    """

    spellings: np.ndarray
    spelling: dict[str, np.ndarray]
    match: dict[str, np.ndarray]


@dataclass(frozen=True)
class Split:
    """One split of a corpus.

    Attributes:
      fields: names of the sentences of an example: ("sentence",), or for pairs
        ("premise", "hypothesis") or ("sentence_a", "sentence_b").
      ids: by field, <int32>[tokens], the token ids of all its sentences, end to end.
      offsets: by field, <int64>[examples + 1]; sentence k is ids[offsets[k]:offsets[k + 1]].
      labels: <int32>[examples], numbers of classes, or <float32>[examples], scores.
      example_ids: <bytes>[examples], where each example stands in the raw corpus.
      genres: <bytes>[examples], where the text comes from; None if the corpus does not say.
      features: what the words of pairs have besides ids; None if the corpus has none.
    """

    fields: tuple[str, ...]
    ids: dict[str, np.ndarray]
    offsets: dict[str, np.ndarray]
    labels: np.ndarray
    example_ids: np.ndarray
    genres: Optional[np.ndarray] = None
    features: Optional[WordFeatures] = None

    @cached_property
    def field_lengths(self) -> np.ndarray:
        """Tokens in each sentence, <int64>[examples, fields]."""
        return np.stack([np.diff(self.offsets[field]) for field in self.fields], axis=1)

    @cached_property
    def lengths(self) -> np.ndarray:
        """Tokens in each example's longest sentence, <int64>[examples]."""
        return self.field_lengths.max(axis=1)

    def __len__(self) -> int:
        return len(self.labels)


class PreparedCorpus:
    """A directory that `data_prep.prepare` wrote.

    Raises:
      UserError: a file is missing or damaged.
    """

    def __init__(self, directory):
        self.directory = Path(directory)
        self.manifest = read_json(self.directory / "manifest.json", _REMEDY)
        self.classes = self.manifest["classes"]
        self.words = (self.manifest["trainable_words"], self.manifest["fixed_words"])

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the sentences of an example, see `Split`."""
        return tuple(self.manifest["fields"])

    @property
    def splits(self) -> tuple[str, ...]:
        """Names of the splits: "train", "dev", "test", and others where the corpus has more."""
        return tuple(self.manifest["splits"])

    @property
    def scores(self) -> bool:
        """Whether labels are scores, and `classes` the points of their scale."""
        return self.manifest.get("scores", False)  # absent from older manifests

    @property
    def word_features(self) -> bool:
        """Whether splits have `WordFeatures`."""
        return "word_features" in self.manifest

    @property
    def vocabulary(self) -> list:
        """Words in the order of their ids, from id 2."""
        return [word for _, word in read_lines(self.directory / "vocabulary.txt")]

    @property
    def vectors(self) -> np.ndarray:
        """<float32>[words, dim], the vectors of ids 2 and up."""
        return self._array("embeddings")

    def split(self, name: str) -> Split:
        """One of `splits`.

        Raises:
          UserError: there is no such split, or its files are missing or disagree.
        """
        if name not in self.splits:
            known = ", ".join(self.splits)
            raise UserError(f"{self.directory} has no split {name!r}; it has {known}.")
        split = Split(
            self.fields,
            {field: self._array(f"{name}.{field}.ids") for field in self.fields},
            {field: self._array(f"{name}.{field}.offsets") for field in self.fields},
            self._array(f"{name}.label"),
            self._array(f"{name}.example_id"),
            self._optional_array(f"{name}.genre"),
            self._features(name) if self.word_features else None,
        )
        if not _agree(split):
            raise UserError(f"{self.directory}: the {name} split's files disagree; {_REMEDY}.")
        return split

    def _features(self, name):
        return WordFeatures(
            self._array("spellings"),
            {field: self._array(f"{name}.{field}.spelling") for field in self.fields},
            {field: self._array(f"{name}.{field}.match") for field in self.fields},
        )

    def _optional_array(self, name):
        return self._array(name) if (self.directory / f"{name}.npy").exists() else None

    def _array(self, name):
        path = self.directory / f"{name}.npy"
        try:
            return np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise UserError(f"{path} cannot be read ({error}); {_REMEDY}.") from None


def _agree(split):
    """Whether every array has as many examples as the others, and as many tokens as it says."""
    examples = {len(split), len(split.example_ids)}
    examples |= {len(offsets) - 1 for offsets in split.offsets.values()}
    if split.genres is not None:
        examples.add(len(split.genres))
    return len(examples) == 1 and all(
        split.offsets[field][-1] == len(split.ids[field])
        and (split.features is None or _fit(split.features, field, len(split.ids[field])))
        for field in split.fields
    )


def _fit(features, field, tokens):
    """Whether a field has features of so many tokens, and all rows that they name."""
    spelling, rows = features.spelling[field], len(features.spellings)
    return (
        len(spelling) == len(features.match[field]) == tokens
        and spelling.min(initial=0) >= 0
        and spelling.max(initial=0) < rows
    )
