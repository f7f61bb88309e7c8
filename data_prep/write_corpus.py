"""A corpus' splits as arrays of numbers, in memory and in files."""

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Optional

import numpy as np

from data_prep.corpora import Corpus
from disan_tf.common.atomic import write_array
from disan_tf.input_pipeline.corpus_format import CONTEXT_PARTS, array_file
from disan_tf.text.lookup import UNKNOWN_ID


class Sentences(NamedTuple):
    """A split's field: sentence k is `numbers[offsets[k]:offsets[k + 1]]`.

    Attributes:
      numbers: `<int32>[tokens]`, indices of `TokenIndex.tokens`.
      offsets: `<int64>[sentences + 1]`.
    """

    numbers: np.ndarray
    offsets: np.ndarray


class TokenIndex(NamedTuple):
    """The sentences of a corpus, with a number for each distinct token.

    Attributes:
      tokens: distinct tokens by first appearance, the training split's tokens first.
      training_counts: `<int64>[training tokens]`, their frequencies in the training split.
      sentences: by split and field.
    """

    tokens: list[str]
    training_counts: np.ndarray
    sentences: dict[tuple[str, str], Sentences]


def index_tokens(corpus: Corpus) -> TokenIndex:
    """Numbers a corpus' tokens, the contexts' tokens last, and looks the sentences up."""
    numbers = dict.fromkeys(corpus.tokens("train"))
    training = len(numbers)
    for split in corpus.splits:
        if split != "train":
            numbers.update(dict.fromkeys(corpus.tokens(split)))
    for examples in corpus.splits.values():
        for context in dict.fromkeys(example.context for example in examples):
            numbers.update(dict.fromkeys(context))
    for number, token in enumerate(numbers):
        numbers[token] = number
    sentences = {
        (split, field): _look_up([example.sentences[k] for example in examples], numbers)
        for split, examples in corpus.splits.items()
        for k, field in enumerate(corpus.fields)
    }
    occurrences = np.concatenate([sentences["train", field].numbers for field in corpus.fields])
    return TokenIndex(list(numbers), np.bincount(occurrences, minlength=training), sentences)


def _look_up(sentences: Sequence[Sequence[str]], numbers: Mapping[str, int]) -> Sentences:
    offsets = np.cumsum([0, *map(len, sentences)], dtype=np.int64)
    tokens = chain.from_iterable(sentences)
    return Sentences(np.fromiter(map(numbers.get, tokens), np.int32, offsets[-1]), offsets)


def write_split(
    folder: Path,
    split: str,
    corpus: Corpus,
    index: TokenIndex,
    token_ids: np.ndarray,
    flags: Optional[Mapping[tuple[str, str], np.ndarray]],
    has_spellings: bool,
) -> dict:
    """Writes the arrays of one split, see `disan_tf.input_pipeline.corpus_format`.

    An empty sentence becomes one unknown word.

    Args:
      token_ids: `<int32>[tokens]`, the word id of each token of `index`.
      flags: by split and field, `<uint8>[tokens]`, see `data_prep.word_features`; None writes none.
      has_spellings: whether to write rows of `spellings`; with flags they are always written.

    Returns:
      The split's entry for the manifest.
    """
    examples, tokens, contexts = corpus.splits[split], 0, 0
    for field in corpus.fields:
        numbers, offsets = index.sentences[split, field]
        lengths = np.diff(offsets)
        empty = offsets[:-1][lengths == 0]  # positions of the unknown words
        ids = np.insert(token_ids[numbers], empty, UNKNOWN_ID)
        save(folder, f"{split}.{field}.ids", ids)
        ends = np.cumsum(np.maximum(lengths, 1))
        save(folder, f"{split}.{field}.offsets", np.insert(ends, 0, 0))
        if has_spellings or flags is not None:
            save(folder, f"{split}.{field}.spelling", np.insert(numbers + 1, empty, 0))
        if flags is not None:
            save(folder, f"{split}.{field}.match", np.insert(flags[split, field], empty, 0))
        tokens += len(ids)
    if has_spellings and any(example.context for example in examples):
        contexts = _write_contexts(folder, split, examples, index)
    labels = _write_labels(folder, split, corpus)
    classes = 0 if corpus.scores else len(corpus.classes)
    return {
        "examples": len(examples),
        "class_counts": np.bincount(labels, minlength=classes).tolist() if classes else [],
        "tokens": tokens,
        "contexts": contexts,
    }


def _write_labels(folder: Path, split: str, corpus: Corpus) -> np.ndarray:
    """Writes the examples' labels, ids and, where there are any, genres.

    Returns:
      The labels, `<int32>[examples]`, or `<float32>` scores.
    """
    labels, example_ids, genres = zip(
        *((e.label, e.example_id.encode(), e.genre.encode()) for e in corpus.splits[split])
    )
    labels = np.array(labels, np.float32 if corpus.scores else np.int32)
    save(folder, f"{split}.label", labels)
    save(folder, f"{split}.example_id", np.array(example_ids))
    if corpus.genres:
        save(folder, f"{split}.genre", np.array(genres))
    return labels


def _write_contexts(folder, split, examples, index) -> int:
    """Writes the distinct sentences around a split's phrases, and the phrases' positions there.

    Returns:
      The number of sentences.
    """
    contexts = dict.fromkeys(example.context for example in examples)
    for number, context in enumerate(contexts):
        contexts[context] = number
    numbers = {token: number for number, token in enumerate(index.tokens)}
    spelling, offsets = _look_up(list(contexts), numbers)
    places = [(contexts[example.context], example.start) for example in examples]
    arrays = spelling + 1, offsets, np.array(places, np.int32)
    for part, array in zip(CONTEXT_PARTS, arrays):
        save(folder, f"{split}.contexts.{part}", array)
    return len(contexts)


def save(folder: Path, name: str, array: np.ndarray) -> None:
    """Writes the array called `name`."""
    write_array(array_file(folder, name), array)
