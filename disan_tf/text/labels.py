"""Labels as people write them: the order of classes, and class numbers."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

# A missing label as pandas, NumPy and spreadsheets write it.
MISSING = frozenset({"", "nan", "none", "null", "na", "n/a", "<na>", "nat", "#n/a"})


_EXACT = 2**53  # whole numbers below it are exact in floating point


def order_classes(labels: Iterable[str]) -> tuple[str, ...]:
    """Returns the distinct labels in numerical order, or alphabetically if one is no number.

    Equal numbers, such as "1" and "1.0", are in alphabetical order.
    """
    distinct = sorted(set(labels))
    numbers = [_number(label) for label in distinct]
    if all(map(math.isfinite, numbers)):
        return tuple(label for _, label in sorted(zip(numbers, distinct)))
    return tuple(distinct)


def parse_number(text: str) -> float:
    """Returns the number that a text spells; ValueError for other texts and Python's "1_000"."""
    if "_" in text:
        raise ValueError(f"{text!r} is no number.")
    return float(text)


def _number(label: str) -> float:
    try:
        return parse_number(label)
    except ValueError:
        return math.nan


def _whole_names(classes: Sequence[str]) -> dict[float, int]:
    """Returns value -> class number if all names are whole numbers, else {}.

    If several names have one value, such as "1" and "1.0", the value belongs to "1".
    """
    values = [_number(name) for name in classes]
    if not all(value.is_integer() for value in values):
        return {}
    counts = Counter(values)
    return {
        value: number
        for number, (name, value) in enumerate(zip(classes, values))
        if counts[value] == 1 or name == str(int(value))
    }


def class_numbers(
    labels: Iterable, classes: Sequence[str], numbers_are_names: bool = True
) -> np.ndarray:
    """Returns class numbers <int64>[labels] for labels that are names or numbers of classes.

    `classes` are the names, in the order of their numbers, from 0. If all names are whole numbers,
    or truth values, then such labels are names; truth values are also the names "0" and "1", if
    there are both. Without `numbers_are_names`, numbers are always class numbers. A label that is
    neither name nor number is a ValueError, whose message has its position.
    """
    numbers = {name: number for number, name in enumerate(classes)}
    whole = _whole_names(classes) if numbers_are_names else {}
    return np.array([_class_number(*item, numbers, whole) for item in enumerate(labels)], np.int64)


def _class_number(
    position: int, label, numbers: Mapping[str, int], whole: Mapping[float, int]
) -> int:
    if isinstance(label, bytes):
        label = label.decode("utf-8", "replace")
    is_truth = isinstance(label, (bool, np.bool_))
    if is_truth and str(label) in numbers:
        label = str(label)
    if isinstance(label, str):
        if label in numbers:
            return numbers[label]
        known = ", ".join(map(repr, list(numbers)[:5]))
        raise ValueError(
            f"label {position} is {label[:40]!r}, which is not one of the {len(numbers)} classes "
            f"{known}{', ...' * (len(numbers) > 5)}."
        )
    try:
        is_whole = not isinstance(label, complex) and label == int(label)
    except (TypeError, ValueError, OverflowError):
        is_whole = False
    if not is_whole:
        raise ValueError(
            f"label {position} is {str(label)[:40]} ({type(label).__name__}); a label is the name "
            "of a class or its number, and a row without a label must be left out."
        )
    if whole and (not is_truth or whole.keys() >= {0, 1}):
        name = str(int(label))
        if name not in numbers and abs(label) < _EXACT and label in whole:
            return whole[label]
        return _class_number(position, name, numbers, whole)
    if not 0 <= label < len(numbers):
        raise ValueError(
            f"label {position} is {label}, and the {len(numbers)} classes have the numbers 0 to "
            f"{len(numbers) - 1}; set classes= or num_classes= to the number of your classes."
        )
    return int(label)
