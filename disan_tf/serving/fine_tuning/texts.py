"""Reads the texts of a classifier: columns, records and tensors."""

from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np
import tensorflow as tf

from disan_tf.models.base import SENTENCE
from disan_tf.serving.inference.inputs import as_mapping, is_single, read_inputs
from disan_tf.serving.inference.records import Columns, usual_columns


def read_texts(x: Any, fields: Sequence[str]) -> Any:
    """Returns an array of strings; for pairs, whose texts may be two columns, a tuple of two.

    Raises:
      ValueError: an item is no text, or no pair; the message has its position.
    """
    if isinstance(x, tf.distribute.DistributedDataset):
        raise ValueError(
            "x is a distributed dataset; give the dataset itself, and Keras distributes it."
        )
    columns = _columns_of(fields)
    if len(fields) == 2 and _are_columns(x, columns):
        x = {columns.texts[field][0]: column for field, column in zip(fields, x)}
    records = read_inputs(x, columns)
    texts = tuple(
        np.array([columns.find_text(record, field) for record in records], object)
        for field in fields
    )
    return texts if len(texts) > 1 else texts[0]


def list_texts(texts: Any, fields: Sequence[str]) -> list[str]:
    """Returns the texts of `read_texts` in one list; a model of pairs takes single texts too."""
    texts = list(texts) if hasattr(texts, "__next__") else texts
    try:
        columns = read_texts(texts, fields)
    except ValueError:
        if len(fields) == 1:
            raise
        columns = read_texts(texts, SENTENCE)
    return np.concatenate(columns).tolist() if isinstance(columns, tuple) else columns.tolist()


def tensors_of(texts: Any, fields: Sequence[str]) -> list[tf.Tensor]:
    """Returns <string>[batch] for each field of tensors, or of what `read_texts` reads.

    Raises:
      ValueError: the numbers of texts and fields differ, a text is missing, or a tensor does not
        hold one string for each text.
    """
    if not any(map(tf.is_tensor, tf.nest.flatten(texts))):
        texts = read_texts(texts, fields)
    texts = select_texts(texts, fields) if isinstance(texts, Mapping) else texts
    columns = list(texts) if isinstance(texts, (list, tuple)) else [texts]
    if len(columns) != len(fields):
        given = f"{len(columns)} text{'s' * (len(columns) != 1)}"
        raise ValueError(f"{given} given, {len(fields)} expected: {', '.join(fields)}.")
    columns = [it if tf.is_tensor(it) else tf.constant(it) for it in columns]
    check_tensors(columns)
    return [tf.reshape(column, [-1]) for column in columns]


def select_texts(texts: Mapping, fields: Sequence[str]) -> Any:
    """Returns the texts of a mapping by name: a tensor, or for pairs a tuple of two."""
    columns = _columns_of(fields)
    if missing := columns.find_missing(texts):
        names = " or ".join(f'"{name}"' for name in missing)
        raise ValueError(
            f"there is no {names} among the inputs {', '.join(texts)}; rename an input."
        )
    values = tuple(columns.find_text(texts, field) for field in fields)
    return values if len(values) > 1 else values[0]


def are_ids(x: Any, fields: Optional[Sequence[str]] = None) -> bool:
    """Returns whether an input holds word ids: integers [batch, length], in arrays or tensors.

    A mapping must have the names in `fields`, unless these are None; other names are ignored.
    """
    if fields is not None and isinstance(x, Mapping):
        if not {*fields} <= {*x}:
            return False
        x = [x[field] for field in fields]
    parts = tf.nest.flatten(x)
    return bool(parts) and all(
        getattr(getattr(part, "dtype", None), "name", "").startswith(("int", "uint"))
        and tf.TensorShape(part.shape).rank in (2, None)
        for part in parts
    )


def check_tensors(texts: Any) -> None:
    """Raises ValueError unless tensors hold strings, [batch] or [batch, 1]; or one string."""
    for part in tf.nest.flatten(texts):
        if part.dtype != tf.string:
            raise ValueError(
                f"the texts have the dtype {part.dtype.name} and the shape {part.shape}; give "
                "strings, or word ids [batch, length]."
            )
        axes = part.shape.as_list() if part.shape.rank else []
        if isinstance(part, tf.RaggedTensor) or axes[1:] not in ([], [1]):
            raise ValueError(
                f"the texts have the shape {part.shape}; give one string for each text, not a "
                "list of tokens."
            )


def _columns_of(fields: Sequence[str]) -> Columns:
    """Returns the usual columns; a classifier reads texts and refuses lists of tokens."""
    return usual_columns(fields)._replace(are_chosen=True)


def _are_columns(x: Any, columns: Columns) -> bool:
    """Returns whether `x` holds two columns: a tuple, or a list that cannot be a list of pairs."""
    if not isinstance(x, (tuple, list)) or len(x) != 2:
        return False
    for item in x:
        named = as_mapping(item)
        is_record = named is not None and columns.find_missing(named) is None
        if is_record or is_single(item) or isinstance(item, (tuple, Mapping)):
            return False
    return isinstance(x, tuple) or any(not hasattr(it, "__len__") or len(it) != 2 for it in x)
