"""What a component may be asked for: the names, types and values of its options.

A component, such as an encoder, an optimizer or the reader of a corpus, says which options it takes
by the parameters of its constructor, or of a function that checks them: by their names, by their
annotations, and by their defaults, without which an option must be given. Which values are possible
and which go together it checks itself: it raises ValueError("name=value must be ..."), as
`check_choice` and the functions below that do.

`check_section` asks components for a section of a config and names the flag that is wrong.
"""

import difflib
import functools
import inspect
import math
import numbers
import typing
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable, Optional, Union

from disan_tf.common.errors import UserError

MOST = 2**31 - 1  # of a whole number
MOST_UNITS = 2**16  # of one in a section that describes a model: sizes, of which weights are made
_MODEL = ("embedding", "encoder", "task")
_ALIKE = 0.62  # of 1: "classify" is near to "classification", "samples" not to "splits"
_TYPES = {  # of an annotation -> the types of its values, one value, several
    bool: (bool, "True or False", "True or False"),
    int: (numbers.Integral, "a whole number", "whole numbers"),
    float: (numbers.Real, "a finite number", "finite numbers"),
    str: (str, "a string", "strings"),
    Mapping: (Mapping, "a section with options of its own", "sections"),
    type(None): (type(None), "None", "None"),
}


def check_section(section: str, values: Mapping, owner: str, *components: Callable) -> None:
    """Refuses a section of a config whose options its components do not take.

    Args:
      section: its name, with dots between a section and a section within it; "" for a whole config.
      values: option -> value.
      owner: whose options these are, as a sentence names it: "adam".
      components: functions or classes; each is called with the options that are parameters of it.
        Those that a `functools.partial` gives are no options. A class has the parameters of its
        bases too, as far as its constructor hands them on.

    Raises:
      UserError: naming the flag, its value, and what it may be.
    """
    taken = [options_of(component) for component in components]
    known = {name: option for options in taken for name, option in options.items()}
    for name, value in values.items():
        if name not in known:
            raise UserError(_unknown(flag(section, name), value, owner, name, known))
    for name, option in known.items():
        if name not in values and option.default is inspect.Parameter.empty:
            raise UserError(f"{flag(section, name)} is missing; {owner} needs it.")
        if name in values and not _fits(values[name], option.annotation):
            wanted = _description(option.annotation)
            raise UserError(f"{flag(section, name)}={values[name]!r} must be {wanted}.")
        most = MOST_UNITS if section in _MODEL else MOST
        if name in values and not _is_within(values[name], most):
            raise UserError(f"{flag(section, name)}={values[name]} must be at most {most:,}.")
    for component, options in zip(components, taken):
        try:
            component(**{name: values[name] for name in options if name in values})
        except ValueError as error:
            raise UserError(flag(section, str(error))) from None


def chosen(components: Mapping, section: str, values: Mapping, name: str = "name"):
    """The one of several components that an option names.

    Args:
      components: name -> component.
      section: of the config.
      values: its options.
      name: the option that names a component.

    Raises:
      UserError: the option is missing, or names none of them.
    """
    if name not in values:
        raise UserError(f"{flag(section, name)} is missing; name {join_choices(components)}.")
    try:
        return components[check_choice(name, values[name], components)]
    except ValueError as error:
        raise UserError(flag(section, str(error))) from None


def flag(section: str, name: str) -> str:
    """The flag that overrides an option of a config."""
    return f"--config.{section}.{name}" if section else f"--config.{name}"


def options_of(component: Callable) -> dict[str, inspect.Parameter]:
    """Name -> parameter, its annotation a type, of what a component takes; see `check_section`."""
    given = ()
    if isinstance(component, functools.partial):
        component, given = component.func, component.keywords
    options = {}
    for function in _functions(component):
        types = typing.get_type_hints(function)
        for name, parameter in inspect.signature(function).parameters.items():
            if name != "self" and parameter.kind not in (
                parameter.VAR_POSITIONAL,
                parameter.VAR_KEYWORD,
            ):
                annotation = types.get(name, Any)
                options.setdefault(name, parameter.replace(annotation=annotation))
    return {name: option for name, option in options.items() if name not in given}


def _functions(component) -> list[Callable]:
    """A function; or the constructors of a class and of its bases, of its package and of ours."""
    if not inspect.isclass(component):
        return [component]
    packages = {_package(component), _package(check_section)}
    bases = [base for base in component.__mro__ if _package(base) in packages]
    return [base.__init__ for base in bases if "__init__" in vars(base)]


