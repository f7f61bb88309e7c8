"""Checks of constructor arguments; each raises ValueError as "name=value; what it may be".

A config's check puts `--config.encoder.` or the like before such a message.
"""

from collections.abc import Iterable, Sequence


def check_choice(name: str, value, choices: Iterable[str]):
    """Returns `value`, which must be one of `choices`."""
    choices = list(choices)
    if value not in choices:
        known = " or ".join(filter(None, [", ".join(choices[:-1]), choices[-1]]))
        raise ValueError(f"{name}={value!r}; choose {known}.")
    return value


def check_at_least(name: str, value, least):
    """Returns `value`, which must be at least `least`; None passes."""
    if value is not None and not value >= least:
        raise ValueError(f"{name}={value!r}; it must be at least {least}.")
    return value


def check_widths(name: str, values: Sequence[int]) -> tuple:
    """Returns `values` as a tuple: the tokens of at least one window, none under 1."""
    if not values or min(values) < 1:
        raise ValueError(f"{name}={values!r}; name at least one, none under 1.")
    return tuple(values)


def check_above_zero(name: str, value: float) -> float:
    """Returns `value`, which must be above 0."""
    if not value > 0.0:
        raise ValueError(f"{name}={value!r}; it must be above 0.")
    return value


def check_rate(name: str, value: float) -> float:
    """Returns `value`, a dropout rate, which must lie in [0, 1)."""
    if not 0.0 <= value < 1.0:
        raise ValueError(f"{name}={value!r}; a dropout rate lies in [0, 1).")
    return value
