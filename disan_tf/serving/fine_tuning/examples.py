"""Reads texts with their labels: arrays, datasets, generators and batches."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain, islice
from operator import attrgetter
from typing import Any, Callable, Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.keras_version import is_keras_3
from disan_tf.serving.fine_tuning.labels import (
    check_labels,
    label_tensor,
    read_labels,
    single_column,
)
from disan_tf.serving.fine_tuning.texts import are_ids, check_tensors, read_texts, select_texts
from disan_tf.serving.inference.inputs import are_two_columns, is_single


def read_examples(
    x: Any, y: Any, fields: Sequence[str], classes: Sequence[str], kind: Optional[str]
) -> tuple:
    """Converts texts and labels to what Keras reads.

    Datasets, generators and `Sequence`s contain labels, and are converted batch by batch. For
    predictions, whose `kind` is None, a generator may also yield texts, pairs or records.

    `kind` says what the labels become. "numbers": class names become class numbers; if all names
    are whole numbers, integer labels are names, but beside word ids they are class numbers, as the
    preprocessor returns them. "rows": names and numbers become one-hot rows, and rows stay as they
    are. "": names become numbers, and numeric labels stay as they are. "sets": see
    `read_label_sets`. None: labels are left out. See also `labels_of`.

    Raises:
      ValueError: the labels are missing, or a text or label is wrong; then the message has its
        position. For batches it is raised when the batch is read.
    """
    read: dict[str, Any] = {"fields": fields, "classes": classes, "kind": kind}
    if isinstance(x, tf.data.Dataset):
        return _read_dataset(x, **read), y
    if hasattr(x, "__next__") and kind is None:
        first = list(islice(x, 1))
        x = chain(first, x)
        if not first or _is_item(first[0], fields):
            is_labelled = len(fields) == 1 and first and isinstance(first[0], tuple)
            return read_texts([item[0] if is_labelled else item for item in x], fields), y
    if hasattr(x, "__next__"):
        return (_read_batch(batch, **read) for batch in x), y
    if hasattr(x, "on_epoch_end"):  # a `Sequence` of Keras 2 or a `PyDataset` of Keras 3
        return _Batches(x, partial(_read_batch, **read)), y
    texts = x if are_ids(x, fields) else read_texts(x, fields)
    check_labels(y is not None, kind)
    return texts, read_labels(y, texts, classes, kind)


def read_weights(weights: Any) -> Any:
    """Returns sample weights; lists and Series become arrays, since Keras misreads lists.

    Raises:
      ValueError: a weight is missing or not finite; the message has its position.
    """
    if weights is None:
        return None
    if isinstance(weights, Mapping):  # by output
        return {name: read_weights(of_output) for name, of_output in weights.items()}
    given = np.asarray(weights)
    are_numbers = given.dtype.kind in "biuf"
    convert = np.float32 if are_numbers else np.vectorize(_as_float, otypes=[np.float32])
    numbers = convert(given)
    are_wrong = ~np.isfinite(numbers).ravel()
    if are_wrong.any():
        place = int(are_wrong.argmax())
        raise ValueError(
            f"sample weight {place} is {given.ravel()[place]}; it must be a finite number, 0 to "
            "leave a text out."
        )
    return weights if are_numbers and isinstance(weights, np.ndarray) else numbers


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):  # None, pandas.NA, a string
        return float("nan")


def _read_batch(batch: Any, **read: Any) -> tuple:
    are_texts = isinstance(batch, list) and any(map(is_single, batch))
    parts = batch if isinstance(batch, (tuple, list)) and not are_texts else [batch]
    if any(map(is_single, parts)):
        raise ValueError(
            "a batch is one text; give batches of texts, or list(texts) for a generator of texts."
        )
    x, *others = _with_pair(parts, fields=read["fields"])  # as Keras reads tuples and lists
    others = others if read["kind"] is not None else []
    texts, labels = read_examples(x, others[0] if others else None, **read)
    if is_keras_3():  # it rejects arrays of objects
        texts = tf.nest.map_structure(tf.constant, texts)
    return (texts, labels, *map(read_weights, others[1:])) if others else (texts,)


def _with_pair(parts: Sequence, fields: Sequence[str]) -> list:
    """Returns the parts of a batch, with the two texts of a pair as one part.

    Two columns of texts may be the first two parts, and a tensor [batch, 2] may hold them.
    """
    x, *others = parts
    if len(fields) == 2 and others and isinstance(parts, list) and all(map(_is_row, parts)):
        raise ValueError(
            "a batch of lists of two strings may hold rows or columns; give a tuple of two columns."
        )
    if len(fields) == 2 and others and _are_two_columns(x, others[0]):
        return [(x, others[0]), *others[1:]]
    is_tensor = tf.is_tensor(x) and x.dtype == tf.string
    if len(fields) == 2 and is_tensor and x.shape.rank in (1, 2) and x.shape[-1] == 2:
        return [tuple(tf.unstack(x, axis=-1)), *others]
    return [x, *others]


def _are_two_columns(first: Any, second: Any) -> bool:
    if tf.is_tensor(first):
        return are_two_columns([first, second])
    are_lists = all(isinstance(column, (list, np.ndarray)) for column in (first, second))
    return are_lists and len(first) > 0 and all(map(is_single, [*first, *second]))


def _is_row(part: Any) -> bool:
    return isinstance(part, list) and len(part) == 2 and all(map(is_single, part))


def _is_item(value: Any, fields: Sequence[str]) -> bool:
    """Returns whether a generator's value is a text, a pair or a record, and no batch of them."""
    parts = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, (Mapping, tuple)) or (isinstance(value, list) and len(fields) == 2):
        return len(parts) > 0 and all(map(is_single, parts))
    return is_single(value)


