"""The arguments of a `TextClassifier` and of its `fit`: classes, texts and labels."""

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from numbers import Integral
from operator import attrgetter
from typing import Any, Callable, Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.keras_version import is_keras_3
from disan_tf.common.options import count, suggestion
from disan_tf.models.base import SENTENCE
from disan_tf.serving.fine_tuning.multi_label import read_label_sets
from disan_tf.serving.inference.inputs import are_two_columns, is_single, read_inputs
from disan_tf.serving.inference.records import Columns, usual_columns
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
    if isinstance(classes, (str, bytes, set, frozenset)):
        kind = "one string" if isinstance(classes, (str, bytes)) else "a set, which has no order"
        raise ValueError(f"classes={classes!r} is {kind}; write a list of names.")
    names = tuple(classes)
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"classes={names} must be strings, the names of the classes.")
    names = tuple(map(str, names))  # of NumPy's strings
    if len(names) < 2 or len({name.strip() for name in names}) < len(names):
        raise ValueError(f"classes={names} must be at least two different names.")
    if not all(name.strip() for name in names):
        raise ValueError(f"classes={names} must be names, but one of them is blank.")
    if num_classes not in (None, len(names)):
        raise ValueError(
            f"num_classes={num_classes}, but classes has {len(names)} names; give one of the two."
        )
    return names


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
    if len(fields) == 2 and _are_columns(x):
        x = {columns.texts[field][0]: column for field, column in zip(fields, x)}
    records = read_inputs(x, columns)
    texts = tuple(
        np.array([columns.find_text(record, field) for record in records], object)
        for field in fields
    )
    return texts if len(texts) > 1 else texts[0]


def _columns_of(fields: Sequence[str]) -> Columns:
    """Returns the usual columns: a classifier reads texts, and no lists of tokens."""
    return usual_columns(fields)._replace(are_chosen=True)


class _ClassNumbers(np.ndarray):
    """Class numbers that `fine_tune` has read, and `fit` must not take for names of classes."""


def are_numbers(labels: Any) -> bool:
    """Returns whether labels are class numbers that `read_examples` has returned."""
    return isinstance(labels, _ClassNumbers)


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


def read_examples(
    x: Any, y: Any, fields: Sequence[str], classes: Sequence[str], kind: Optional[str]
) -> tuple:
    """Converts texts and labels to what Keras reads.

    Datasets, generators and `Sequence`s have labels inside, and are converted batch by batch. For
    predictions, whose `kind` is None, a generator may also yield texts, pairs or records.
    Class numbers replace class names; if all names are whole numbers, integer labels are names.
    `kind` is a result of `labels_of`: for "rows", one-hot rows replace both, and given rows stay as
    they are; for "", all numeric labels do; "sets" are the labels of `read_label_sets`. For None,
    labels may be missing and are not read.

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
    texts = x if are_ids(x) else read_texts(x, fields)
    _check_labels(y is not None, kind)
    return texts, _read_labels(y, texts, classes, kind)


def are_ids(x: Any) -> bool:
    """Returns whether an input holds word ids: arrays or tensors with integer dtypes alone."""
    parts = tf.nest.flatten(x)
    return bool(parts) and all(
        getattr(getattr(part, "dtype", None), "name", "").startswith(("int", "uint"))
        for part in parts
    )


def read_batch_labels(labels: Any, classes: Sequence[str]) -> Any:
    """Returns the class numbers of one or more labels; one-hot rows stay as they are.

    Names and numbers of classes become numbers, see `class_numbers`. The result is a NumPy array,
    or in a graph a tensor.
    """
    labels = _single_column(labels)
    if not tf.is_tensor(labels) or tf.executing_eagerly():
        labels = np.asarray(labels)
        if labels.ndim > 1 and labels.shape[1:] != (1,):
            return labels
        return class_numbers(labels.ravel().tolist(), classes).reshape(labels.shape[:1])
    if labels.shape.rank == 2:
        if labels.shape[1] != 1:
            return labels
        labels = labels[:, 0]

    def encode(values: np.ndarray) -> np.ndarray:
        return class_numbers(values.ravel().tolist(), classes).reshape(values.shape)

    return tf.ensure_shape(tf.numpy_function(encode, [labels], tf.int64), labels.shape)


def read_weights(weights: Any) -> Any:
    """Returns sample weights; lists become arrays, since Keras misreads lists."""
    return np.asarray(weights, np.float32) if isinstance(weights, (list, tuple)) else weights


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


def leave_out_empty_images(weights: Sequence[tf.Variable], callbacks: Any) -> None:
    """Turns off TensorBoard's images if a weight is empty, which would end the process."""
    empty = [weight.name for weight in weights if 0 in weight.shape]
    for callback in tf.nest.flatten(callbacks or []) if empty else []:
        if isinstance(callback, tf.keras.callbacks.TensorBoard) and callback.write_images:
            sentence = (
                f"TensorBoard cannot draw the empty weight {empty[0]}; no images are written."
            )
            warnings.warn(sentence, stacklevel=3)
            callback.write_images = False


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


