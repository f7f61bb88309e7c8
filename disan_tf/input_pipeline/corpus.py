"""The files of a prepared corpus, as memory-mapped arrays."""

import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Optional

import numpy as np

from disan_tf.errors import UserError
from disan_tf.files import read_json, read_lines
from disan_tf.input_pipeline.cached_layers import CachedLayers, LayerFiles

_REMEDY = "delete the directory and prepare the corpus again with --mode=prepare"


class WordFeatures(NamedTuple):
    """The characters of the words of a split, and of pairs which of them match.

    Attributes:
      spellings: <uint8>[rows, word_length], ids of `disan_tf.text.spelling`, or <uint16>, ids of
        `disan_tf.text.character_ids`; row 0 is zeros.
      spelling: by field, <int32>[tokens], the row of each token.
      match: by field, <uint8>[tokens], 1 where the other sentence has a token's stem or lemma; None
        where that is not asked.
    """

    spellings: np.ndarray
    spelling: dict[str, np.ndarray]
    match: Optional[dict[str, np.ndarray]] = None


class Contexts(NamedTuple):
    """The longer sentences from which the examples of a split are taken.

    Attributes:
      spelling: <int32>[tokens], the row of `spellings` of each token, end to end.
      offsets: <int64>[sentences + 1]; sentence k is spelling[offsets[k]:offsets[k + 1]].
      places: <int32>[examples, 2], the sentence of each example, and its first token there.
    """

    spelling: np.ndarray
    offsets: np.ndarray
    places: np.ndarray


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
      features: what words have besides ids; None if the corpus has nothing.
      layers: what a biLM makes of the words; None if that is not cached.
    """

    fields: tuple[str, ...]
    ids: dict[str, np.ndarray]
    offsets: dict[str, np.ndarray]
    labels: np.ndarray
    example_ids: np.ndarray
    genres: Optional[np.ndarray] = None
    features: Optional[WordFeatures] = None
    layers: Optional[CachedLayers] = None

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

    Attributes:
      layers: the cached layers of its biLM, see `with_layers`; None without.

    Raises:
      UserError: a file is missing or damaged.
    """

    layers: Optional[LayerFiles] = None

    def __init__(self, directory):
        self.directory = Path(directory)
        self.manifest = read_json(self.directory / "manifest.json", _REMEDY)
        self.classes = self.manifest["classes"]
        self.words = (self.manifest["trainable_words"], self.manifest["fixed_words"])

    def with_layers(self, layers: LayerFiles) -> "PreparedCorpus":
        """The same corpus with the cached layers of its biLM, which its splits have too."""
        corpus = copy.copy(self)
        corpus.layers = layers
        return corpus

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
        """Whether splits have `WordFeatures` of pairs."""
        return "word_features" in self.manifest

    @property
    def characters(self) -> bool:
        """Whether splits have the characters of words."""
        return bool({"word_features", "word_bytes", "bilm"} & self.manifest.keys())

    @property
    def bilm(self) -> Optional[tuple[Path, Path]]:
        """The options and weights of the biLM that reads the words' characters, if there is one."""
        if not self.manifest.get("bilm"):
            return None
        return self.directory / "bilm_options.json", self.directory / "bilm_weights.hdf5"

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
            self._features(name) if self.characters else None,
            self.layers and self.layers.split(name, self.fields),
        )
        if not _agree(split):
            raise UserError(f"{self.directory}: the {name} split's files disagree; {_REMEDY}.")
        return split

    def contexts(self, name: str) -> Optional[Contexts]:
        """Those of the split called `name`; None where it has none."""
        if not (self.directory / f"{name}.contexts.places.npy").exists():
            return None
        parts = ("spelling", "offsets", "places")
        return Contexts(*(self._array(f"{name}.contexts.{part}") for part in parts))

    def _features(self, name):
        kinds = ("spelling", "match") if self.word_features else ("spelling",)
        arrays = (
            {field: self._array(f"{name}.{field}.{kind}") for field in self.fields}
            for kind in kinds
        )
        return WordFeatures(self._array("spellings"), *arrays)

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
    if split.layers is not None:
        examples |= set(map(len, split.layers.starts.values()))
    return len(examples) == 1 and all(
        split.offsets[field][-1] == len(split.ids[field])
        and (split.features is None or _fit(split.features, field, len(split.ids[field])))
        for field in split.fields
    )


def _fit(features, field, tokens):
    """Whether a field has features of so many tokens, and all rows that they name."""
    spelling, rows = features.spelling[field], len(features.spellings)
    others = [] if features.match is None else [features.match[field]]
    return (
        all(len(each) == tokens for each in [spelling, *others])
        and spelling.min(initial=0) >= 0
        and spelling.max(initial=0) < rows
    )
