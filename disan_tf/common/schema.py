"""Checks the content of our JSON files against a schema before it is used."""

from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

from disan_tf.common.errors import UserError

Schema = Union[type, tuple, list, Mapping]
_NAMES = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string",
    dict: "an object",
    list: "a list",
    type(None): "null",
    object: "anything",
}


def check_schema(path, content, schema: Schema, remedy: str):
    """Returns `content`, the parsed JSON of a file, if it matches the schema, or raises UserError.

    A schema is a type (`object` is any; a whole number is a `float` too); a tuple of alternative
    schemas; `[schema]`, a list of such values; `{str: schema}`, an object of such values; or
    `{name: schema}`, an object that has at least these names (a name that ends in "?" may be
    missing). The error names the file and the place in it, and ends with `remedy`.
    """
    wrong = _difference(content, schema, "")
    if wrong:
        raise UserError(f"{path}: {wrong}; {remedy}.")
    return content


def _difference(value: Any, schema: Schema, place: str) -> Optional[str]:
    """Returns a clause on the first place where a value differs from its schema, or None."""
    if isinstance(schema, tuple):
        differences = [_difference(value, option, place) for option in schema]
        return None if None in differences else differences[0]
    if isinstance(schema, list):
        return _kind(value, list, place) or _first(value, schema[0], place)
    if not isinstance(schema, Mapping):
        return _kind(value, schema, place)
    if (wrong := _kind(value, dict, place)) or list(schema) == [str]:
        return wrong or _first(value, schema[str], place)
    for key, wanted in schema.items():
        name = key.removesuffix("?")
        if name not in value:
            if name != key:
                continue
            return f"{_join(place, name)} is missing"
        if wrong := _difference(value[name], wanted, _join(place, name)):
            return wrong
    return None


def _first(values: Union[Sequence, Mapping], schema: Schema, place: str) -> Optional[str]:
    """Returns the first difference in a list's items or an object's values, or None."""
    items = values.items() if isinstance(values, Mapping) else enumerate(values)
    unequal = (_difference(value, schema, _join(place, name)) for name, value in items)
    return next(filter(None, unequal), None)


def _kind(value: Any, kind: type, place: str) -> Optional[str]:
    kinds = (int, float) if kind is float else kind
    if isinstance(value, kinds) and (kind in (bool, object) or not isinstance(value, bool)):
        return None
    return f"{place or 'the file'} must be {_NAMES[kind]}"


def _join(place: str, name) -> str:
    return f"{place}.{name}" if place else str(name)
