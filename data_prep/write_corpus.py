"""The splits of a corpus as arrays, in memory and in files."""

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Optional

import numpy as np

from data_prep.corpora import Corpus
from disan_tf.text.lookup import UNKNOWN_ID


class Sentences(NamedTuple):
    """One field of a split: sentence k is `numbers[offsets[k]:offsets[k + 1]]`.

    Attributes:
      numbers: `<int32>[tokens]`, indices of `TokenIndex.tokens`.
      offsets: `<int64>[sentences + 1]`.
    """

    numbers: np.ndarray
    offsets: np.ndarray


class TokenIndex(NamedTuple):
    """The sentences of a corpus, with a number for each distinct token.

    Attributes:
      tokens: distinct tokens by first appearance, those of the training split first.
      training_counts: `<int64>[training tokens]`, how often the training split has each of them.
      sentences: by split and field.
    """

    tokens: list[str]
    training_counts: np.ndarray
    sentences: dict[tuple[str, str], Sentences]


def index_tokens(corpus: Corpus) -> TokenIndex:
    """Numbers the tokens of a corpus, those of contexts last, and looks them up."""
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
    folder: Path, split: str, corpus: Corpus, index: TokenIndex, token_ids: np.ndarray,
    flags: Optional[Mapping[tuple[str, str], np.ndarray]] = None, spelt: bool = False,
) -> dict:  # fmt: skip
    """Writes the arrays of one split; an empty sentence becomes one unknown word.

    Args:
      token_ids: `<int32>[tokens]`, the word id of each token of `index`.
      flags: by split and field, `<uint8>[tokens]`, see `data_prep.word_features`; None writes none.
      spelt: whether the rows of `spellings` are written; with flags they always are.

    Returns:
      What the manifest tells about the split.
    """
    examples, total = corpus.splits[split], 0
    for field in corpus.fields:
        numbers, offsets = index.sentences[split, field]
        lengths = np.diff(offsets)
        empty = offsets[:-1][lengths == 0]
        ids = np.insert(token_ids[numbers], empty, UNKNOWN_ID)
        save(folder, f"{split}.{field}.ids", ids)
        ends = np.cumsum(np.maximum(lengths, 1))
        save(folder, f"{split}.{field}.offsets", np.insert(ends, 0, 0))
        if spelt or flags is not None:
            save(folder, f"{split}.{field}.spelling", np.insert(numbers + 1, empty, 0))
        if flags is not None:
            save(folder, f"{split}.{field}.match", np.insert(flags[split, field], empty, 0))
        total += len(ids)
    if spelt and any(each.context for each in examples):
        _write_contexts(folder, split, examples, index)
    labels = np.array([each.label for each in examples], np.float32 if corpus.scores else np.int32)
    save(folder, f"{split}.label", labels)
    save(folder, f"{split}.example_id", np.array([each.example_id.encode() for each in examples]))
    if corpus.genres:
        save(folder, f"{split}.genre", np.array([each.genre.encode() for each in examples]))
    return {"examples": len(examples), "tokens": total, "labeled": True}


def _write_contexts(folder, split, examples, index) -> None:
    """The distinct sentences that hold the examples of a split, and where each example stands."""
    contexts = {context: k for k, context in enumerate(dict.fromkeys(e.context for e in examples))}
    numbers = {token: number for number, token in enumerate(index.tokens)}
    spelling, offsets = _look_up(list(contexts), numbers)
    save(folder, f"{split}.contexts.spelling", spelling + 1)
    save(folder, f"{split}.contexts.offsets", offsets)
    places = [(contexts[each.context], each.start) for each in examples]
    save(folder, f"{split}.contexts.places", np.array(places, np.int32))


def save(folder: Path, name: str, array: np.ndarray) -> None:
    """Writes `<folder>/<name>.npy`."""
    np.save(folder / f"{name}.npy", array, allow_pickle=False)
