"""Reads YAML files whose content a schema of dataclasses describes; errors name file and line.

A file has named sections, and an entry of a section is a dataclass:

    @dataclass(frozen=True)
    class Claim:
        text: str                      # a scalar as it is written: 51.70 is "51.70"
        margin: float = 0.0            # an optional key
        models: tuple[str, ...] = ()   # a list
        where: Mapping[str, str] = ... # a mapping; where its values are lists, one may be a scalar
        line: int = 0                  # the line of the entry, which is no key

    claims = read_section(path, "claims", ("tables", "claims"), tuple[Claim, ...])

The key `kind` selects a dataclass of a `Union` by its name in snake case.
"""

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

import yaml

from disan_tf.common.checks import nearest
from disan_tf.common.errors import UserError

_LARGEST = 1 << 20  # bytes
_REMEDY = "correct it, or restore the file from the repository"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SCALARS = {"true": True, "false": False}


def read_section(path: Path, section: str, sections: tuple[str, ...], kind: Any):
    """Reads one of the `sections` that a file may have, a missing one as empty, "" or ().

    `kind` is the type of its content: a scalar type, `Optional`, `Literal`, a dataclass, a
    `Union` of dataclasses, `tuple[kind, ...]` or `Mapping[str, kind]`. A file that is missing,
    damaged, or does not match is a UserError, which names the line.
    """
    node = _sections(path, sections).get(section)
    if node is not None:
        return _Parser(path).parse(node, kind, section)
    return (get_origin(kind) or kind)()


@cache
def _sections(path: Path, known: tuple[str, ...]) -> dict[str, yaml.Node]:
    """Returns the sections of a file as YAML's nodes, which know their lines."""
    parser = _Parser(path)
    try:
        with open(path, "rb") as file:
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise UserError(f"{path} has more than {_LARGEST:,} bytes; {_REMEDY}.")
        text = content.decode("utf-8")
        for token in yaml.scan(text, _LOADER):
            if isinstance(token, yaml.AliasToken):  # a few of them can stand for gigabytes
                parser.fail(token, f"the alias *{token.value} is not allowed")
        node = yaml.compose(text, _LOADER)
    except FileNotFoundError:
        raise UserError(f"{path} does not exist; restore it from the repository.") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1
        raise UserError(f"{path}, line {line}: {error.problem}; {_REMEDY}.") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{path} is not readable YAML ({reason}); {_REMEDY}.") from None
    if node is None:
        raise UserError(f"{path} is empty; {_REMEDY}.")
    return {key: value for key, _, value in parser.pairs(node, "the file", known)}


class _Parser:
    """Builds values of a schema from the nodes of a file."""

    def __init__(self, path: Path):
        self._path = path

    def fail(self, node, reason: str) -> NoReturn:
        """Raises a UserError that names the line of a node."""
        raise UserError(f"{self._path}, line {node.start_mark.line + 1}: {reason}; {_REMEDY}.")

    def pairs(self, node, name: str, known=None) -> list[tuple]:
        """Returns the keys of a mapping, their nodes and the values; refuses repeated keys."""
        if not isinstance(node, yaml.MappingNode):
            self.fail(node, f"{name} must have keys and values")
        seen, found = set(), []
        for key, value in node.value:
            word = self._text(key, f"a key of {name}")
            if word in seen:
                self.fail(key, f"the key {word} of {name} is repeated")
            if known is not None and word not in known:
                near = nearest(word, known)
                hint = f", did you mean {near}?" if near else f" (known: {', '.join(known)})"
                self.fail(key, f"{name} has no key {word}{hint}")
            seen.add(word)
            found.append((word, key, value))
        return found

    def parse(self, node, kind: Any, name: str):
        """Returns the value of type `kind` that a node holds; `name` is its name in messages."""
        origin, parts = get_origin(kind), get_args(kind)
        if is_dataclass(kind):
            return self._entry(node, kind, name)
        if origin is tuple:
            if not isinstance(node, yaml.SequenceNode):
                self.fail(node, f"{name} must be a list")
            return tuple(self.parse(item, parts[0], name) for item in node.value)
        if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
            pairs = self.pairs(node, name)
            return {
                key: self.parse(_listed(value, parts[1]), parts[1], f"{name}.{key}")
                for key, _, value in pairs
            }
        if origin is Union:
            return self._one_of(node, parts, name)
        text = self._text(node, name)
        if origin is Literal:
            return text if text in parts else self.fail(node, f"{name} must be one of {parts}")
        try:
            return _SCALARS[text] if kind is bool else kind(text)
        except (KeyError, ValueError):
            wanted = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
            self.fail(node, f"{name} must be {wanted}, not {text!r}")

    def _entry(self, node, kind, name: str):
        """Returns a dataclass; its name in messages is the entry's own name, if it has one."""
        hints = {key: hint for key, hint in get_type_hints(kind).items() if key != "line"}
        options = {field.name: field for field in fields(kind) if field.name != "line"}
        values = {
            key: self.parse(value, hints[key], f"{name}.{key}")
            for key, _, value in self.pairs(node, name, tuple(options))
        }
        for key, field in options.items():
            if key not in values and field.default is field.default_factory is MISSING:
                self.fail(node, f"{name} lacks the key {key}")
        if any(field.name == "line" for field in fields(kind)):
            values["line"] = node.start_mark.line + 1
        try:
            return kind(**values)
        except ValueError as error:  # raised by `__post_init__`
            self.fail(node, f"{name}: {error}")

    def _one_of(self, node, kinds, name: str):
        """Returns a value of an `Optional`, or the dataclass that `kind` names."""
        if type(None) in kinds and isinstance(node, yaml.ScalarNode) and _is_null(node):
            return None
        kinds = [kind for kind in kinds if kind is not type(None)]
        if len(kinds) == 1:
            return self.parse(node, kinds[0], name)
        names = {re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower(): kind for kind in kinds}
        words = {key: value for key, _, value in self.pairs(node, name)}
        if "kind" not in words:
            self.fail(node, f"{name} lacks the key kind")
        word = self.parse(words["kind"], Literal[tuple(names)], f"{name}.kind")
        rest = [pair for pair in node.value if pair[0].value != "kind"]
        mapping = yaml.MappingNode(node.tag, rest, node.start_mark, node.end_mark)
        return self._entry(mapping, names[word], name)

    def _text(self, node, name: str) -> str:
        if not isinstance(node, yaml.ScalarNode) or _is_null(node):
            self.fail(node, f"{name} must be a text or a number")
        return node.value


def _listed(node: yaml.Node, kind: Any) -> yaml.Node:
    """Returns a list of a scalar alone where a mapping's values are lists, else the node."""
    if get_origin(kind) is not tuple or not isinstance(node, yaml.ScalarNode):
        return node
    return yaml.SequenceNode(node.tag, [node], node.start_mark, node.end_mark)


def _is_null(node: yaml.ScalarNode) -> bool:
    return node.tag == "tag:yaml.org,2002:null"
