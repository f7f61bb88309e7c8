"""Reads the labels of a classifier: names and numbers of classes, and the rows of a loss."""

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from numbers import Integral
from typing import Any, Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.checks import count, suggestion
from disan_tf.serving.fine_tuning.multi_label import read_label_sets
from disan_tf.serving.fine_tuning.texts import are_ids
from disan_tf.text.labels import class_numbers
from disan_tf.text.tokenizer_rules import clean_text


def read_classes(
    classes: Optional[Iterable[str]], num_classes: Optional[int] = None
) -> tuple[str, ...]:
    """Returns the names of new classes, "0", "1", ... for a number of classes, and () for None.

    Raises:
      ValueError: a name is wrong, there are fewer than two classes, or both arguments differ.
    """
    if num_classes is not None and num_classes < 2:
        raise ValueError(f"num_classes={num_classes} must be a whole number of at least 2.")
    if classes is None:
        return tuple(map(str, range(num_classes or 0)))
    if isinstance(classes, Integral):
        raise ValueError(
            f"classes={classes} must be a list of names; for a number of classes, give "
            f"num_classes={classes}."
        )
    if isinstance(classes, (str, bytes, set, frozenset, Mapping)):
        kind = "one string" if isinstance(classes, (str, bytes)) else "a set, which has no order"
        kind = "a mapping, whose values are ignored" if isinstance(classes, Mapping) else kind
        remedy = "write a list of names in the order of their class numbers"
        raise ValueError(f"classes={classes!r} is {kind}; {remedy}.")
    names = tuple(classes)
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"classes={names} must be strings, the names of the classes.")
    names = tuple(map(str.__str__, names))  # of NumPy's strings and of string enumerations
    if len(names) < 2 or len({name.strip() for name in names}) < len(names):
        raise ValueError(f"classes={names} must be at least two different names.")
    if not all(name.strip() for name in names):
        raise ValueError(f"classes={names} must be names, but one of them is blank.")
    if num_classes not in (None, len(names)):
        raise ValueError(
            f"num_classes={num_classes}, but classes has {len(names)} names; give one of the two."
        )
    return names


def labels_of(loss: Any) -> str:
    """Returns what labels a loss reads: class "numbers", one-hot "rows", or "" if unknown.

    Keras' losses read rows, except the sparse ones. A loss of your own reads what the Keras loss
    that it extends reads.
    """
    for name in loss_names(loss):
        return "numbers" if name.lower().startswith("sparse") else "rows"
    return ""


def loss_names(loss: Any) -> list[str]:
    """Returns the names of Keras' losses in `loss`; a subclass has its base's name."""
    found = []
    for it in tf.nest.flatten(loss):
        if isinstance(it, str):
            names = [it]
        else:
            is_loss = isinstance(it, tf.keras.losses.Loss)
            names = [*map(_name_in_keras, type(it).__mro__ if is_loss else [it])]
        found += list(filter(None, names))[:1]
    return found


def _name_in_keras(loss: Any) -> str:
    """Returns the name of one of Keras' loss functions or classes, "" for all else."""
    if getattr(loss, "__module__", "").split(".")[0] not in ("keras", "tf_keras"):
        return ""
    is_base = isinstance(loss, type) and not issubclass(loss, tf.keras.losses.Loss)
    return "" if is_base or loss.__name__ in ("Loss", "LossFunctionWrapper") else loss.__name__


class _ClassNumbers(np.ndarray):
    """Class numbers that `fine_tune` has read, and `fit` must not take for names of classes."""


def are_numbers(labels: Any) -> bool:
    """Returns whether labels are class numbers that `read_examples` has returned."""
    return isinstance(labels, _ClassNumbers)


