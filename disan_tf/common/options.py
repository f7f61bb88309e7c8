"""Reads the options of components: checks their names, types and values.

A component is, for example, an encoder, an optimizer or the schedule of a training. The parameters
of its constructor, or of a function that checks them, define its options by name, annotation and
default; an option without a default must be given. A parameter whose annotation is a dataclass
stands for the options of that dataclass. Values are checked against the annotation's type or
`Literal` choices; the component checks limits and combinations itself. Both raise
ValueError("name=value must be ..."). `read_section` makes the components of a section of a config
and names the wrong flag; `check_arguments` checks a call.
"""

import functools
import inspect
import math
import numbers
import textwrap
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any, Callable, Literal, Union

from disan_tf.common.checks import check_choice, join_choices, nearest, suggestion
from disan_tf.common.errors import UserError

DTYPES = ("float32", "mixed_bfloat16", "mixed_float16")  # Keras' policies that configs may name
MAX_NUMBER = 2**31 - 1  # the largest whole number
MAX_REAL = 10**6  # the largest real number; float32 overflows in losses and steps far above it
MIN_REAL = 1e-30  # the smallest above 0; float32 rounds far smaller ones to 0
MAX_UNITS = 2**16  # the largest in a section that describes a model: sizes of weights
_MODEL = ("embedding", "encoder", "task")
_TYPES = {  # annotation -> type of its values, words for one value, for several
    bool: (bool, "True or False", "True or False"),
    int: (numbers.Integral, "a whole number", "whole numbers"),
    float: (numbers.Real, "a finite number", "finite numbers"),
    str: (str, "a string", "strings"),
    Mapping: (Mapping, "a section of options", "sections"),
    type(None): (type(None), "None", "None"),
}


def read_section(section: str, values: Mapping, owner: str, *components: Callable) -> list:
    """Checks a section of a config and returns what its components make of their options.

    Args:
      section: its name, with dots before nested sections; "" for a whole config.
      values: option -> value.
      owner: the name of the options' owner in error messages, such as "adam".
      components: functions or classes, each of which is called with the options that are its
        parameters. Arguments that a `functools.partial` sets are no options. A class has the
        parameters of its bases too.

    Raises UserError with the flag, its value and the possible values.
    """
    known = {}
    for component in components:
        known.update(options_of(component))
    for name, value in values.items():
        if name not in known:
            shown = "{...}" if _is_mapping(value) else value
            near, takes = nearest(name, known), ", ".join(sorted(known)) or "none"
            rest = f"; did you mean {near}?" if near else f", which takes {takes}."
            raise UserError(f"{flag(section, name)}={shown} is not an option of {owner}{rest}")
    most = MAX_UNITS if section in _MODEL else MAX_NUMBER
    for name, option in known.items():
        if name in values:
            check_type(flag(section, name), values[name], option.annotation, UserError)
            _check_size(flag(section, name), values[name], option.annotation, most)
        elif option.default is inspect.Parameter.empty:
            raise UserError(f"{flag(section, name)} is missing; {owner} needs it.")
    try:
        return [_make(component, values) for component in components]
    except ValueError as error:
        raise UserError(flag(section, str(error))) from None


def _make(component: Callable, values: Mapping):
    """Calls a component with its options, of which some may belong to dataclasses in it."""
    arguments = {}
    for name, parameter in _parameters(component).items():
        if is_dataclass(parameter.annotation):
            arguments[name] = _make(parameter.annotation, values)
        elif name in values:
            arguments[name] = values[name]
    return component(**arguments)


def chosen(components: Mapping, section: str, values: Mapping, name: str = "name"):
    """Returns the component that the option `name` of a section names, or raises UserError."""
    if name not in values:
        raise UserError(f"{flag(section, name)} is missing; name {join_choices(components)}.")
    try:
        return components[check_choice(name, values[name], components)]
    except ValueError as error:
        raise UserError(flag(section, str(error))) from None


