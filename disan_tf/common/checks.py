"""Checks of single values, and the words of their errors: ValueError("name=value must be ...")."""

import difflib
from collections.abc import Iterable, Sequence
from typing import Optional

MAX_LAYERS = 100  # building more takes minutes, which a damaged file may ask for
_ALIKE = 0.62  # least similarity: "classify" is near "classification", "samples" not near "splits"


def nearest(word, known: Iterable) -> Optional[str]:
    """Returns the known word that is most like `word`, ignoring case, or None."""
    words = {str(item).casefold(): str(item) for item in known}
    if not isinstance(word, str):  # a number is no misspelling of another
        return None
    near = difflib.get_close_matches(word.casefold(), words, n=1, cutoff=_ALIKE)
    return words[near[0]] if near else None


def suggestion(word, known: Iterable) -> str:
    """Returns the end of a sentence on an unknown word: "; did you mean ...?" or "."."""
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


def check_between(name: str, value, least, most):
    """Returns `value`, which must be in [least, most]; None passes."""
    check_at_least(name, value, least)
    if value is not None and not value <= most:
        raise ValueError(f"{name}={value} must be at most {most:,}.")
    return value


def check_layers(name: str, value: int, least: int = 1) -> int:
    """Returns `value`, a number of layers or iterations; it must be in [least, `MAX_LAYERS`]."""
    return check_between(name, value, least, MAX_LAYERS)


def check_widths(name: str, values: Sequence[int]) -> tuple:
    """Returns `values` as a tuple: 1 to `MAX_LAYERS` widths in tokens, each at least 1."""
    if len(values) > MAX_LAYERS:
        raise ValueError(f"{name} has {len(values):,} numbers; the limit is {MAX_LAYERS}.")
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
    """Returns the items as text: "a, b or c"."""
    *others, last = map(str, known)
    return f"{', '.join(others)} or {last}" if others else last


def count(number: int, noun: str) -> str:
    """Returns a number with its noun, such as "1 line" or "2,000 lines"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