def _package(component) -> str:
    return component.__module__.partition(".")[0]


def _unknown(name_of_flag, value, owner, name, known) -> str:
    near, takes = nearest(name, known), ", ".join(sorted(known)) or "none"
    rest = f"; did you mean {near}?" if near else f", which takes {takes}."
    return f"{name_of_flag}={_format_value(value)} is not an option of {owner}{rest}"


def nearest(word, known: Iterable) -> Optional[str]:
    """The known word that was probably meant, if there is one; capitals do not matter."""
    words = {str(each).casefold(): str(each) for each in known}
    if not isinstance(word, str):  # a number that is near is not meant
        return None
    near = difflib.get_close_matches(word.casefold(), words, n=1, cutoff=_ALIKE)
    return words[near[0]] if near else None


def suggestion(word, known: Iterable) -> str:
    """The end of a sentence about a word that is not known: "; did you mean ...?" or "."."""
    near = nearest(word, known)
    return f"; did you mean {near}?" if near else "."


def check_choice(name: str, value, choices: Iterable):
    """Returns `value`, which must be one of `choices`."""
    choices = list(choices)
    if value not in choices:
        raise ValueError(
            f"{name}={value} must be {join_choices(choices)}{suggestion(value, choices)}"
        )
    return value


def check_at_least(name: str, value, least):
    """Returns `value`, which must be at least `least`; None passes."""
    if value is not None and not value >= least:
        raise ValueError(f"{name}={value} must be at least {least}.")
    return value


def check_widths(name: str, values: Sequence[int]) -> tuple:
    """Returns `values` as a tuple: the tokens of at least one window, none under 1."""
    if not values or min(values) < 1:
        raise ValueError(f"{name}={values} must have at least one number, and none under 1.")
    return tuple(values)


def check_above_zero(name: str, value: float) -> float:
    """Returns `value`, which must be above 0."""
    if not value > 0.0:
        raise ValueError(f"{name}={value} must be above 0.")
    return value


def check_rate(name: str, value: float) -> float:
    """Returns `value`, a rate, which must be at least 0 and below 1."""
    if not 0.0 <= value < 1.0:
        raise ValueError(f"{name}={value} must be at least 0 and below 1.")
    return value


def join_choices(known: Iterable) -> str:
    """ "a, b or c"."""
    *others, last = map(str, known)
    return f"{', '.join(others)} or {last}" if others else last


def _format_value(value) -> str:
    return "{...}" if _is_mapping(value) else str(value)


def _is_mapping(value) -> bool:
    """A ConfigDict has the methods of a mapping, but is none to Python."""
    return hasattr(value, "keys") and hasattr(value, "items")


def _fits(value, annotation) -> bool:
    """Whether a value is of the type of an annotation; an unknown annotation takes every value."""
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Union:
        return any(_fits(value, part) for part in parts)
    if origin is Sequence:
        return _is_list(value) and all(_fits(item, parts[0]) for item in value)
    if origin is tuple:
        return _is_list(value) and len(value) == len(parts) and all(map(_fits, value, parts))
    if annotation is Mapping:
        return _is_mapping(value)
    if annotation not in _TYPES:
        return True
    if isinstance(value, bool):  # which Python counts among the numbers
        return annotation is bool
    is_finite = not isinstance(value, float) or math.isfinite(value)
    return is_finite and isinstance(value, _TYPES[annotation][0])


def _is_within(value, most: int) -> bool:
    """Whether a whole number, or all of several, are at most `most`, or the negative of it."""
    if _is_list(value):
        return all(_is_within(item, most) for item in value)
    return not isinstance(value, numbers.Integral) or abs(value) <= most


def _is_list(value) -> bool:
    return isinstance(value, (list, tuple))


def _description(annotation, several: bool = False) -> str:
    """What a value of an annotation is, for people."""
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Union:
        return " or ".join(_description(part, several) for part in parts)
    if origin is Sequence:
        return f"{'tuples' if several else 'a tuple'} of {_description(parts[0], several=True)}"
    if origin is tuple:
        return f"{'pairs' if several else 'a pair'} of {_description(parts[0], several=True)}"
    return _TYPES[annotation][2 if several else 1]
