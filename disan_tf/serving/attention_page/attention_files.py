"""Readers of the files that `attend` writes for each line."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Optional

import numpy as np

WEIGHT_VECTORS = "weight_vectors"


class Sentence(NamedTuple):
    """A line's sentence: its words, its tensors by the names of `encoder.attend`, its record."""

    tokens: list[str]
    tensors: dict[str, np.ndarray]
    record: dict

    def mean(self, name: str) -> np.ndarray:
        """Returns a tensor's mean over its features."""
        return self.tensors[name].mean(axis=-1, dtype=np.float64)


@dataclass(frozen=True)
class LineAttention:
    """A model's attention in a line: the path and content of its JSON, and the sentences' names."""

    path: Path
    record: dict
    fields: tuple[str, ...]  # ("sentence",) if it is no pair

    @property
    def number(self) -> int:
        """The number of the input line, from 1."""
        return int(self.path.stem)

    @property
    def tokens(self) -> list[list[str]]:
        """The tokens of each field."""
        names = [f"{field}_tokens" for field in self.fields] if self.is_pair else ["tokens"]
        return [self.record[name] for name in names]

    @property
    def texts(self) -> list[str]:
        """The text of each field as in the input, or its tokens."""
        if not self.is_pair:
            return [self.record["text"]]
        pairs = zip(self.fields, self.tokens)
        return [self.record.get(field, " ".join(tokens)) for field, tokens in pairs]

    @property
    def prediction(self) -> str:
        """The predicted label, or the predicted score with two digits."""
        return f"{self._predicted('score'):.2f}" if self.is_score else self._predicted("label")

    @property
    def probabilities(self) -> dict[str, float]:
        """The probabilities of the classes or of the scale's points."""
        return self._predicted("probabilities")

    @property
    def gold(self) -> Optional[str]:
        """The gold label, if the line has one of the model's classes."""
        name = "label" if "predicted_label" in self.record else "gold_label"
        label = self.record.get(name)
        return label if label in list(self.probabilities) else None

    @property
    def is_score(self) -> bool:
        """The kind of the prediction: True for a score, False for a class."""
        return self._predicted("label") not in list(self.probabilities)

    @property
    def is_pair(self) -> bool:
        """The kind of the line: True for a pair of sentences."""
        return len(self.fields) > 1

    def _predicted(self, name: str):
        """Returns a field of the prediction, named predicted_<name> if the input has a <name>."""
        return self.record.get(f"predicted_{name}", self.record.get(name))

    def tensors(self) -> dict[str, np.ndarray]:
        """Reads name -> <float32>[token, feature] or [head, dependent, feature].

        They are not kept: the tensors of a few hundred long lines would fill the memory.
        """
        with np.load(self.path.with_suffix(".npz"), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays if not name.endswith(WEIGHT_VECTORS)}

    def sentences(self) -> list[Sentence]:
        """Returns the line's sentences, each with its own tensors."""
        named = [{} for _ in self.fields]
        for name, tensor in self.tensors().items():
            named[self.field(name)][self.short(name)] = tensor
        return [Sentence(*pair, self.record) for pair in zip(self.tokens, named)]

    def mean(self, name: str) -> np.ndarray:
        """Returns a tensor's mean over its features."""
        return np.array(self.record[f"{name}_mean"])

    def field(self, name: str) -> int:
        """Returns the index of the field to which a tensor belongs."""
        owners = [name.startswith(f"{field}_") for field in self.fields]
        return owners.index(True) if self.is_pair else 0

    def short(self, name: str) -> str:
        """Returns a tensor's name without its field."""
        return name[len(self.fields[self.field(name)]) + 1 :] if self.is_pair else name

    def kind(self, name: str) -> str:
        """Returns "token", or "own" or "other", the sentence to which heads attend."""
        if len(self.record["axes"][name]) == 2:
            return "token"
        is_own = not self.is_pair or name.endswith("attention")
        return "own" if is_own else "other"  # DRCN's <function>_<layer>


def read_lines(folder: Path) -> Iterator[LineAttention]:
    """Yields the lines that `attend` has written into a folder, in order."""
    for path in sorted(folder.glob("[0-9]*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        pair = tuple(name[: -len("_tokens")] for name in record if name.endswith("_tokens"))
        yield LineAttention(path, record, ("sentence",) if "tokens" in record else pair)
