"""The Stanford Sentiment Treebank's original layout, `stanfordSentimentTreebank/`.

SOStr.txt holds the words of each sentence. STree.txt holds the parent of each node in its tree
(leaves from left to right, then inner nodes by that file's numbers). dictionary.txt and
sentiment_labels.txt hold a sentiment for every phrase.
"""

import bisect
from collections.abc import Iterator
from pathlib import Path

from data_prep.corpora.sst_trees import RESTORE, Trees, check_size, make_nodes, malformed
from disan_tf.common.errors import UserError
from disan_tf.common.files import read_lines
from disan_tf.text.tokenizer_rules import BRACKETS

_ESCAPES = {sign: escape for escape, sign in BRACKETS.items()}  # as in the trees of other layouts

NAMES = ("SOStr", "STree", "dictionary", "sentiment_labels", "datasetSplit")
SPLIT_NUMBERS = {"1": "train", "2": "test", "3": "dev"}
BINS = (0.2, 0.4, 0.6, 0.8)  # closed above, from this layout's README.txt


def read_trees(
    sentences: Path, parents: Path, dictionary: Path, values: Path, split_file: Path
) -> Trees:
    """Reads trees by split: all nodes of training trees, the roots of dev and test trees.

    The arguments are the files of `NAMES`. A node's label is the bin of its phrase's sentiment.

    Raises:
      UserError: a file is missing or malformed, or the files disagree.
    """
    labels = _phrase_labels(dictionary, values)
    splits = _split_names(split_file)
    texts, pointer_rows = list(read_lines(sentences)), list(read_lines(parents))
    if not len(texts) == len(pointer_rows) == len(splits):
        raise UserError(
            f"{sentences} has {len(texts):,} rows, {parents.name} {len(pointer_rows):,} and "
            f"{split_file.name} {len(splits):,} sentences, which should be equal; {RESTORE}."
        )
    trees: Trees = {split: [] for split in SPLIT_NUMBERS.values()}
    for split, (number, text), (_, pointers) in zip(splits, texts, pointer_rows):
        try:
            phrases, starts, root = _pointer_phrases(text.split("|"), pointers.split("|"))
        except ValueError as error:
            raise malformed(parents, number, str(error)) from None
        if split != "train":
            phrases, starts, root = phrases[root - 1 : root], [0], 1
        try:
            labeled = [labels[" ".join(phrase)] for phrase in phrases]
        except KeyError as error:
            raise malformed(sentences, number, f"{error} is not in {dictionary.name}") from None
        escaped = [tuple(_ESCAPES.get(word, word) for word in phrase) for phrase in phrases]
        spans = list(zip(labeled, escaped, starts))
        trees[split].append(make_nodes(f"{split}-{number}", spans, root))
    return trees


def _pointer_phrases(
    words: list[str], pointers: list[str]
) -> tuple[list[tuple[str, ...]], list[int], int]:
    """Returns for each node its words and the first word's position, and the root's number.

    Raises:
      ValueError: the pointers are wrong; the message says how.
    """
    parents = [int(pointer) if pointer.isdigit() else -1 for pointer in pointers]
    if parents.count(0) != 1 or not 0 <= min(parents) <= max(parents) <= len(parents):
        raise ValueError("the parent pointers do not form one tree")
    check_size(0, len(words))
    below, starts = [[] for _ in parents], [len(words)] * len(parents)
    for leaf, word in enumerate(words, start=1):
        node, steps = leaf, 0
        while 0 < node <= len(parents) and steps <= len(parents):  # a cycle would never end
            below[node - 1].append(word)
            starts[node - 1] = min(starts[node - 1], leaf - 1)
            node, steps = parents[node - 1], steps + 1
            check_size(steps, len(words))
        if node:
            raise ValueError(f"the parent pointers of word {leaf} do not lead to the root")
    if not all(below) or any(0 < parent <= len(words) for parent in parents):
        raise ValueError(f"the parent pointers do not fit the {len(words)} words of the sentence")
    return [tuple(phrase) for phrase in below], starts, parents.index(0) + 1


def _phrase_labels(dictionary: Path, values: Path) -> dict[str, int]:
    """Reads label 0-4 for every phrase in the dictionary."""
    by_id = {}
    for number, phrase_id, value in _pairs(values, "|", header=True):
        try:
            sentiment = float(value)
        except ValueError:
            sentiment = -1.0
        if not 0 <= sentiment <= 1:
            raise malformed(values, number, f"sentiment {value!r} is not a number from 0 to 1")
        by_id[phrase_id] = bisect.bisect_left(BINS, sentiment)
    labels = {}
    for number, phrase, phrase_id in _pairs(dictionary, "|"):
        if phrase_id not in by_id:
            raise malformed(dictionary, number, f"id {phrase_id!r} is not in {values.name}")
        labels[phrase] = by_id[phrase_id]
    return labels


def _split_names(path: Path) -> list[str]:
    """Reads each sentence's split name, in the order of indices 1, 2, ..."""
    names = []
    for number, index, split in _pairs(path, ",", header=True):
        if index != str(number - 1) or split not in SPLIT_NUMBERS:
            raise malformed(path, number, f"expected {number - 1},<1, 2 or 3>")
        names.append(SPLIT_NUMBERS[split])
    return names


def _pairs(path: Path, separator: str, header: bool = False) -> Iterator[tuple[int, str, str]]:
    """Yields line number and the two sides of the last `separator` of each row."""
    number = 0
    for number, text in read_lines(path):
        left, middle, right = text.rpartition(separator)
        if not middle:
            raise malformed(path, number, f"expected two fields separated by {separator!r}")
        if number > 1 or not header:
            yield number, left, right
    if number <= int(header):
        raise UserError(f"{path} is empty; {RESTORE}.")