def read_labels(y: Any, texts: Any, classes: Sequence[str], kind: Optional[str]) -> Any:
    """Returns the labels of a list or an array, see `read_examples`.

    Raises:
      ValueError: a label is wrong, or the numbers of texts and labels differ.
    """
    if y is None or kind is None or isinstance(y, _ClassNumbers):
        return y
    if kind == "sets":
        return read_label_sets(y, classes, _count(texts))
    labels = _as_array(single_column(y))
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if _is_read(kind, labels.ndim, labels.dtype.kind in "OUST"):
        return labels
    number = _count(texts)
    if labels.shape != (number,):
        raise ValueError(
            f"give one name or number of a class for each of the {number} texts; the labels have "
            f"the shape {labels.shape} ({type(y).__name__}){_hint(labels.shape, classes)}."
        )
    return _encode(labels, classes, kind, are_ids(texts)).view(_ClassNumbers)


def label_tensor(labels: tf.Tensor, texts: Any, classes: Sequence[str], kind: str) -> tf.Tensor:
    """Returns the labels of a batch as `read_labels` does."""
    if kind == "sets":
        is_ragged = isinstance(labels, tf.RaggedTensor)
        if is_ragged or labels.shape.rank != 2 or labels.shape[1] not in (None, len(classes)):
            raise ValueError(
                f"the dataset's labels have the shape {labels.shape}; give batches with "
                f"{len(classes)} numbers, 0 or 1, for each text."
            )
        shape = labels.shape[:1].concatenate([len(classes)])
        read_rows = partial(read_label_sets, classes=classes)
        return tf.ensure_shape(tf.numpy_function(read_rows, [labels], tf.float32), shape)
    if labels.shape.rank == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if _is_read(kind, labels.shape.rank, labels.dtype == tf.string):
        return labels
    if labels.shape.rank not in (1, None):
        raise ValueError(
            f"the dataset's labels have the shape {labels.shape}; give batches with one name or "
            f"number of a class for each text{_hint(labels.shape, classes)}."
        )
    shape = labels.shape.concatenate([len(classes)] if kind == "rows" else [])
    dtype = tf.float32 if kind == "rows" else tf.int64
    encode = partial(_encode, classes=classes, kind=kind, beside_ids=are_ids(texts))
    return tf.ensure_shape(tf.numpy_function(encode, [labels], dtype), shape)


def read_batch_labels(labels: Any, classes: Sequence[str], is_one: bool) -> Any:
    """Returns the class numbers of one or more labels; one-hot rows stay as they are.

    If `is_one`, the labels belong to a single text, and several numbers are its one-hot row.

    Names and numbers of classes become numbers, see `class_numbers`. The result is a NumPy array,
    or in a graph a tensor.
    """
    labels = single_column(labels)
    if not tf.is_tensor(labels) or tf.executing_eagerly():
        labels = _as_array(labels)
        is_row = labels.ndim > 1 and labels.shape[1:] != (1,)
        if is_row or (is_one and labels.size > 1):
            return labels
        return class_numbers(labels.ravel().tolist(), classes).reshape(labels.shape[:1])
    if is_one and labels.shape.rank == 1 and labels.shape[0] not in (None, 1):
        return labels
    if labels.shape.rank == 2:
        if labels.shape[1] != 1:
            return labels
        labels = labels[:, 0]

    def encode(values: np.ndarray) -> np.ndarray:
        return class_numbers(values.ravel().tolist(), classes).reshape(values.shape)

    return tf.ensure_shape(tf.numpy_function(encode, [labels], tf.int64), labels.shape)


def read_class_weights(weights: Any, classes: Sequence[str]) -> Optional[dict[int, float]]:
    """Returns the weight of each class by its number, 1 by default; None for None.

    Raises:
      ValueError: the weights do not map names or numbers of classes.
    """
    if weights is None:
        return None
    if not isinstance(weights, Mapping):
        raise ValueError(f"class_weight={weights!r} must map classes to weights.")
    for name, weight in weights.items():
        if isinstance(name, str) and name not in classes:
            raise ValueError(
                f"class_weight has the key {name!r}, which is none of the {len(classes)} classes"
                f"{suggestion(name, classes)}"
            )
        if isinstance(weight, (str, bytes)) or not np.isscalar(weight):
            raise ValueError(f"class_weight: the weight of {name!r} is {weight!r}, not a number.")
        if not 0 <= weight < float("inf"):
            raise ValueError(
                f"class_weight: the weight of {name!r} is {weight}; it must be a finite number of "
                "at least 0."
            )
    try:
        numbers = class_numbers(weights, classes).tolist()
    except ValueError as error:
        raise ValueError(f"class_weight: {error}") from None
    return {**dict.fromkeys(range(len(classes)), 1.0), **dict(zip(numbers, weights.values()))}


