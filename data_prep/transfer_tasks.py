"""The transfer tasks of SentEval that our corpora have, with the divisions of its protocol.

Conneau and Kiela 2018, *SentEval: An Evaluation Toolkit for Universal Sentence Representations*.
CR, MPQA and SUBJ are not divided; TREC has train and test, SST-2 (whose training part has the
phrases of the trees too) and SICK train, dev and test. SentEval's file of SST-2 has some 67,000
training phrases; here they are all that differ and are not neutral, 77,616 of the whole treebank.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from ml_collections import ConfigDict

from data_prep import vocabulary as vocabularies
from data_prep import word_vectors
from data_prep.corpora import READERS, Corpus
from data_prep.corpora.sick import JUDGMENTS, read_judgments
from data_prep.reuse import fingerprint
from disan_tf.common.errors import UserError
from disan_tf.common.options import check_choice

FEWEST = 12  # examples of a class: one for each part of ten folds within the rest of ten folds


class TransferTask(NamedTuple):
    """Sentences, or pairs of them, and what a classifier shall tell by their vectors.

    Attributes:
      name: a key of `SOURCES`.
      texts: split -> the texts of each example, their tokens with blanks between them.
      labels: split -> classes <int64>[examples], or scores <float64>[examples] from 1 to 5.
      inputs: path below the folder of the corpora -> "sha256" and "bytes" of each file.
      warnings: sentences for the user, see `Corpus`.
    """

    name: str
    texts: dict[str, list[tuple[str, ...]]]
    labels: dict[str, np.ndarray]
    inputs: dict[str, dict]
    warnings: list[str]


class Source(NamedTuple):
    """Where a task comes from.

    Attributes:
      options: of the reader of its corpus.
      splits: split of the task -> the splits of the corpus of which it is made.
    """

    options: Mapping
    splits: Mapping[str, Sequence[str]]


_DIVIDED = {"train": ["train"], "dev": ["dev"], "test": ["test"]}
_HELD_OUT = {"tokenizer": "whitespace", "dev_share": 0.1, "split_seed": 1}  # and put back
_SICK = Source({"corpus": "sick", "tokenizer": "treebank"}, _DIVIDED)
_PHRASES = {"level": "phrase", "repetitions": False, "rebalance": False}


def _undivided(corpus: str) -> Source:
    options = {"corpus": corpus, "folds": 2, "fold": 0, **_HELD_OUT}
    return Source(options, {"all": ["train", "dev", "test"]})


SOURCES: Mapping[str, Source] = MappingProxyType(
    {
        **{corpus: _undivided(corpus) for corpus in ("cr", "mpqa", "subj")},
        "trec": Source(
            {"corpus": "trec", "classes": 6, **_HELD_OUT},
            {"train": ["train", "dev"], "test": ["test"]},
        ),
        "sst_2": Source({"corpus": "sst", "classes": 2, **_PHRASES}, _DIVIDED),
        "sick_entailment": _SICK,
        "sick_relatedness": _SICK,
    }
)


def read_tasks(data_dir: Path, names: Sequence[str] = ()) -> list[TransferTask]:
    """Reads tasks.

    Args:
      data_dir: folder of the corpora, see `data_prep.corpora`.
      names: keys of `SOURCES`; none = all.

    Raises:
      UserError: an unknown name, a missing or malformed file, or too few examples of a class.
    """
    for name in names:
        try:
            check_choice("--tasks", name, SOURCES)
        except ValueError as error:
            raise UserError(str(error)) from None
    return [_read_task(Path(data_dir), name) for name in names or SOURCES]


def read_vectors(
    data_dir: Path, options, words: Iterable[str]
) -> tuple[tuple[str, ...], np.ndarray, dict[str, dict]]:
    """The vectors that a vector file has for words.

    Args:
      data_dir: folder below which the file is.
      options: `vectors`, the name of the file, and `embedding_dim`.
      words: as they are looked up.

    Returns:
      The words that have one, their vectors <float32>[words, dim], and the file as in
      `TransferTask.inputs`.

    Raises:
      UserError: the file is missing, malformed or of another dimension, or has none of the words.
    """
    path, words = word_vectors.find(Path(data_dir), options.vectors), list(words)
    variants = set(chain.from_iterable(map(vocabularies.case_variants, words)))
    vectors = word_vectors.read(path, options.embedding_dim, variants.__contains__).by_word
    vocabulary = vocabularies.build((), words, vectors)
    if not vocabulary.words:
        raise UserError(f"{path} has no word of the tasks; restore the file.")
    matrix = vocabularies.embeddings(vocabulary, vectors, options.embedding_dim, "uniform", seed=0)
    return vocabulary.words, matrix, _describe([path], data_dir)


def _read_task(data_dir: Path, name: str) -> TransferTask:
    source = SOURCES[name]
    options = ConfigDict(source.options)
    corpus = READERS[options.corpus].read(data_dir, options)
    if name == "sick_entailment":
        _take_judgments(corpus, data_dir)
    texts, labels = {}, {}
    for split, parts in source.splits.items():
        examples = list(chain.from_iterable(corpus.splits[part] for part in parts))
        texts[split] = [tuple(map(" ".join, example.sentences)) for example in examples]
        labels[split] = np.array([example.label for example in examples])
    _check_classes(name, next(iter(labels.values())), corpus.classes)
    inputs = _describe(corpus.inputs, data_dir)
    return TransferTask(name, texts, labels, inputs, corpus.warnings)


def _take_judgments(corpus: Corpus, data_dir: Path) -> None:
    """Puts the judgments of entailment into the place of the scores."""
    for split, judgments in read_judgments(data_dir).items():
        pairs = zip(corpus.splits[split], judgments)
        corpus.splits[split] = [example._replace(label=label) for example, label in pairs]
    corpus.classes, corpus.scores = JUDGMENTS, False


def _check_classes(name: str, labels: np.ndarray, classes: Sequence[str]) -> None:
    """Raises UserError where a class has fewer than `FEWEST` examples; scores have no classes."""
    if labels.dtype.kind == "f":
        return
    for label, title in enumerate(classes):
        count = int(np.sum(labels == label))
        if count < FEWEST:
            raise UserError(
                f"the training part of {name} has {count} examples of {title}, and ten folds need "
                f"{FEWEST}; leave it out with --tasks, or restore the official files."
            )


def _describe(paths: Sequence[Path], data_dir: Path) -> dict[str, dict]:
    """What a result tells of the files that were read, see `TransferTask.inputs`."""
    files = {path.relative_to(data_dir).as_posix(): fingerprint(path) for path in paths}
    return {name: {key: file[key] for key in ("sha256", "bytes")} for name, file in files.items()}
