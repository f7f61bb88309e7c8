"""Reads texts that people hold in Python: lists, records, data frames, arrays and tensors."""

import numbers
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.common.options import join_choices
from disan_tf.models.base import SENTENCE
from disan_tf.serving.inference.records import (
    DEFAULT,
    Columns,
    check_record,
    text_name,
    tokens_name,
)

_SHOWN = 40  # characters of a value in an error


def read_inputs(
    inputs: Iterable, fields: Sequence[str] = SENTENCE, columns: Columns = DEFAULT
) -> list[dict]:
    """Returns a record for each text, pair or record.

    The records have the order of `inputs`, which is one of these:

    - a list, an array, a pandas Series, a string tensor or another iterable, whose items are texts,
      for two fields pairs (or an array [items, 2]), or records. A record is a dictionary, a named
      tuple or a pandas Series with the names in `columns`, in any order.
    - a table: a DataFrame, a `datasets.Dataset`, a structured array, or a dictionary of columns.

    A text is a string, bytes in UTF-8 or a scalar string tensor.

    Raises:
      ValueError: an item is no text; the message has its position and its type.
    """
    if is_single(inputs):
        raise ValueError("a list of texts is expected, not one string; write [text].")
    table = _as_table(inputs, fields, columns)
    if table is not None:
        return table
    if isinstance(inputs, AbstractSet):
        raise ValueError("a set has no order; give a list of texts.")
    if not isinstance(inputs, Iterable):
        raise ValueError(f"a list of texts is expected, not {_show(inputs)}.")
    items = list(inputs.numpy() if _is_tensor(inputs) else inputs)
    if _are_two_columns(inputs, items, fields):
        raise ValueError(
            "two lists of two strings may be rows or columns; give a list of tuples (first, "
            "second), or a dictionary of columns."
        )
    return [_as_record(item, f"item {place}", fields, columns) for place, item in enumerate(items)]


def read_input(item, fields: Sequence[str] = SENTENCE, columns: Columns = DEFAULT) -> dict:
    """Returns the record of one text, pair or record; see `read_inputs`."""
    return _as_record(item, "the input", fields, columns)


def is_single(inputs) -> bool:
    """Returns whether `inputs` is one text: a string, bytes or a scalar string tensor."""
    if isinstance(inputs, (str, bytes)):
        return True
    is_scalar = _is_tensor(inputs) and inputs.shape.rank == 0 and inputs.dtype == tf.string
    return is_scalar or (isinstance(inputs, np.ndarray) and inputs.ndim == 0)


def check_batch_size(batch_size) -> int:
    """Returns the batch size; raises ValueError unless it is a whole number above 0."""
    is_number = isinstance(batch_size, numbers.Integral) and not isinstance(batch_size, bool)
    if not is_number or batch_size < 1:
        raise ValueError(f"batch_size={batch_size!r} must be a whole number of at least 1.")
    return int(batch_size)


def _as_table(inputs, fields, columns) -> Optional[list[dict]]:
    """Returns the records of a table with named columns; None if `inputs` is no such table."""
    names = _column_names(inputs)
    if names is None:
        return None
    chosen = [_column_of(names, field, columns) for field in fields]
    read = {name: list(inputs[name]) for name in chosen}
    counts = {name: len(values) for name, values in read.items()}
    if len({*counts.values()}) > 1:
        described = " and ".join(f"{name} has {count:,}" for name, count in counts.items())
        raise ValueError(f"the columns must have equally many texts, but {described}.")
    rows = zip(*read.values())
    return [
        {name: as_text(value, f"item {place}, {name!r},") for name, value in zip(read, row)}
        for place, row in enumerate(rows)
    ]


def _column_names(inputs) -> Optional[list]:
    if isinstance(inputs, Mapping):
        if any(is_single(value) or value is None for value in inputs.values()):
            raise ValueError(
                f"a dictionary of texts, with the keys {_shorten(', '.join(map(str, inputs)))}, is "
                "given where a list is expected; write [record], or list(texts.values())."
            )
        return list(inputs)
    if isinstance(inputs, np.ndarray):
        return None if inputs.dtype.names is None else list(inputs.dtype.names)
    for attribute in ("column_names", "columns"):  # of datasets and Arrow; of pandas and polars
        names = getattr(inputs, attribute, None)
        if names is not None and not callable(names):
            return list(names)
    return None


def _column_of(names, field, columns) -> str:
    """Returns the name of the column that holds a field."""
    known = columns.texts[field]
    suffix = next((name for name in known if name in names), None)
    if suffix is None:
        wanted = join_choices(f'"{name}"' for name in known)
        raise ValueError(
            f"there is no {wanted} among the columns {_shorten(', '.join(map(str, names)))}; "
            "rename a column."
        )
    return suffix


