"""Simulates losses of power: replays recorded file operations on a disk that forgets.

The disk has a file's content after an `fsync` of the file, and names after an `fsync` of their
folder. It has new folders at once, because a writer need not sync their parents.
"""

import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Callable, NamedTuple, Union

Content = Union[bytes, dict]  # of a file, or of a folder: the nodes by name


class Operation(NamedTuple):
    """What `kill_at.c` records: a kind, two paths, a number and bytes."""

    kind: str
    path: str
    other: str = ""
    number: int = 0
    data: bytes = b""


@dataclass
class Node:
    """A file or a folder, as programs see it and as the disk has it."""

    content: Content
    synced: Content


_whole, _synced = attrgetter("content"), attrgetter("synced")


def _torn(node: Node) -> bytes:
    return node.content[: (len(node.content) + len(node.synced)) // 2]


LOSSES = {  # what is left of the names in a folder, and of a file's content
    "names and contents": (_synced, _synced),
    "names": (_synced, _whole),
    "contents": (_whole, _synced),
    "half of the contents": (_whole, _torn),
}


def read_trace(path: Path) -> Iterator[Operation]:
    """Yields the operations of a file that `kill_at.c` wrote."""
    with open(path, "rb") as file:
        for line in file:
            kind, one, other, number, size = line.decode().rstrip("\n").split("\t")
            operation = Operation(kind, one, other, int(number), file.read(int(size)))
            if not one.endswith(" (deleted)"):
                yield operation


class Disk:
    """The folder `root`, empty at first, after some operations."""

    def __init__(self, root: Path, operations: Iterable[Operation]):
        self._root, self._tree = Path(root), Node({}, {})
        self._moves = []  # old folder, name in it, new folder, node
        for operation in operations:
            getattr(self, f"_{operation.kind}", self._ignore)(operation)

    def restore(self, loss: str = "") -> None:
        """Writes the folder as it is after a loss of power, a key of `LOSSES`; "" = before it."""
        shutil.rmtree(self._root, ignore_errors=True)
        self._restore(self._root, self._tree, *LOSSES.get(loss, (_whole, _whole)))

    def _restore(self, path: Path, node: Node, names: Callable, data: Callable) -> None:
        if not isinstance(node.content, dict):
            path.write_bytes(data(node))
            return
        path.mkdir()
        for name, inner in names(node).items():
            self._restore(path / name, inner, names, data)

    def _find(self, path: str) -> Node:
        node = self._tree
        for name in Path(os.path.relpath(path, self._root)).parts:
            node = node.content[name]
        return node

    def _place(self, path: str) -> tuple[Node, str]:
        return self._find(os.path.dirname(path)), os.path.basename(path)

    def _ignore(self, _) -> None:
        """Does nothing, such as for permissions."""

    def _mkdir(self, it: Operation) -> None:
        folder, name = self._place(it.path)
        folder.content[name] = folder.synced[name] = Node({}, {})

    def _open(self, it: Operation) -> None:
        folder, name = self._place(it.path)
        node = folder.content.setdefault(name, Node(b"", b""))
        node.content = b"" if it.number else node.content

    def _write(self, it: Operation) -> None:
        node = self._find(it.path)
        start = node.content[: it.number].ljust(it.number, b"\0")
        node.content = start + it.data + node.content[it.number + len(it.data) :]

    def _truncate(self, it: Operation) -> None:
        node = self._find(it.path)
        node.content = node.content[: it.number].ljust(it.number, b"\0")

    def _fsync(self, it: Operation) -> None:
        node = self._find(it.path)
        node.synced = type(node.content)(node.content)
        for source, old, target, moved in self._moves:
            if target is node and source.synced.get(old) is moved:
                del source.synced[old]  # file systems move in one transaction

    def _rename(self, it: Operation) -> None:
        (source, old), (target, new) = self._place(it.path), self._place(it.other)
        target.content[new] = node = source.content.pop(old)
        self._moves.append((source, old, target, node))

    def _link(self, it: Operation) -> None:
        target, new = self._place(it.other)
        target.content[new] = self._find(it.path)

    def _remove(self, it: Operation) -> None:
        folder, name = self._place(it.path)
        del folder.content[name]
