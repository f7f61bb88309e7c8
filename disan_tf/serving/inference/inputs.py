"""Reads texts that people hold in Python: lists, records, data frames, arrays and tensors."""

import numbers
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.checks import join_choices
from disan_tf.common.errors import UserError
from disan_tf.serving.inference.records import SINGLE, Columns, check_record, text_name

_SHOWN = 40  # characters of a value in an error


def read_inputs(inputs: Iterable, columns: Columns = SINGLE) -> list[dict]:
    """Returns a record for each text, pair or record, in their order.

    The inputs are a list, an array, a pandas Series, a string tensor or another iterable, whose
    items are texts, for two fields pairs (or an array [items, 2]), or records: dictionaries, named
    tuples or pandas Series with the names in `columns`. Or they are a table with these names: a
    DataFrame, a `datasets.Dataset`, a structured array, or a dictionary of columns. A text is a
    string, bytes in UTF-8 or a scalar string tensor. A `tf.data` dataset may be batched or not; its
    labels are ignored.

    Raises:
      ValueError: an item is no text; the message has its position and its type.
    """
    if is_single(inputs):
        raise ValueError("a list of texts is expected, not one string; write [text].")
    names = _column_names(inputs)
    if names is not None:
        return _read_table(inputs, names, columns)
    if isinstance(inputs, AbstractSet):
        raise ValueError("a set has no order; give a list of texts.")
    if not isinstance(inputs, Iterable):
        raise ValueError(f"a list of texts is expected, not {_show(inputs)}.")
    if isinstance(inputs, tf.data.Dataset):
        inputs = iter(_without_batches(inputs, columns))
    items = list(inputs.numpy() if _is_tensor(inputs) else inputs)
    is_pair = isinstance(inputs, (list, tuple)) and len(columns.fields) == len(items) == 2
    if is_pair and all(_is_column(item) and len(item) == 2 for item in items):
        raise ValueError(
            "two lists of two strings may be rows or columns; give a list of tuples (first, "
            "second), or a dictionary of columns."
        )
    return [_read_item(item, f"item {place}", columns) for place, item in enumerate(items)]


def read_input(item, columns: Columns = SINGLE) -> dict:
    """Returns the record of one text, pair or record; see `read_inputs`."""
    return _read_item(item, "the input", columns)


def is_single(inputs) -> bool:
    """Returns whether `inputs` is one text: a string, bytes or a scalar string tensor."""
    if isinstance(inputs, (str, bytes)):
        return True
    is_scalar = _is_tensor(inputs) and inputs.shape.rank == 0 and inputs.dtype == tf.string
    return is_scalar or (isinstance(inputs, np.ndarray) and inputs.ndim == 0)


def check_count(name: str, value) -> int:
    """Returns an argument; raises ValueError unless it is a whole number above 0."""
    is_number = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_number or value < 1:
        raise ValueError(f"{name}={value!r} must be a whole number of at least 1.")
    return int(value)


def _column_names(inputs) -> Optional[list]:
    """Returns the names of a table's columns; None if `inputs` is no table with named columns."""
    if isinstance(inputs, Mapping):
        if any(is_single(value) or value is None for value in inputs.values()):
            raise ValueError(
                f"a dictionary of texts, with the keys {_list_names(inputs)}, is "
                "given where a list is expected; write [record], or list(texts.values())."
            )
        return list(inputs)
    if isinstance(inputs, np.ndarray):
        return None if inputs.dtype.names is None else list(inputs.dtype.names)
    for attribute in ("column_names", "columns"):  # of datasets and Arrow; of pandas and polars
        is_attribute = hasattr(type(inputs), attribute)  # pandas also has columns as attributes
        names = getattr(inputs, attribute) if is_attribute else None
        if names is not None and not callable(names):
            return list(names)
    return None