def _are_two_columns(inputs, items, fields) -> bool:
    """Returns whether two rows of two texts may as well be two columns of two texts."""
    return (
        len(fields) == len(items) == 2
        and isinstance(inputs, (list, tuple))
        and all(_is_column(item) and len(item) == 2 for item in items)
    )


def _is_column(item) -> bool:
    """Returns whether an item is rather a column of texts than a row, which would be a tuple."""
    return not (is_single(item) or isinstance(item, (tuple, Mapping))) and hasattr(item, "__len__")


def _as_record(item, where: str, fields, columns) -> dict:
    item = item.numpy() if _is_tensor(item) else item
    named = _as_mapping(item)
    if named is not None:
        return _checked(named, where, fields, columns)
    item = item.to_list() if hasattr(item, "to_list") else item
    if is_single(item):
        parts = [item]
    elif isinstance(item, (list, tuple, np.ndarray)):
        parts = list(item)
    elif len(fields) > 1:
        raise ValueError(f"{where} is {_show(item)}, not a pair of texts.")
    else:
        parts = [item]
    if len(parts) != len(fields):
        raise ValueError(_wrong_count(item, where, len(parts), fields))
    texts = [
        as_text(part, where if len(fields) == 1 else f"{where}, text {place},")
        for place, part in enumerate(parts, start=1)
    ]
    return {columns.texts[field][0]: text for field, text in zip(fields, texts)}


def _as_mapping(item) -> Optional[Mapping]:
    """Returns a record by name: a mapping, a named tuple, or a row of a pandas table."""
    if isinstance(item, Mapping):
        return item
    if isinstance(item, tuple) and hasattr(item, "_asdict"):
        return item._asdict()
    if _is_series(item) and all(isinstance(name, str) for name in item.index):
        return item.to_dict()
    if isinstance(item, np.void) and item.dtype.names:
        return dict(zip(item.dtype.names, item.tolist()))
    return None


def _is_series(item) -> bool:
    return hasattr(item, "to_list") and hasattr(item, "index")


def _checked(record: Mapping, where: str, fields, columns) -> dict:
    """Returns a record whose texts are strings."""
    record = dict(record)
    for field in fields:
        tokens = columns.find_tokens(record, field)
        if isinstance(tokens, (tuple, np.ndarray)):
            record[tokens_name(field)] = list(tokens)
        for name in columns.texts[field]:
            if tokens is not None and record.get(name, "") is None:
                del record[name]
            elif name in record:
                record[name] = as_text(record[name], f"{where}, {name!r},")
    try:
        return check_record(record, fields, where, columns)
    except UserError as error:
        raise ValueError(str(error)) from None


def _wrong_count(item, where, count, fields) -> str:
    if len(fields) == 1:
        return (
            f"{where} is {_show(item)} with {count} values, and the model reads one text; a list "
            'of tokens is written as {"tokens": [...]}.'
        )
    texts = "one text" if count == 1 else f"{count} texts"
    names = " and ".join(f'"{text_name(field)}"' for field in fields)
    return (
        f"{where} is {texts} ({_shorten(repr(item))}), and the model reads pairs; write a tuple of "
        f"two texts, a record with {names}, or zip(first, second) for two columns."
    )


def as_text(value, where: str) -> str:
    """Returns a text as a string.

    Args:
      value: a string, bytes in UTF-8, or a scalar string tensor.
      where: its position, with which an error begins.

    Raises:
      ValueError: the value is something else, or no Unicode.
    """
    value = value.numpy() if _is_tensor(value) else value
    value = value.as_py() if hasattr(value, "as_py") else value  # Arrow's scalars
    value = value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{where} has the byte 0x{value[error.start]:02x} at {error.start}, which is not "
                "UTF-8; decode the bytes first."
            ) from None
    if not isinstance(value, str):
        remedy = (
            "leave it out or replace it by a text"
            if _is_missing(value)
            else "convert it to a string"
        )
        raise ValueError(f"{where} is {_show(value)}, not a text; {remedy}.")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{where} has half of a surrogate pair at character {error.start}, which is no "
            "Unicode; read the text with its right encoding."
        ) from None
    return str(value)


def _is_tensor(value) -> bool:
    return tf.is_tensor(value) and hasattr(value, "numpy")


def _is_missing(value) -> bool:
    """Returns whether a value stands for a missing one: None, NaN, pandas' NA and NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, numbers.Real) and value != value


def _show(value) -> str:
    return f"{_shorten(repr(value))} ({type(value).__name__})"


def _shorten(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
