"""The vocabulary, built from the training words and the vector file, and the embedding matrix.

Id 0 is padding and id 1 the unknown word; both have zero vectors and no row in the matrix. The
training words follow, with trained vectors, and then words that only the vector file has, with
fixed vectors.
"""

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Optional

import numpy as np

from disan_tf.common.checks import check_at_least, check_between, check_choice
from disan_tf.common.options import MAX_UNITS
from disan_tf.text.lookup import FIRST_WORD_ID
from disan_tf.text.word_vectors import source

# Words without a vector start from U(-limit, limit): DiSAN Sec. 5 and DSA app. B; DSA app. A.
UNIFORM_LIMITS = {"uniform": 0.05, "narrow_uniform": 0.005}
OOV = (*UNIFORM_LIMITS, "normal")
FIXED_WORDS = ("corpus", "all")


def check_options(
    vectors: str,
    embedding_dim: int,
    fixed_words: str,
    oov: str,
    seed: int,
    min_count: int = 1,
    vector_dim: int = 0,
    vector_words: str = "",
    unescaped: bool = False,
) -> None:
    """Checks the options of vocabulary and vectors; raises ValueError for impossible ones."""
    check_between("embedding_dim", embedding_dim, 1, MAX_UNITS)
    check_choice("fixed_words", fixed_words, FIXED_WORDS)
    check_choice("oov", oov, OOV)
    check_at_least("seed", seed, 0)
    check_at_least("min_count", min_count, 1)
    check_at_least("vector_dim", vector_dim, 0)
    if vector_dim > embedding_dim:
        raise ValueError(
            f"vector_dim={vector_dim} must be at most --config.data.embedding_dim={embedding_dim}; "
            "vectors are padded, never cut."
        )
    if not re.fullmatch("[A-Za-z0-9_-]*", vector_words):
        raise ValueError(f"vector_words={vector_words} must have letters, digits, - and _ alone.")
    if vector_words and not vectors:
        raise ValueError(
            f"vector_words={vector_words} needs a file of vectors, --config.data.vectors."
        )
    if vector_dim and not vectors:
        raise ValueError(f"vector_dim={vector_dim} needs a file of vectors, --config.data.vectors.")


@dataclass(frozen=True)
class Vocabulary:
    """Words in the order of their ids, `words[k]` having id k + 2.

    Attributes:
      words: trainable words, then fixed words.
      trainable: the number of trainable words.
      sources: for each word, the vector file's word whose vector it has, or None.
    """

    words: tuple[str, ...]
    trainable: int
    sources: tuple[Optional[str], ...]

    def ids(self) -> dict[str, int]:
        """Returns word -> id; all other words have id `UNKNOWN_ID`."""
        return {word: number for number, word in enumerate(self.words, start=FIRST_WORD_ID)}

    def training_words_found(self) -> int:
        """Returns the number of trainable words with a vector."""
        return self.trainable - self.sources[: self.trainable].count(None)

    def coverage(self, training_words: Mapping[str, int]) -> float:
        """Returns the share, 0 to 1, of tokens with a vector; `training_words` are word counts."""
        sources = dict(zip(self.words, self.sources))
        covered = sum(count for word, count in training_words.items() if sources[word] is not None)
        return covered / max(1, sum(training_words.values()))


def build(
    training_words: Iterable[str],
    other_words: Iterable[str],
    vectors: Container[str],
    extra_words: Optional[Mapping[str, str]] = None,
    unescaped: bool = False,
) -> Vocabulary:
    """Orders words by first appearance: training words, then fixed words that have a vector.

    Args:
      training_words: words of the training split, which all get ids; repetitions are allowed.
      other_words: words of the other splits; those without a vector are unknown.
      vectors: the words of the vector file.
      extra_words: further fixed words -> the vector file's word that is used if none of its
        spellings has a vector (the authors keep the whole vector file).
      unescaped: see `word_vectors.spellings`.
    """
    sources = {word: source(word, vectors, unescaped) for word in training_words}
    trainable = len(sources)
    for word in other_words:
        if word not in sources:
            origin = source(word, vectors, unescaped)
            if origin is not None:
                sources[word] = origin
    for word, origin in (extra_words or {}).items():
        if word not in sources:
            sources[word] = source(word, vectors, unescaped) or origin
    return Vocabulary(tuple(sources), trainable, tuple(sources.values()))


def embeddings(
    vocabulary: Vocabulary, vectors: Mapping[str, np.ndarray], dim: int, oov: str, seed: int
) -> np.ndarray:
    """Returns the embedding matrix `<float32>[words, dim]`, row k for id k + 2.

    Words without a vector are drawn from U(-limit, limit) with the limit `UNIFORM_LIMITS[oov]`, or
    from N(0, 1) (`oov="normal"`, the authors' SST code of DiSAN). So are the last components of
    vectors with fewer than `dim` components.
    """
    generator = np.random.default_rng(seed)

    def draw(*shape):
        if oov == "normal":
            return generator.standard_normal(shape)
        return generator.uniform(-UNIFORM_LIMITS[oov], UNIFORM_LIMITS[oov], shape)

    matrix = np.empty((len(vocabulary.words), dim), np.float32)
    has_vector = np.array([origin is not None for origin in vocabulary.sources], bool)
    matrix[~has_vector] = draw(vocabulary.sources.count(None), dim)
    width = len(next(iter(vectors.values()))) if vectors else dim
    for row in np.flatnonzero(has_vector):
        matrix[row, :width] = vectors[vocabulary.sources[row]]
    if width < dim:
        matrix[has_vector, width:] = draw(np.count_nonzero(has_vector), dim - width)
    return matrix
