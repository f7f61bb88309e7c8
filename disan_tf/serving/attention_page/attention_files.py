"""Readers of the files that `attend` writes for each line."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Optional

import numpy as np

from disan_tf.common.errors import UserError
from disan_tf.serving.inference.attend import WEIGHT_VECTORS
from disan_tf.serving.inference.records import tokens_name


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
    """A model's attention in a line: the path and content of its JSON."""

    path: Path
    record: dict

    @property
    def number(self) -> int:
        """The number of the input line, from 1."""
        return int(self.path.stem)

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the sentences: ("sentence",) if it is no pair."""
        return tuple(self.record["field_names"]["sentences"])

    @property
    def tokens(self) -> list[list[str]]:
        """The tokens of each field."""
        return [self.record[tokens_name(field)] for field in self.fields]

    @property
    def texts(self) -> list[str]:
        """The text of each field as in the input, or its tokens."""
        return [self.record[name] for name in self.record["field_names"]["sentences"].values()]

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
        is_renamed = self._names.get("label", "label") != "label"
        label = self.record.get("label" if is_renamed else "gold_label")
        return label if label in list(self.probabilities) else None

    @property
    def is_score(self) -> bool:
        """The kind of the prediction: True for a score, False for a class."""
        return "score" in self._names

    @property
    def is_pair(self) -> bool:
        """The kind of the line: True for a pair of sentences."""
        return len(self.fields) > 1

    @property
    def _names(self) -> dict[str, str]:
        """The name in the record of each of the prediction's fields, such as "predicted_label"."""
        return self.record["field_names"]["prediction"]

    def _predicted(self, name: str):
        return self.record[self._names[name]]

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
    """Yields the lines that `attend` has written into a folder, in order.

    Raises:
      UserError: an earlier version wrote a file.
    """
    paths = (path for path in folder.glob("*.json") if path.stem.isdecimal())
    for path in sorted(paths, key=lambda path: int(path.stem)):
        record = json.loads(path.read_text(encoding="utf-8"))
        if "field_names" not in record:
            raise UserError(f"An earlier version wrote {path}; run attend again.")
        yield LineAttention(path, record)
