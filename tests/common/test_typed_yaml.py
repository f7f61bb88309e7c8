"""disan_tf/common/typed_yaml.py: entries of dataclasses, and damaged files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Optional, Union

import pytest

from disan_tf.common.errors import UserError
from disan_tf.common.typed_yaml import read_section

SECTIONS = ("paper", "tables", "claims")


@dataclass(frozen=True)
class Entry:
    text: str
    margin: float = 0.0
    seeds: int = 1
    is_ours: bool = False
    kind_of: Literal["a", "b"] = "a"
    note: Optional[str] = None
    models: tuple[str, ...] = ()
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    line: int = 0

    def __post_init__(self):
        if self.seeds < 1:
            raise ValueError("seeds must be above 0")


@dataclass(frozen=True)
class TwoRows:
    ours: str


@dataclass(frozen=True)
class Size:
    most: int


def _read(folder, text, kind=tuple[Entry, ...]):
    (folder / "disan.yaml").write_text(text, encoding="utf-8")
    return read_section(folder / "disan.yaml", "claims", SECTIONS, kind)


def test_an_entry_has_scalars_as_written_lists_mappings_and_its_line(tmp_path):
    text = """claims:
  - text: 51.70
    margin: .4
    is_ours: true
    kind_of: b
    note: null
    models: [.8695 (.0012), 2.0]
    where: {a.b: [1, false, "3"], c: 2.50}
  - {text: No}
"""
    first, second = _read(tmp_path, text)
    where = {"a.b": ("1", "false", "3"), "c": ("2.50",)}
    models = (".8695 (.0012)", "2.0")
    assert first == Entry("51.70", 0.4, 1, True, "b", None, models, where, line=2)
    assert second == Entry("No", line=9)


def test_a_union_is_told_by_its_kind(tmp_path):
    text = "claims:\n  - {kind: two_rows, ours: DiSAN}\n  - {kind: size, most: 3}\n"
    found = _read(tmp_path, text, tuple[Union[TwoRows, Size], ...])
    assert found == (TwoRows("DiSAN"), Size(3))


def test_a_section_that_a_file_lacks_is_empty(tmp_path):
    assert _read(tmp_path, "paper: DiSAN\n") == ()


@pytest.mark.parametrize(
    "text, error",
    [
        ("claims:\n  - {text: a, texts: b}", "line 2: claims has no key texts, did you mean text?"),
        ("claims:\n  - text: a\n    text: b", "line 3: the key text of claims is repeated"),
        ("claims:\n  - {margin: 1}", "line 2: claims lacks the key text"),
        ("claims:\n  - {text: a, seeds: .5}", "line 2: claims.seeds must be a whole number"),
        ("claims:\n  - {text: a, is_ours: ja}", "line 2: claims.is_ours must be true or false"),
        ("claims:\n  - {text: a, kind_of: c}", "line 2: claims.kind_of must be one of"),
        ("claims:\n  - {text: a, models: b}", "line 2: claims.models must be a list"),
        ("claims:\n  - {text: a, seeds: 0}", "line 2: claims: seeds must be above 0"),
        ("claims:\n  - {text: [a]}", "line 2: claims.text must be a text or a number"),
        ("claims:\n  - a", "line 2: claims must have keys and values"),
        ("claims: &a\n  - {text: a}\ntables: *a", "line 3: the alias *a is not allowed"),
        ("claim: []", "line 1: the file has no key claim, did you mean claims?"),
        ("claims:\n  - {text: a]", "line 2: "),
        ("claims:\n  - {text: a, where: {b: 2001-01-01, b: 1}}", "line 2: the key b of claims.whe"),
        ("", " is empty"),
        pytest.param("claims: " + "[" * 5000 + "]" * 5000, "disan.yaml", id="deep"),
        pytest.param("#" * (1 << 20) + "\n", " has more than 1,048,576 bytes", id="large"),
    ],
)
def test_a_damaged_file_is_refused_with_file_line_and_remedy(text, error, tmp_path):
    with pytest.raises(UserError) as caught:
        _read(tmp_path, text)
    message = str(caught.value)
    assert message.startswith(str(tmp_path / "disan.yaml")) and error in message
    assert message.endswith("; correct it, or restore the file from the repository.")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UserError, match="disan.yaml does not exist; restore it"):
        read_section(tmp_path / "disan.yaml", "claims", SECTIONS, tuple[Entry, ...])
