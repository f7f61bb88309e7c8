"""The two official layouts of the Stanford Sentiment Treebank, read into labelled trees.

The nodes of a tree are numbered from 1: leaves from left to right, then inner nodes (in PTB files
children before their parents; in the original layout as STree.txt numbers them).
"""

import bisect
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from data_prep.corpora.official_files import absent
from disan_tf.errors import UserError
from disan_tf.files import read_lines

SPLITS = ("train", "dev", "test")
TREES = "sst/trees"
ARCHIVES = ("sst/trainDevTestTrees_PTB.zip", "archives/trainDevTestTrees_PTB.zip")
ORIGINALS = ("sst/stanfordSentimentTreebank", "stanfordSentimentTreebank")
ORIGINAL_NAMES = ("SOStr", "STree", "dictionary", "sentiment_labels", "datasetSplit")
SPLIT_NUMBERS = {"1": "train", "2": "test", "3": "dev"}
BINS = (0.2, 0.4, 0.6, 0.8)  # closed above, from the README.txt of the original layout
RESTORE = "restore the official file with python -m data_prep.download sst"

# Tokens may hold a no-break space ("2<U+00A0>1\/2"), so only ASCII white space separates.
_PIECES = re.compile(r"[()]|[^() \t\r\f\v]+")


class Node(NamedTuple):
    """A tree node.

    Attributes:
      example_id: of the example that it makes.
      tokens: its leaves.
      label: 0 to 4.
      is_sentence: whether it is the root.
      sentence: the leaves of the root.
      start: how many of them stand before its own.
    """

    example_id: str
    tokens: tuple[str, ...]
    label: int
    is_sentence: bool
    sentence: tuple[str, ...]
    start: int


Trees = dict[str, list[list[Node]]]


def read_trees(data_dir: Path) -> tuple[Trees, list[Path]]:
    """Trees by split, and the files read, from the first layout found below `data_dir`.

    Raises:
      UserError: no layout is there, or a file is malformed.
    """
    files = {split: data_dir / TREES / f"{split}.txt" for split in SPLITS}
    if all(path.is_file() for path in files.values()):
        trees = {split: ptb_trees(read_lines(path), split, path) for split, path in files.items()}
        return trees, list(files.values())
    for archive in (data_dir / name for name in ARCHIVES):
        if archive.is_file():
            return read_archive(archive), [archive]
    for folder in (data_dir / name for name in ORIGINALS):
        if folder.is_dir():
            return read_original(folder), _original_files(folder)
    places = (f"{TREES}/{{train,dev,test}}.txt", *ARCHIVES, *ORIGINALS)
    raise absent(data_dir, "SST", f"looked for {', '.join(places)}")