def _without_batches(dataset: tf.data.Dataset, columns: Columns) -> Iterable:
    """Returns single texts, pairs or records of a dataset, without labels."""
    spec = dataset.element_spec
    if isinstance(spec, tuple) and not hasattr(spec, "_fields"):
        is_pair = len(columns.fields) == 2 and are_two_columns(spec)
        dataset = dataset.map((lambda *parts: parts[:2]) if is_pair else lambda texts, *_: texts)
        spec = dataset.element_spec
    if isinstance(spec, Mapping):
        spec = [spec[name] for names in columns.texts.values() for name in names if name in spec]
    axes = [part.shape.rank for part in tf.nest.flatten(spec)]
    if None in axes:  # the elements tell what the spec does not
        elements = list(dataset)
        axes = [part.shape.rank for part in tf.nest.flatten(elements[:1])]
        return (
            chain.from_iterable(map(_rows, elements)) if _are_batches(axes, columns) else elements
        )
    return dataset.unbatch() if _are_batches(axes, columns) else dataset


def _are_batches(axes: Sequence[int], columns: Columns) -> bool:
    return bool(axes) and None not in axes and min(axes) > (len(axes) < len(columns.fields))


def _rows(batch) -> list:
    """Returns the elements of a batch, which may be a structure of tensors."""
    parts = map(tf.unstack, tf.nest.flatten(batch))
    return [tf.nest.pack_sequence_as(batch, row) for row in zip(*parts)]


def are_two_columns(parts: Sequence) -> bool:
    """Returns whether the first two parts of a tuple are tensors, or their specs, of two texts.

    A first part with an axis of two texts would be a pair by itself.
    """
    texts = [part for part in parts[:2] if getattr(part, "dtype", None) == tf.string]
    if len(texts) < 2:
        return False
    ranks, last = [text.shape.rank for text in texts], texts[0].shape[-1:]
    return ranks[0] == ranks[1] and not (ranks[0] == 2 and last == [2])


def _read_table(table, names: list, columns: Columns) -> list[dict]:
    """Returns the records of a table with named columns."""
    found = (_columns_of(table, names, field, columns) for field in columns.fields)
    chosen = chain.from_iterable(found)
    read = {name: list(map(_cell, table[name])) for name in chosen}
    counts = {name: len(values) for name, values in read.items()}
    if len({*counts.values()}) > 1:
        described = " and ".join(f"{name} has {count:,}" for name, count in counts.items())
        raise ValueError(f"the columns must have equally many texts, but {described}.")
    return [
        _read_record(_present(dict(zip(read, row)), columns), f"item {place}", columns)
        for place, row in enumerate(zip(*read.values()))
    ]


def _columns_of(table, names: list, field: str, columns: Columns) -> list[str]:
    """Returns the columns of a table that hold a field: its text, its list of tokens, or both."""
    known, key = columns.texts[field], columns.list_name(field)
    found = [name for name in known if name in names][:1]
    # Beside a text, a column "tokens" without lists is another one, such as a number of tokens.
    if key in names and (not found or any(_is_list(_cell(value)) for value in table[key])):
        found.append(key)
    for name in found:
        if names.count(name) > 1:
            raise ValueError(f"two columns are named {name}; rename one of them.")
    if not found:
        wanted = join_choices(f'"{name}"' for name in known)
        raise ValueError(
            f"there is no {wanted} among the columns {_list_names(names)}; rename a column."
        )
    return found


def _cell(value):
    """Returns the value of a table's cell; a list of tokens is a list."""
    for method in ("as_py", "to_list"):  # of Arrow and polars
        value = getattr(value, method)() if hasattr(value, method) else value
    return value


def _present(row: dict, columns: Columns) -> dict:
    """Returns a row of a table, with None for missing tokens and a missing text beside tokens."""
    lists, has_tokens = map(columns.list_name, columns.fields), any(map(_is_list, row.values()))
    absent = {*lists} | ({*row} if has_tokens else set())
    return {
        name: None if name in absent and _is_missing(value) else value
        for name, value in row.items()
    }


def _is_missing(value) -> bool:
    """Returns whether a cell is None, NaN, or pandas' NA."""
    is_nan = isinstance(value, float) and np.isnan(value)
    return value is None or is_nan or type(value).__name__ == "NAType"


def _is_list(value) -> bool:
    return isinstance(value, (list, tuple, np.ndarray)) or _is_tensor(value)


def _is_column(item) -> bool:
    """Returns whether an item is rather a column of texts than a row: a tuple or a record."""
    is_row = isinstance(item, tuple) or as_mapping(item) is not None
    return not (is_row or is_single(item)) and hasattr(item, "__len__")


