"""SentEval's transfer tasks on our corpora, divided as in its protocol.

Conneau and Kiela 2018, *SentEval: An Evaluation Toolkit for Universal Sentence Representations*.
CR, MPQA and SUBJ are not divided; TREC has train and test, SST-2 (whose training part includes
phrases) and SICK train, dev and test. SentEval's SST-2 file has some 67,000 training phrases; here
the training phrases are all distinct phrases that are not neutral, 77,616 in the whole treebank.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from ml_collections import ConfigDict

from data_prep import vocabulary as vocabularies
from data_prep.corpora import READERS, Corpus, subsets
from data_prep.corpora.sick import JUDGMENTS, read_judgments
from data_prep.prepare import fingerprint
from disan_tf.common.errors import UserError
from disan_tf.common.options import check_choice
from disan_tf.text import word_vectors

FEWEST = 12  # examples per class: ten folds within nine of ten folds need one in every part


class TransferTask(NamedTuple):
    """Sentences or sentence pairs, and the labels that a classifier predicts from their vectors.

    Attributes:
      name: a key of `SOURCES`.
      texts: split -> the texts of each example, tokens separated by blanks.
      labels: split -> classes <int64>[examples], or scores <float64>[examples] from 1 to 5.
      inputs: path below the corpora's folder -> "sha256" and "bytes" of each file.
      warnings: sentences for the user, see `Corpus`.
    """

    name: str
    texts: dict[str, list[tuple[str, ...]]]
    labels: dict[str, np.ndarray]
    inputs: dict[str, dict]
    warnings: list[str]


class Source(NamedTuple):
    """The source of a task.

    Attributes:
      options: options of the corpus' reader.
      splits: the task's split -> the corpus' splits that it joins.
    """

    options: Mapping
    splits: Mapping[str, Sequence[str]]


_DIVIDED = {"train": ["train"], "dev": ["dev"], "test": ["test"]}
_HELD_OUT = {"tokenizer": "whitespace", "dev_share": 0.1, "split_seed": 1}  # and put back
_SICK = Source({"corpus": "sick", "tokenizer": "treebank"}, _DIVIDED)
_PHRASES = {
    "level": "phrase",
    "repetitions": False,
    "rebalance": False,
    "tokenizer": "whitespace",
}


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
      data_dir: the corpora's folder, see `data_prep.corpora`.
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
    """Reads the vectors that a vector file has for words.

    Args:
      data_dir: the folder that holds the file.
      options: `vectors`, the name of the file, `embedding_dim` and, where vectors are padded,
        `vector_dim`; see `data_prep.write_vocabulary`.
      words: words as they are looked up.

    Returns:
      The words with a vector, their vectors <float32>[words, dim], and the file as in
      `TransferTask.inputs`.

    Raises:
      UserError: the file is missing, malformed or of another dimension, or has none of the words.
    """
    path, words = word_vectors.find(Path(data_dir), options.vectors), list(words)
    wanted = vocabularies.all_variants(words)
    if options.get("vector_words"):
        wanted &= subsets.read_words(subsets.find_words(data_dir, options.vector_words))
    dim = word_vectors.dimension(options)
    vectors = word_vectors.read(path, dim, wanted.__contains__).by_word
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
    """Replaces the scores by the judgments of entailment."""
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
    """Returns the records of input files, see `TransferTask.inputs`."""
    files = {path.relative_to(data_dir).as_posix(): fingerprint(path) for path in paths}
    return {name: {key: file[key] for key in ("sha256", "bytes")} for name, file in files.items()}
