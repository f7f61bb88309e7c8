"""The files of a prepared corpus, as memory-mapped arrays."""

import copy
import hashlib
import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Optional

import numpy as np

from disan_tf.common.errors import UserError
from disan_tf.common.files import decode_line
from disan_tf.input_pipeline.cached_layers import CachedLayers, LayerFiles
from disan_tf.input_pipeline.check_ranges import check_contexts, check_split
from disan_tf.input_pipeline.corpus_format import (
    BILM_OPTIONS,
    BILM_WEIGHTS,
    CONTEXT_PARTS,
    EMBEDDINGS,
    REMEDY,
    SPELLINGS,
    Keys,
    array_file,
    check_size,
    open_array,
    read_manifest,
)
from disan_tf.text.lookup import VOCABULARY
from disan_tf.text.word_forms import WORD_FORMS


class WordFeatures(NamedTuple):
    """The characters of a split's words, and the match flags of pairs.

    Attributes:
      spellings: <uint8>[rows, word_length], `ascii_ids` of `disan_tf.text.characters`, or
        <uint16>, `byte_ids`; row 0 is zeros.
      spelling: by field, <int32>[tokens], the row of each token.
      match: by field, <uint8>[tokens], 1 where the other sentence has the token's stem or lemma;
        None if the corpus has no matches.
    """

    spellings: np.ndarray
    spelling: dict[str, np.ndarray]
    match: Optional[dict[str, np.ndarray]] = None


class Contexts(NamedTuple):
    """The longer sentences around a split's examples.

    Attributes:
      spelling: <int32>[tokens], each token's row of `spellings`, end to end.
      offsets: <int64>[sentences + 1]; sentence k is spelling[offsets[k]:offsets[k + 1]].
      places: <int32>[examples, 2], each example's sentence, and its first token there.
    """

    spelling: np.ndarray
    offsets: np.ndarray
    places: np.ndarray


@dataclass(frozen=True)
class Split:
    """One split of a corpus.

    Attributes:
      fields: names of an example's sentences: ("sentence",), or for pairs
        ("premise", "hypothesis") or ("sentence_a", "sentence_b").
      ids: by field, <int32>[tokens], the token ids of all sentences, end to end.
      offsets: by field, <int64>[examples + 1]; sentence k is ids[offsets[k]:offsets[k + 1]].
      labels: <int32>[examples], class numbers, or <float32>[examples], scores.
      example_ids: <bytes>[examples], names of the examples in the raw corpus.
      genres: <bytes>[examples], the text's source; None if the corpus names no genres.
      features: characters and matches of words; None if the corpus has none.
      layers: the words' biLM layers; None if they are not cached.
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
        """The number of tokens in each sentence, <int64>[examples, fields]."""
        return np.stack([np.diff(self.offsets[field]) for field in self.fields], axis=1)

    @cached_property
    def lengths(self) -> np.ndarray:
        """The number of tokens in each example's longest sentence, <int64>[examples]."""
        return self.field_lengths.max(axis=1)

    def take(self, rows: np.ndarray) -> "Split":
        """Returns a split with the examples `rows`, <int64>[examples], in this order."""
        lengths = dict(zip(self.fields, self.field_lengths[rows].T))
        offsets = {field: np.append(0, np.cumsum(lengths[field])) for field in self.fields}
        shifts = {field: self.offsets[field][rows] - offsets[field][:-1] for field in self.fields}
        places = {  # of the tokens
            field: np.arange(offsets[field][-1]) + np.repeat(shifts[field], lengths[field])
            for field in self.fields
        }

        def at_places(arrays):
            return arrays and {field: array[places[field]] for field, array in arrays.items()}

        features, layers = self.features, self.layers
        if features is not None:
            spelling, match = at_places(features.spelling), at_places(features.match)
            features = features._replace(spelling=spelling, match=match)
        if layers is not None:
            starts = {field: array[rows] for field, array in layers.starts.items()}
            layers = layers._replace(starts=starts)
        return Split(
            self.fields,
            at_places(self.ids),
            offsets,
            self.labels[rows],
            self.example_ids[rows],
            None if self.genres is None else self.genres[rows],
            features,
            layers,
        )

    def __len__(self) -> int:
        return len(self.labels)