class _Batches(tf.keras.utils.Sequence):
    """A `Sequence` that applies a function to the batches of another."""

    def __init__(self, batches: Any, read: Callable) -> None:
        self._batches, self._read = batches, read

    num_batches = property(attrgetter("_batches.num_batches"))  # Keras 3 reads these four
    workers = property(attrgetter("_batches.workers"))
    use_multiprocessing = property(attrgetter("_batches.use_multiprocessing"))
    max_queue_size = property(attrgetter("_batches.max_queue_size"))

    def __len__(self) -> int:
        return len(self._batches)

    def __getitem__(self, index: int) -> Any:
        return self._read(self._batches[index])

    def on_epoch_begin(self) -> None:
        if hasattr(self._batches, "on_epoch_begin"):  # absent in Keras 2
            self._batches.on_epoch_begin()

    def on_epoch_end(self) -> None:
        self._batches.on_epoch_end()


def _weight_tensor(weights: Optional[tf.Tensor]) -> Optional[tf.Tensor]:
    if weights is None:
        return None
    read = tf.numpy_function(read_weights, [weights], weights.dtype)
    return tf.ensure_shape(read, weights.shape)


def _read_dataset(
    dataset: tf.data.Dataset, fields: Sequence[str], classes: Sequence[str], kind: Optional[str]
) -> tf.data.Dataset:
    @tf.autograph.experimental.do_not_convert  # its errors would be tracebacks
    def convert(*parts: Any) -> tuple:
        texts, *others = _with_pair(parts, fields)
        if not are_ids(texts, fields):
            texts = select_texts(texts, fields) if isinstance(texts, Mapping) else texts
            check_tensors(texts)
        check_labels(bool(others), kind)
        if kind is None:
            return (texts,)  # in a tuple: Keras would read a pair as (x, y)
        labels = single_column(others[0])
        if tf.is_tensor(labels):
            labels = label_tensor(labels, texts, classes, kind)
        return (texts, labels, *map(_weight_tensor, others[1:]))

    return dataset.map(convert, tf.data.AUTOTUNE)