def _read_item(item, where: str, columns: Columns) -> dict:
    """Returns the record of an item: a text, a pair, or a record."""
    item = item.numpy() if _is_tensor(item) else item
    named = as_mapping(item)
    if named is not None:
        return _read_record(dict(named), where, columns)
    item = item.to_list() if hasattr(item, "to_list") else item
    fields, parts = columns.fields, [item]
    if not is_single(item):
        if isinstance(item, (list, tuple, np.ndarray)):
            parts = list(item)
        elif len(fields) > 1:
            raise ValueError(f"{where} is {_show(item)}, not a pair of texts.")
    if len(parts) != len(fields) == 1:
        raise ValueError(
            f"{where} is {_show(item)} with {len(parts)} values, and the model reads one text; a "
            'list of tokens is written as {"tokens": [...]}.'
        )
    if len(parts) != len(fields):
        texts = "one text" if len(parts) == 1 else f"{len(parts)} texts"
        names = " and ".join(f'"{text_name(field)}"' for field in fields)
        raise ValueError(
            f"{where} is {texts} ({_shorten(repr(item))}), and the model reads pairs; write a "
            f"tuple of two texts, a record with {names}, or zip(first, second) for two columns."
        )
    texts = [
        as_text(part, where if len(fields) == 1 else f"{where}, text {place},")
        for place, part in enumerate(parts, start=1)
    ]
    return {columns.texts[field][0]: text for field, text in zip(fields, texts)}


def as_mapping(item) -> Optional[Mapping]:
    """Returns a record by name: a mapping, a named tuple, or a row of a pandas or NumPy table."""
    if isinstance(item, Mapping):
        return item
    if isinstance(item, tuple) and hasattr(item, "_asdict"):
        return item._asdict()
    is_series = hasattr(item, "to_list") and hasattr(item, "index")
    if is_series and all(isinstance(name, str) for name in item.index):
        return item.to_dict()
    if isinstance(item, np.void) and item.dtype.names:
        return dict(zip(item.dtype.names, item.tolist()))
    return None


def _read_record(record: dict, where: str, columns: Columns) -> dict:
    """Returns a record whose texts are strings."""
    for field, names in columns.texts.items():
        key, tokens = columns.list_name(field), columns.find_tokens(record, field)
        if _is_list(tokens) and not is_single(tokens):
            record[key] = [as_text(token, f"{where}, {key!r},") for token in tokens]
        for name in names:
            if tokens is not None and record.get(name, "") is None:
                del record[name]
            elif isinstance(record.get(name), (list, tuple)) and key and key not in record:
                raise ValueError(
                    f"{where}, {name!r}, is {_show(record[name])}; name a list of tokens {key!r}."
                )
            elif name in record:
                record[name] = as_text(record[name], f"{where}, {name!r},")
    try:
        return check_record(record, where, columns)
    except UserError as error:
        raise ValueError(str(error)) from None


def as_text(value, where: str) -> str:
    """Returns a string, bytes in UTF-8, or a scalar string tensor as a string.

    Raises:
      ValueError: the value is something else, or no Unicode; the message begins with `where`.
    """
    value = value.numpy() if _is_tensor(value) else value
    value = value.as_py() if hasattr(value, "as_py") else value  # Arrow's scalars
    value = value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
    try:
        value = value.decode("utf-8") if isinstance(value, bytes) else value
        if isinstance(value, str):
            value.encode("utf-8")
            return str.__str__(value)  # a string enumeration's str() is the member's name
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{where} has the byte 0x{value[error.start]:02x} at {error.start}, which is not "
            "UTF-8; decode the bytes first."
        ) from None
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{where} has half of a surrogate pair at character {error.start}, which is no "
            "Unicode; read the text with its right encoding."
        ) from None
    raise ValueError(
        f"{where} is {_show(value)}, not a text; leave it out or convert it to a string."
    )


def _is_tensor(value) -> bool:
    return hasattr(value, "numpy") and tf.is_tensor(value)  # few texts reach the slow check


def _show(value) -> str:
    return f"{_shorten(repr(value))} ({type(value).__name__})"


def _list_names(names: Iterable) -> str:
    return _shorten(", ".join(map(str, names)))


def _shorten(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