def read_archive(path: Path) -> Trees:
    """Reads `trees/{train,dev,test}.txt` inside `trainDevTestTrees_PTB.zip`."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = {split: f"trees/{split}.txt" for split in SPLITS}
            return {
                split: ptb_trees(_member_lines(archive, name, path), split, path / name)
                for split, name in members.items()
            }
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError) as error:
        raise UserError(f"{path} is not the official archive ({error}); {RESTORE}.") from None


def _member_lines(archive: zipfile.ZipFile, member: str, path: Path) -> Iterator[tuple[int, str]]:
    with archive.open(member) as file:
        for number, line in enumerate(file, start=1):
            try:
                yield number, line.rstrip(b"\r\n").decode("utf-8")
            except UnicodeDecodeError as error:
                byte = f"byte 0x{line[error.start]:02x} at column {error.start + 1} is not UTF-8"
                raise _malformed(path / member, number, byte) from None


def ptb_trees(lines: Iterable[tuple[int, str]], split: str, path: Path) -> list[list[Node]]:
    """Parses one tree a line, e.g. `(3 (2 not) (1 bad))`; blank lines are skipped."""
    trees = []
    for number, text in lines:
        if not text.strip():
            continue
        try:
            trees.append(_ptb_nodes(text, f"{split}-{number}"))
        except ValueError as error:
            raise _malformed(path, number, str(error)) from None
    if not trees:
        raise UserError(f"{path} holds no tree; {RESTORE}.")
    return trees


def _ptb_nodes(text: str, name: str) -> list[Node]:
    """The nodes of one bracketed tree. Raises ValueError with what is wrong."""
    words, leaves, inner = [], [], []  # spans are (label, first word, end)
    stack = []  # open nodes: [label, first word, has a word, has children]
    pieces = iter(_PIECES.findall(text))
    for piece in pieces:
        if piece == "(":
            _open_node(stack, words, next(pieces, ""))
        elif not stack:
            raise ValueError(f"the tree is not balanced, {piece!r} stands outside of it")
        elif piece == ")":
            label, start, has_word, has_children = stack.pop()
            if not has_word and not has_children:
                raise ValueError("a node has neither a word nor children")
            (leaves if has_word else inner).append((label, start, len(words)))
        else:
            if stack[-1][2] or stack[-1][3]:
                raise ValueError(f"{piece!r} stands beside another word or a child of its node")
            stack[-1][2] = True
            words.append(piece)
    if stack:
        raise ValueError(f"the tree is cut off, {len(stack)} parentheses are still open")
    spans = [(label, tuple(words[start:end]), start) for label, start, end in leaves + inner]
    return _nodes(name, spans, root=len(spans))


def _open_node(stack: list[list], words: list[str], label: str) -> None:
    if not stack and words:
        raise ValueError("a second tree follows the first")
    if label not in ("0", "1", "2", "3", "4"):
        raise ValueError(f"label {label!r} is not one of 0 to 4")
    if stack:
        if stack[-1][2]:
            raise ValueError("a node has both a word and children")
        stack[-1][3] = True
    stack.append([int(label), len(words), False, False])


def _nodes(name: str, spans: list[tuple[int, tuple[str, ...], int]], root: int) -> list[Node]:
    """Nodes in their order; the root (counted from 1) is named `name`, node k `name.k`."""
    sentence = spans[root - 1][1]
    return [
        Node(name if k == root else f"{name}.{k}", tokens, label, k == root, sentence, start)
        for k, (label, tokens, start) in enumerate(spans, start=1)
    ]


def _original_files(folder: Path) -> list[Path]:
    return [folder / f"{name}.txt" for name in ORIGINAL_NAMES]


def read_original(folder: Path) -> Trees:
    """Reads `stanfordSentimentTreebank/`: parent pointers, and a sentiment for every phrase.

    A node's label is the bin of its phrase's sentiment. Of dev and test trees only the root is
    looked up and returned.
    """
    sentences, parents, dictionary, values, split_file = _original_files(folder)
    labels = _phrase_labels(dictionary, values)
    splits = _split_names(split_file)
    texts, pointer_rows = list(read_lines(sentences)), list(read_lines(parents))
    if not len(texts) == len(pointer_rows) == len(splits):
        raise UserError(
            f"{sentences} has {len(texts):,} rows, {parents.name} {len(pointer_rows):,} and "
            f"{split_file.name} {len(splits):,} sentences, which should be equal; {RESTORE}."
        )
    trees = {split: [] for split in SPLITS}
    for split, (number, text), (_, pointers) in zip(splits, texts, pointer_rows):
        try:
            phrases, starts, root = _pointer_phrases(text.split("|"), pointers.split("|"))
        except ValueError as error:
            raise _malformed(parents, number, str(error)) from None
        if split != "train":
            phrases, starts, root = phrases[root - 1 : root], [0], 1
        try:
            labeled = [labels[" ".join(phrase)] for phrase in phrases]
        except KeyError as error:
            raise _malformed(sentences, number, f"{error} is not in {dictionary.name}") from None
        spans = list(zip(labeled, phrases, starts))
        trees[split].append(_nodes(f"{split}-{number}", spans, root))
    return trees


def _pointer_phrases(
    words: list[str], pointers: list[str]
) -> tuple[list[tuple[str, ...]], list[int], int]:
    """The words below each node, the first one's place, the root's number. Raises ValueError."""
    parents = [int(pointer) if pointer.isdigit() else -1 for pointer in pointers]
    if parents.count(0) != 1 or not 0 <= min(parents) <= max(parents) <= len(parents):
        raise ValueError("the parent pointers do not form one tree")
    below, starts = [[] for _ in parents], [len(words)] * len(parents)
    for leaf, word in enumerate(words, start=1):
        node, steps = leaf, 0
        while 0 < node <= len(parents) and steps <= len(parents):  # a cycle would go on
            below[node - 1].append(word)
            starts[node - 1] = min(starts[node - 1], leaf - 1)
            node, steps = parents[node - 1], steps + 1
        if node:
            raise ValueError(f"the parent pointers of word {leaf} do not lead to the root")
    if not all(below) or any(0 < parent <= len(words) for parent in parents):
        raise ValueError(f"the parent pointers do not fit the {len(words)} words of the sentence")
    return [tuple(phrase) for phrase in below], starts, parents.index(0) + 1


def _phrase_labels(dictionary: Path, values: Path) -> dict[str, int]:
    """Label 0-4 of every phrase of the dictionary."""
    by_id = {}
    for number, phrase_id, value in _pairs(values, "|", header=True):
        try:
            sentiment = float(value)
        except ValueError:
            sentiment = -1.0
        if not 0 <= sentiment <= 1:
            raise _malformed(values, number, f"sentiment {value!r} is not a number from 0 to 1")
        by_id[phrase_id] = bisect.bisect_left(BINS, sentiment)
    labels = {}
    for number, phrase, phrase_id in _pairs(dictionary, "|"):
        if phrase_id not in by_id:
            raise _malformed(dictionary, number, f"id {phrase_id!r} is not in {values.name}")
        labels[phrase] = by_id[phrase_id]
    return labels


def _split_names(path: Path) -> list[str]:
    """Split name of each sentence, in the order of their indices 1, 2, ..."""
    names = []
    for number, index, split in _pairs(path, ",", header=True):
        if index != str(number - 1) or split not in SPLIT_NUMBERS:
            raise _malformed(path, number, f"expected {number - 1},<1, 2 or 3>")
        names.append(SPLIT_NUMBERS[split])
    return names


def _pairs(path: Path, separator: str, header: bool = False) -> Iterator[tuple[int, str, str]]:
    """Yields line number and the two sides of the last `separator` of each row."""
    number = 0
    for number, text in read_lines(path):
        left, found, right = text.rpartition(separator)
        if not found:
            raise _malformed(path, number, f"expected two fields separated by {separator!r}")
        if number > 1 or not header:
            yield number, left, right
    if number <= int(header):
        raise UserError(f"{path} is empty; {RESTORE}.")


def _malformed(path: Path, number: int, what: str) -> UserError:
    return UserError(f"{path}, line {number}: {what}; {RESTORE}.")