class PreparedCorpus:
    """A directory that `data_prep.prepare` wrote, see `disan_tf.input_pipeline.corpus_format`.

    `word_files` maps file names to contents: of the vocabulary and, if the corpus has them, of the
    word forms. They are read here, because another process may prepare the corpus again.

    Raises UserError if a file is missing or damaged, or has the format of another version.
    """

    layers: Optional[LayerFiles] = None

    def __init__(self, directory):
        self.directory = Path(directory)
        self.manifest = read_manifest(self.directory)
        self.classes = self.manifest[Keys.CLASSES]
        self.words = (self.manifest[Keys.TRAINABLE_WORDS], self.manifest[Keys.FIXED_WORDS])
        names = [VOCABULARY] + [WORD_FORMS] * (WORD_FORMS in self._records)
        self.word_files = {name: self._read(name) for name in names}

    def with_layers(self, layers: LayerFiles) -> "PreparedCorpus":
        """Returns a copy of the corpus whose splits have the cached layers of the biLM."""
        corpus = copy.copy(self)
        corpus.layers = layers
        return corpus

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of an example's sentences, see `Split`."""
        return tuple(self.manifest[Keys.FIELDS])

    @property
    def splits(self) -> tuple[str, ...]:
        """Names of the splits: "train", "dev", "test", and others if the corpus has more."""
        return tuple(self.manifest[Keys.SPLITS])

    @property
    def scores(self) -> bool:
        """Returns whether labels are scores, and `classes` the points of their scale."""
        return self.manifest[Keys.SCORES]

    @property
    def word_features(self) -> bool:
        """Returns whether splits have `WordFeatures` with matches."""
        return Keys.WORD_FEATURES in self.manifest

    @property
    def characters(self) -> bool:
        """Returns whether splits have the characters of words."""
        return bool({Keys.WORD_FEATURES, Keys.WORD_BYTES} & self.manifest.keys())

    @property
    def bilm(self) -> Optional[tuple[Path, Path]]:
        """The options and weights of the biLM that reads the characters; None without a biLM."""
        if Keys.BILM not in self.manifest:
            return None
        return self.directory / BILM_OPTIONS, self.directory / BILM_WEIGHTS

    @property
    def vocabulary(self) -> list:
        """The words in the order of their ids, from id 2."""
        lines = enumerate(io.BytesIO(self.word_files[VOCABULARY]), start=1)
        path = self.directory / VOCABULARY
        words = [decode_line(line, path, number, REMEDY) for number, line in lines]
        if len(words) != sum(self.words):
            raise self._damaged(f"{VOCABULARY} has {len(words):,} words, not {self.words}")
        return words

    @property
    def vectors(self) -> np.ndarray:
        """The vectors of ids 2 and up, <float32>[words, dim]; UserError unless all are finite."""
        vectors = self._array(EMBEDDINGS)
        is_finite = np.isfinite(vectors.min(initial=0.0)) and np.isfinite(vectors.max(initial=0.0))
        if len(vectors) != sum(self.words) or not is_finite:
            raise self._damaged(
                f"{EMBEDDINGS}.npy does not hold finite vectors of {sum(self.words):,} words"
            )
        return vectors

    def split(self, name: str) -> Split:
        """Opens one of `splits`; UserError if it is absent, damaged, or of a later preparation."""
        if name not in self.splits:
            known = ", ".join(self.splits)
            raise UserError(f"{self.directory} has no split {name!r}; it has {known}.")
        if read_manifest(self.directory)[Keys.FILES] != self._records:
            raise UserError(
                f"{self.directory} was prepared again, from other data, since it was opened; run "
                "the same command again."
            )
        split = Split(
            self.fields,
            self._by_field(name, "ids"),
            self._by_field(name, "offsets"),
            self._array(f"{name}.label"),
            self._array(f"{name}.example_id"),
            self._array(f"{name}.genre") if self.manifest[Keys.GENRES] else None,
            self._features(name) if self.characters else None,
            self.layers and self.layers.split(name, self.fields),
        )
        if not _agree(split):
            raise self._damaged(f"the {name} split's files disagree")
        try:
            check_split(name, split, sum(self.words), self.classes, self.manifest[Keys.GENRES])
        except ValueError as error:
            raise self._damaged(error) from None
        return split

    def contexts(self, name: str) -> Optional[Contexts]:
        """Opens the contexts of the split `name`; returns None if it has none."""
        if not self.manifest[Keys.SPLITS][name]["contexts"]:
            return None
        arrays = (self._array(f"{name}.contexts.{part}") for part in CONTEXT_PARTS)
        contexts, split = Contexts(*arrays), self.split(name)
        try:
            check_contexts(name, contexts, split.lengths, len(split.features.spellings))
        except ValueError as error:
            raise self._damaged(error) from None
        return contexts

    def _features(self, name):
        kinds = ("spelling", "match") if self.word_features else ("spelling",)
        by_field = (self._by_field(name, kind) for kind in kinds)
        return WordFeatures(self._array(SPELLINGS), *by_field)

    def _by_field(self, name, kind):
        arrays = (self._array(f"{name}.{field}.{kind}") for field in self.fields)
        return dict(zip(self.fields, arrays))

    @property
    def _records(self):
        return self.manifest[Keys.FILES]

    def _read(self, name) -> bytes:
        path = check_size(self.directory / name, self._records, REMEDY)
        content = path.read_bytes()
        if hashlib.sha256(content).hexdigest() != self._records[name]["sha256"]:
            raise UserError(f"{path} changed since it was written; {REMEDY}.")
        return content

    def _array(self, name):
        path = array_file(self.directory, name)
        return open_array(path, self._records, REMEDY)

    def _damaged(self, reason) -> UserError:
        return UserError(f"{self.directory}: {reason}; {REMEDY}.")


def _agree(split):
    """Returns whether all arrays agree on the numbers of examples and tokens."""
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
    """Returns whether a field's features have this number of tokens."""
    others = [] if features.match is None else [features.match[field]]
    return all(len(array) == tokens for array in [features.spelling[field], *others])