def check_labels(are_given: bool, kind: Optional[str]) -> None:
    """Raises ValueError if labels are missing that `kind`, see `read_examples`, asks for."""
    if not are_given and kind is not None:
        raise ValueError(
            "the labels are missing; give the name or number of each text's class: as y, or as "
            "(texts, labels) in datasets, batches and validation_data."
        )


def warn_of_labels(texts: Any, labels: Any, classes: Sequence[str]) -> None:
    """Warns if all texts have one class, or if equal texts have several.

    `labels` are class numbers; other labels, and texts in datasets or batches, are not compared.
    """
    if not isinstance(labels, _ClassNumbers) or labels.ndim != 1 or not len(labels):
        return
    numbers = labels.tolist()
    if len(numbers) > 1 and len({*numbers}) == 1:
        sentence = f"All {len(numbers):,} texts have the class {classes[numbers[0]]}."
        warnings.warn(sentence, stacklevel=3)
    if are_ids(texts):
        return
    columns = texts if isinstance(texts, tuple) else (texts,)
    first: dict[tuple, int] = {}
    mixed: dict[tuple, int] = {}
    for row, number in zip(zip(*columns), numbers):
        seen = tuple(map(clean_text, row))
        if first.setdefault(seen, number) != number:
            mixed.setdefault(seen, number)
    if mixed:
        seen, number = next(iter(mixed.items()))
        names = f"{classes[first[seen]]} and {classes[number]}"
        kind = count(len(mixed), "text" if len(columns) == 1 else "pair")
        shown = repr(seen[0] if len(seen) == 1 else seen)[:80]
        sentence = f"{kind} with several classes, such as {shown} ({names})."
        warnings.warn(sentence, stacklevel=3)


# The errors of `read_labels`, `read_label_sets` and `read_weights` in a dataset.
_PLAIN = r"ValueError: ((?:label \d+ (?:is|has)|sample weight \d+ is|give a list of names) .*)"


@contextmanager
def plain_errors() -> Iterator[None]:
    """Replaces TensorFlow's report on a dataset's wrong label or weight by the ValueError."""
    try:
        yield
    except tf.errors.InvalidArgumentError as error:
        found = re.search(_PLAIN, error.message)
        if not found:
            raise
        raise ValueError(found[1]) from None


def single_column(labels: Any) -> Any:
    """Returns the labels of a mapping of one column, such as {"label": ...}, and others as is."""
    if not isinstance(labels, Mapping):
        return labels
    if len(labels) != 1:
        raise ValueError(f"the labels have the columns {', '.join(labels)}; give one of them.")
    return next(iter(labels.values()))


def _as_array(labels: Any) -> np.ndarray:
    """Returns labels as an array; NumPy would name members of a string enumeration "Stars.ONE"."""
    are_names = isinstance(labels, (list, tuple)) and any(isinstance(it, str) for it in labels)
    return np.asarray(labels, object if are_names else None)


def _is_read(kind: str, axes: Optional[int], are_names: bool) -> bool:
    """Returns whether Keras reads labels as they are."""
    return not are_names and (not kind or (kind == "rows" and axes != 1))


def _encode(labels: np.ndarray, classes: Sequence[str], kind: str, beside_ids: bool) -> np.ndarray:
    numbers = class_numbers(labels.tolist(), classes, numbers_are_names=not beside_ids)
    return np.eye(len(classes), dtype=np.float32)[numbers] if kind == "rows" else numbers


def _hint(shape: tuple[int, ...], classes: Sequence[str]) -> str:
    are_rows = len(shape) == 2 and shape[1] == len(classes)
    hint = "; one-hot rows need a loss such as CategoricalCrossentropy, which fine_tune lacks"
    return hint * are_rows


def _count(texts: Any) -> int:
    return len(tf.nest.flatten(texts)[0] if isinstance(texts, (tuple, Mapping)) else texts)