def flatten(tree: dict, prefix: str = "") -> dict:
    """Flattens nested names: {"train": {"steps": 5}} -> {"train.steps": 5}."""
    flat = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            flat.update(flatten(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = value
    return flat


def flag(section: str, name: str) -> str:
    """Returns the flag that overrides a config option."""
    return f"--config.{section}.{name}" if section else f"--config.{name}"


def options_of(component: Callable) -> dict[str, inspect.Parameter]:
    """Returns name -> parameter, with its annotation as a type, for a component's options."""
    options = {}
    for name, parameter in _parameters(component).items():
        part = parameter.annotation
        options.update(options_of(part) if is_dataclass(part) else {name: parameter})
    return options


def _parameters(component: Callable) -> dict[str, inspect.Parameter]:
    """Returns the parameters of a component that `functools.partial` has not set."""
    given = ()
    if isinstance(component, functools.partial):
        component, given = component.func, component.keywords
    parameters = {}
    for function in _functions(component):
        for name, parameter in _named(inspect.unwrap(function)).items():
            parameters.setdefault(name, parameter)
    return {name: parameter for name, parameter in parameters.items() if name not in given}


@functools.cache
def _named(function: Callable) -> dict[str, inspect.Parameter]:
    """Returns a function's named parameters except `self`, with their annotations as types."""
    parameters = {
        name: parameter
        for name, parameter in inspect.signature(function).parameters.items()
        if name != "self"
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }
    names = getattr(function, "__globals__", {})
    return {
        name: parameter.replace(annotation=_resolved(parameter.annotation, names))
        for name, parameter in parameters.items()
    }


def _resolved(annotation, names: dict):
    """Returns an annotation as a type; `Any` if it is missing or only for type checkers."""
    if annotation is inspect.Parameter.empty:
        return Any
    try:
        holder = types.SimpleNamespace(__annotations__={"it": annotation})
        return typing.get_type_hints(holder, names)["it"]
    except (NameError, TypeError):  # a name that only a type checker imports, or a newer syntax
        return Any


def check_arguments(function: Callable, args: Sequence, kwargs: Mapping) -> None:
    """Raises ValueError("name=value must be ...") if a call has an argument of a wrong type.

    Args:
      function: the function whose annotations give the right types. A default is always right.
      args, kwargs: the arguments of the call, without `self`; other names are ignored.
    """
    parameters = _named(function)
    for name, value in [*zip(parameters, args), *kwargs.items()]:
        parameter = parameters.get(name)
        if parameter is not None and value is not parameter.default:
            check_type(name, value, parameter.annotation)


def check_type(name: str, value, annotation, error: type[Exception] = ValueError):
    """Returns `value`, which must match an annotation; other values raise the error."""
    if _fits(value, annotation):
        return value
    choices = _choices(annotation)
    if choices and typing.get_origin(annotation) is Sequence and _is_list(value):
        (annotation,) = typing.get_args(annotation)  # the message names the wrong item
        value = next(item for item in value if not _fits(item, annotation))
    shown = value if choices and isinstance(value, str) else textwrap.shorten(repr(value), 80)
    wanted = join_choices(_descriptions(annotation))
    raise error(f"{name}={shown} must be {wanted}{suggestion(value, choices)}")


def _functions(component) -> list[Callable]:
    """Returns [function], or the constructors of a class and its bases, of its package and ours."""
    if not inspect.isclass(component):
        return [component]
    packages = {_package(component), _package(read_section)}
    bases = [base for base in component.__mro__ if _package(base) in packages]
    return [base.__init__ for base in bases if "__init__" in vars(base)]


def _package(component) -> str:
    return component.__module__.partition(".")[0]


def _is_mapping(value) -> bool:
    """Returns whether a value has the methods of a mapping, as a ConfigDict, no `Mapping`, has."""
    return hasattr(value, "keys") and hasattr(value, "items")


def _fits(value, annotation) -> bool:
    """Returns whether a value matches an annotation; all values match an unknown annotation."""
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Union:
        return any(_fits(value, part) for part in parts)
    if origin is Literal:
        return any(isinstance(value, type(part)) and value == part for part in parts)
    if origin is Sequence:
        return _is_list(value) and all(_fits(item, parts[0]) for item in value)
    if origin is tuple:
        return _is_list(value) and len(value) == len(parts) and all(map(_fits, value, parts))
    if annotation is Mapping:
        return _is_mapping(value)
    if annotation not in _TYPES:
        return True
    if type(value).__name__ in ("bool", "bool_"):  # a number to Python; "bool_" is NumPy's
        return annotation is bool
    is_whole = isinstance(value, numbers.Integral) or not isinstance(value, numbers.Real)
    return (is_whole or math.isfinite(value)) and isinstance(value, _TYPES[annotation][0])


def _check_size(name: str, value, annotation, most: int) -> None:
    """Raises UserError if a number in a value is too large or too small.

    Whole numbers must lie between `-most` and `most`, and real numbers between `-MAX_REAL` and
    `MAX_REAL`, with a distance of `MIN_REAL` from 0 unless they are 0.
    """
    is_real = _is_of_reals(annotation)
    most = MAX_REAL if is_real else most
    for number in _numbers_in(value):
        if not -most <= number <= most:
            limit = f"at most {most:,}" if number > 0 else f"at least -{most:,}"
            raise UserError(f"{name}={value} must be {limit}.")
        if is_real and 0 < abs(number) < MIN_REAL:
            raise UserError(f"{name}={value} must be 0, or at least {MIN_REAL:g} away from it.")


def _numbers_in(value) -> list[numbers.Real]:
    """Returns the numbers that a value is or contains."""
    if _is_list(value):
        return [number for item in value for number in _numbers_in(item)]
    return [value] if isinstance(value, numbers.Real) else []


def _is_of_reals(annotation) -> bool:
    return annotation is float or any(map(_is_of_reals, typing.get_args(annotation)))


def _is_list(value) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _choices(annotation) -> tuple:
    """Returns the values that a `Literal` in an annotation names."""
    if typing.get_origin(annotation) is Literal:
        return typing.get_args(annotation)
    return sum(map(_choices, typing.get_args(annotation)), ())


def _descriptions(annotation, several: bool = False) -> list[str]:
    """Returns words for each kind of value that an annotation allows."""
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Union:
        return [words for part in parts for words in _descriptions(part, several)]
    if origin is Literal:
        return [str(part) for part in parts]
    if origin in (Sequence, tuple):
        one, more = ("a pair", "pairs") if origin is tuple else ("a tuple", "tuples")
        items = join_choices(_descriptions(parts[0], several=True))
        return [f"{more if several else one} of {items}"]
    return [_TYPES[annotation][2 if several else 1]]