def _check_labels(are_given: bool, kind: Optional[str]) -> None:
    if not are_given and kind is not None:
        raise ValueError(
            "the labels are missing; give the name or number of each text's class: as y, or as "
            "(texts, labels) in datasets, batches and validation_data."
        )


def _single_column(labels: Any) -> Any:
    """Returns the labels of a mapping of one column, such as {"label": ...}, and others as is."""
    if not isinstance(labels, Mapping):
        return labels
    if len(labels) != 1:
        raise ValueError(f"the labels have the columns {', '.join(labels)}; give one of them.")
    return next(iter(labels.values()))


@contextmanager
def plain_errors() -> Iterator[None]:
    """Replaces TensorFlow's report on a wrong label in a dataset by the ValueError behind it."""
    try:
        yield
    except tf.errors.InvalidArgumentError as error:
        found = re.search(r"ValueError: (label \d+ is .*)", error.message)
        if not found:
            raise
        raise ValueError(found[1]) from None


def _read_labels(y: Any, texts: Any, classes: Sequence[str], kind: Optional[str]) -> Any:
    if y is None or isinstance(y, _ClassNumbers):
        return y
    if kind == "sets":
        return read_label_sets(y, classes, _count(texts))
    labels = np.asarray(_single_column(y))
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if _is_read(kind, labels.ndim, labels.dtype.kind in "OUST"):
        return labels
    count = _count(texts)
    if labels.shape != (count,):
        raise ValueError(
            f"give one name or number of a class for each of the {count} texts; the labels have "
            f"the shape {labels.shape} ({type(y).__name__}){_hint(labels.shape, classes)}."
        )
    return _encode(labels, classes, kind).view(_ClassNumbers)


def _count(texts: Any) -> int:
    return len(tf.nest.flatten(texts)[0] if isinstance(texts, (tuple, Mapping)) else texts)


def _hint(shape: tuple[int, ...], classes: Sequence[str]) -> str:
    are_rows = len(shape) == 2 and shape[1] == len(classes)
    hint = "; one-hot rows need a loss such as CategoricalCrossentropy, which fine_tune lacks"
    return hint * are_rows


def _is_read(kind: Optional[str], axes: Optional[int], are_names: bool) -> bool:
    """Returns whether Keras reads labels as they are."""
    return kind is None or (not are_names and (not kind or (kind == "rows" and axes != 1)))


def _encode(labels: np.ndarray, classes: Sequence[str], kind: Optional[str]) -> np.ndarray:
    numbers = class_numbers(labels.tolist(), classes)
    return np.eye(len(classes), dtype=np.float32)[numbers] if kind == "rows" else numbers


