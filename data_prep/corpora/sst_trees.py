"""Nodes of sentiment trees, and trees in the bracketed form of the Penn Treebank."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from data_prep.corpora.official_files import restore
from disan_tf.common.errors import UserError

RESTORE = restore("sst")

# Each node holds the tokens below it, so memory grows with the product of these limits.
DEEPEST = 200  # levels of a tree
LONGEST = 10_000  # words of a sentence

# Tokens may hold a no-break space ("2<U+00A0>1\/2"), so only ASCII white space separates.
_PIECES = re.compile(r"[()]|[^() \t\r\f\v]+")


class Node(NamedTuple):
    """A tree node.

    Attributes:
      example_id: the id of its example.
      tokens: its leaves.
      label: 0 to 4.
      is_sentence: whether it is the root.
      sentence: the leaves of the root.
      start: the number of leaves of the root before its first leaf.
    """

    example_id: str
    tokens: tuple[str, ...]
    label: int
    is_sentence: bool
    sentence: tuple[str, ...]
    start: int


Trees = dict[str, list[list[Node]]]  # by split
Span = tuple[int, tuple[str, ...], int]  # label, tokens, start


def make_nodes(name: str, spans: Sequence[Span], root: int) -> list[Node]:
    """Makes nodes in order; the root (counted from 1) is named `name`, node k `name.k`."""
    sentence = spans[root - 1][1]
    return [
        Node(name if k == root else f"{name}.{k}", tokens, label, k == root, sentence, start)
        for k, (label, tokens, start) in enumerate(spans, start=1)
    ]


def parse_trees(lines: Iterable[tuple[int, str]], split: str, path: Path) -> list[list[Node]]:
    """Parses one tree a line, e.g. `(3 (2 not) (1 bad))`; blank lines are skipped.

    Leaves come first, from left to right, then inner nodes with children before their parents.

    Args:
      lines: line number and text.
      split: the prefix of node names.
      path: the file, for errors.

    Raises:
      UserError: a tree is malformed, or there is no tree.
    """
    trees = []
    for number, text in lines:
        if not text.strip():
            continue
        try:
            trees.append(_parse_tree(text, f"{split}-{number}"))
        except ValueError as error:
            raise malformed(path, number, str(error)) from None
    if not trees:
        raise UserError(f"{path} contains no tree; {RESTORE}.")
    return trees


def _parse_tree(text: str, name: str) -> list[Node]:
    """Returns a bracketed tree's nodes; raises ValueError with the reason."""
    words, leaves, inner = [], [], []  # spans are (label, first word, end)
    stack = []  # open nodes: [label, first word, has a word, has children]
    pieces = iter(_PIECES.findall(text))
    for piece in pieces:
        if piece == "(":
            _open_node(stack, words, next(pieces, ""))
        elif not stack:
            raise ValueError(f"the tree is not balanced, {piece!r} is outside of it")
        elif piece == ")":
            label, start, has_word, has_children = stack.pop()
            if not has_word and not has_children:
                raise ValueError("a node has neither a word nor children")
            (leaves if has_word else inner).append((label, start, len(words)))
        else:
            if stack[-1][2] or stack[-1][3]:
                raise ValueError(f"{piece!r} is beside another word or a child of its node")
            stack[-1][2] = True
            words.append(piece)
    if stack:
        raise ValueError(f"the tree is cut off, {len(stack)} parentheses are still open")
    spans = [(label, tuple(words[start:end]), start) for label, start, end in leaves + inner]
    return make_nodes(name, spans, root=len(spans))


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
    check_size(len(stack), len(words))


def check_size(depth: int, words: int) -> None:
    """Raises ValueError for a tree deeper or longer than a sentence can be."""
    if depth > DEEPEST:
        raise ValueError(f"the tree is more than {DEEPEST} nodes deep")
    if words > LONGEST:
        raise ValueError(f"the tree has more than {LONGEST:,} words")


def malformed(path: Path, number: int, what: str) -> UserError:
    """Returns the error for a line in one of the treebank's files."""
    return UserError(f"{path}, line {number}: {what}; {RESTORE}.")
