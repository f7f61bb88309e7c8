"""Labels as people write them: the order of classes, and class numbers."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

# A missing label as pandas, NumPy and spreadsheets write it.
MISSING = frozenset({"", "nan", "none", "null", "na", "n/a", "<na>", "nat", "#n/a"})


def order_classes(labels: Iterable[str]) -> tuple[str, ...]:
    """Returns the distinct labels in numerical order, or alphabetically if one is no number.

    Equal numbers, such as "1" and "1.0", are in alphabetical order.
    """
    distinct = sorted(set(labels))
    numbers = [_number(label) for label in distinct]
    if all(map(math.isfinite, numbers)):
        return tuple(label for _, label in sorted(zip(numbers, distinct)))
    return tuple(distinct)


def _number(label: str) -> float:
    try:
        return float(label)
    except ValueError:
        return math.nan


def class_numbers(
    labels: Iterable, classes: Sequence[str], numbers_are_names: bool = True
) -> np.ndarray:
    """Returns class numbers <int64>[labels] for labels that are names or numbers of classes.

    `classes` are the names, in the order of their numbers, from 0. If all names are whole numbers,
    or truth values, then such labels are names; without `numbers_are_names`, numbers are always
    class numbers. A label that is neither name nor number is a ValueError, whose message has its
    position.
    """
    numbers = {name: number for number, name in enumerate(classes)}
    are_whole = numbers_are_names and all(_number(name).is_integer() for name in classes)
    return np.array(
        [_class_number(*item, numbers, are_whole) for item in enumerate(labels)], np.int64
    )


def _class_number(position: int, label, numbers: dict[str, int], are_whole: bool) -> int:
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
    if are_whole and not is_truth:
        return _class_number(position, str(int(label)), numbers, are_whole)
    if not 0 <= label < len(numbers):
        raise ValueError(
            f"label {position} is {label}, and the {len(numbers)} classes have the numbers 0 to "
            f"{len(numbers) - 1}; set classes= or num_classes= to the number of your classes."
        )
    return int(label)
