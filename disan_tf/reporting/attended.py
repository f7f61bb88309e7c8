"""The files that `attend` writes of each line, read back."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

WEIGHT_VECTORS = "weight_vectors"


class Sentence(NamedTuple):
    """One sentence of a line.

    Attributes:
      tokens: its words.
      tensors: what its encoder looked at, by the names of `encoder.attend`.
      record: of the line.
    """

    tokens: list[str]
    tensors: dict[str, np.ndarray]
    record: dict

    def mean(self, name: str) -> np.ndarray:
        """Mean of a tensor over its features."""
        return self.tensors[name].mean(axis=-1, dtype=np.float64)


@dataclass(frozen=True)
class AttendedLine:
    """What a model looked at in a line.

    Attributes:
      path: of its JSON.
      record: the JSON.
      fields: ("sentence",), or the names of the sentences of a pair.
    """

    path: Path
    record: dict
    fields: tuple[str, ...]

    @property
    def number(self) -> int:
        """Of the input's line, from 1."""
        return int(self.path.stem)

    @property
    def tokens(self) -> list[list[str]]:
        """Of each field."""
        return [
            self.record["tokens" if len(self.fields) == 1 else f"{field}_tokens"]
            for field in self.fields
        ]

    @property
    def texts(self) -> list[str]:
        """Of each field: its text as it was given, or its tokens."""
        if len(self.fields) == 1:
            return [self.record["text"]]
        return [
            self.record.get(field, " ".join(tokens))
            for field, tokens in zip(self.fields, self.tokens)
        ]

    @property
    def answer(self) -> str:
        """The label, or the score with two digits."""
        return self.record["label"] if "label" in self.record else f"{self.record['score']:.2f}"

    def tensors(self) -> dict[str, np.ndarray]:
        """Name -> <float32>[token, feature] or [head, dependent, feature], read anew each time.

        Those of a few hundred long lines would fill the memory.
        """
        with np.load(self.path.with_suffix(".npz"), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays if not name.endswith(WEIGHT_VECTORS)}

    def sentences(self) -> list[Sentence]:
        """Each sentence of the line with its own tensors."""
        named = [{} for _ in self.fields]
        for name, tensor in self.tensors().items():
            named[self.field(name)][self.short(name)] = tensor
        return [Sentence(*pair, self.record) for pair in zip(self.tokens, named)]

    def mean(self, name: str) -> np.ndarray:
        """Mean over the features of a tensor."""
        return np.array(self.record[f"{name}_mean"])

    def field(self, name: str) -> int:
        """The number of the field to which a tensor belongs."""
        if len(self.fields) == 1:
            return 0
        return next(n for n, field in enumerate(self.fields) if name.startswith(f"{field}_"))

    def short(self, name: str) -> str:
        """The name of a tensor without its field."""
        return name if len(self.fields) == 1 else name[len(self.fields[self.field(name)]) + 1 :]

    def kind(self, name: str) -> str:
        """ "token", or whether heads attend to their "own" sentence or to the "other" one."""
        if len(self.record["axes"][name]) == 2:
            return "token"
        is_own = len(self.fields) == 1 or name.endswith("attention")
        return "own" if is_own else "other"  # of DRCN, <function>_<layer>


def read_lines(folder: Path) -> Iterator[AttendedLine]:
    """The lines of a folder that `attend` has written, in order."""
    for path in sorted(folder.glob("[0-9]*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        yield AttendedLine(path, record, _fields(record))


def _fields(record) -> tuple[str, ...]:
    if "tokens" in record:
        return ("sentence",)
    return tuple(name[: -len("_tokens")] for name in record if name.endswith("_tokens"))
