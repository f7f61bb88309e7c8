"""Checks that a split's numbers are possible: quick passes over its arrays when it is opened.

Numbers out of range would train to the end, or fail inside TensorFlow.
"""

from collections.abc import Iterator

import numpy as np

from disan_tf.input_pipeline.corpus_format import CONTEXT_PARTS, SPELLINGS
from disan_tf.text.characters import ASCII_CHARACTERS, BYTE_CHARACTERS
from disan_tf.text.lookup import FIRST_WORD_ID, UNKNOWN_ID


def check_range(name: str, array: np.ndarray, low, high) -> None:
    """Raises ValueError unless the numbers of the array `name` lie in `low` to `high`."""
    least, most = array.min(initial=high), array.max(initial=low)
    if not (least >= low and most <= high):  # neither holds of NaN
        raise ValueError(f"{name}.npy holds numbers from {least} to {most}, not {low} to {high}")


def check_offsets(name: str, offsets: np.ndarray, tokens: int, shortest: int = 1) -> None:
    """Raises ValueError unless offsets divide `tokens` into sequences of `shortest` or more."""
    if not (len(offsets) and offsets[0] == 0 and offsets[-1] == tokens):
        raise ValueError(f"{name}.npy does not begin at 0 and end at {tokens}")
    if len(offsets) > 1 and np.diff(offsets).min() < shortest:
        raise ValueError(f"{name}.npy does not increase by at least {shortest} at each step")


def check_split(name: str, split, words: int, classes: list, genres: list) -> None:
    """Raises ValueError for impossible numbers in a `Split` whose arrays have the right lengths.

    Args:
      name, split: the split and its name.
      words: the number of words in the vocabulary.
      classes: the labels' names, or the points of the scale where labels are scores.
      genres: the corpus' genres, if it names any.
    """
    for field in split.fields:
        check_offsets(f"{name}.{field}.offsets", split.offsets[field], len(split.ids[field]))
    for array_name, array, low, high in _bounds(name, split, words, classes):
        check_range(array_name, array, low, high)
    layers = split.layers
    for number, (field, starts) in enumerate(layers.starts.items() if layers else ()):
        ends = starts + split.field_lengths[:, number]
        if starts.min(initial=0) < 0 or ends.max(initial=0) > len(layers.vectors):
            raise ValueError(f"{name}.{field}.starts.npy names tokens that have no layers")
    if split.genres is not None:
        known = {genre.encode() for genre in genres} | {b""}
        if sum(np.count_nonzero(split.genres == genre) for genre in known) < len(split):
            raise ValueError(f"{name}.genre.npy holds genres beside {', '.join(genres)}")


def check_contexts(name: str, contexts, lengths: np.ndarray, spellings: int) -> None:
    """Raises ValueError for impossible numbers in the `Contexts` of the split `name`.

    Args:
      contexts: see `disan_tf.input_pipeline.corpus`.
      lengths: <int64>[examples], the tokens of each phrase.
      spellings: the number of rows of `spellings`.
    """
    spelling, offsets, places = (f"{name}.contexts.{part}" for part in CONTEXT_PARTS)
    check_range(spelling, contexts.spelling, 0, spellings - 1)
    check_offsets(offsets, contexts.offsets, len(contexts.spelling), shortest=0)
    if contexts.places.shape != (len(lengths), 2):
        raise ValueError(f"{places}.npy has not a row of two numbers for each example")
    sentences, starts = contexts.places.T
    check_range(places, sentences, 0, len(contexts.offsets) - 2)
    available = np.diff(contexts.offsets)[sentences] - starts
    if starts.min(initial=0) < 0 or (available < lengths).any():
        raise ValueError(f"{places}.npy places phrases outside of their sentences")


def _bounds(name, split, words, classes) -> Iterator[tuple]:
    """Yields (name, array, least, most) for each numeric array of a split."""
    for field in split.fields:
        yield f"{name}.{field}.ids", split.ids[field], UNKNOWN_ID, FIRST_WORD_ID + words - 1
    is_score = np.issubdtype(split.labels.dtype, np.floating)
    ends = (float(classes[0]), float(classes[-1])) if is_score else (0, len(classes) - 1)
    yield f"{name}.label", split.labels, *ends
    if split.features is None:
        return
    spellings = split.features.spellings
    is_ascii = spellings.dtype == np.uint8
    yield SPELLINGS, spellings, 0, ASCII_CHARACTERS - 1 if is_ascii else BYTE_CHARACTERS
    for field, rows in split.features.spelling.items():
        yield f"{name}.{field}.spelling", rows, 0, len(spellings) - 1
    for field, flags in (split.features.match or {}).items():
        yield f"{name}.{field}.match", flags, 0, 1