def _read_batch(batch: Any, **read: Any) -> tuple:
    are_texts = isinstance(batch, list) and any(map(is_single, batch))
    parts = batch if isinstance(batch, (tuple, list)) and not are_texts else [batch]
    if any(map(is_single, parts)):
        raise ValueError(
            "a batch is one text; give batches of texts, or list(texts) for a generator of texts."
        )
    x, *others = _with_pair(parts, fields=read["fields"])  # as Keras reads tuples and lists
    texts, labels = read_examples(x, others[0] if others else None, **read)
    if is_keras_3():  # it rejects arrays of objects
        texts = tf.nest.map_structure(tf.constant, texts)
    return (texts, labels, *map(read_weights, others[1:])) if others else (texts,)


def _with_pair(parts: Sequence, fields: Sequence[str]) -> list:
    """Returns the parts of a batch, of which the texts of a pair are one.

    Two columns of texts may be the first two parts, and a tensor [batch, 2] may hold them.
    """
    x, *others = parts
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


def _read_dataset(
    dataset: tf.data.Dataset, fields: Sequence[str], classes: Sequence[str], kind: Optional[str]
) -> tf.data.Dataset:
    @tf.autograph.experimental.do_not_convert  # its errors would be tracebacks
    def convert(*parts: Any) -> tuple:
        texts, *others = _with_pair(parts, fields)
        if isinstance(texts, Mapping) and not are_ids(texts):
            texts = _texts_of(texts, fields)
        _check_labels(bool(others), kind)
        others[:1] = map(_single_column, others[:1])
        if others and tf.is_tensor(others[0]):
            others[0] = _label_tensor(others[0], classes, kind)
        return (texts, *others)  # also for texts alone: Keras would read a pair as (x, y)

    return dataset.map(convert, tf.data.AUTOTUNE)


def tensors_of(texts: Any, fields: Sequence[str]) -> list[tf.Tensor]:
    """Returns <string>[batch] for each field of tensors, or of what `read_texts` reads.

    Raises:
      ValueError: another number of texts than fields, or a text is missing.
    """
    if not any(map(tf.is_tensor, tf.nest.flatten(texts))):
        texts = read_texts(texts, fields)
    texts = _texts_of(texts, fields) if isinstance(texts, Mapping) else texts
    columns = list(texts) if isinstance(texts, (list, tuple)) else [texts]
    if len(columns) != len(fields):
        given = f"{len(columns)} text{'s' * (len(columns) != 1)}"
        raise ValueError(f"{given} given, {len(fields)} expected: {', '.join(fields)}.")
    return [tf.reshape(column, [-1]) for column in columns]


def _texts_of(texts: Mapping, fields: Sequence[str]) -> Any:
    """Returns the texts of a mapping by name: a tensor, or for pairs a tuple of two."""
    columns = _columns_of(fields)
    if missing := columns.find_missing(texts):
        names = " or ".join(f'"{name}"' for name in missing)
        raise ValueError(
            f"there is no {names} among the inputs {', '.join(texts)}; rename an input."
        )
    values = tuple(columns.find_text(texts, field) for field in fields)
    return values if len(values) > 1 else values[0]


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


def _label_tensor(labels: tf.Tensor, classes: Sequence[str], kind: Optional[str]) -> tf.Tensor:
    """Returns the labels of a batch as `_read_labels` does."""
    if kind == "sets":
        if labels.shape.rank != 2 or labels.shape[1] not in (None, len(classes)):
            raise ValueError(
                f"the dataset's labels have the shape {labels.shape}; give batches with "
                f"{len(classes)} numbers, 0 or 1, for each text."
            )
        return tf.cast(labels, tf.float32)
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
    encode = partial(_encode, classes=classes, kind=kind)
    return tf.ensure_shape(tf.numpy_function(encode, [labels], dtype), shape)


def _are_columns(x: Any) -> bool:
    """Returns whether `x` holds two columns: a tuple, or a list that cannot be a list of pairs."""
    if not isinstance(x, (tuple, list)) or len(x) != 2:
        return False
    if any(is_single(column) or isinstance(column, (tuple, Mapping)) for column in x):
        return False
    return isinstance(x, tuple) or any(not isinstance(it, list) or len(it) != 2 for it in x)
