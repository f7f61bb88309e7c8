"""Labels, scores and losses of a classifier whose texts may have several classes, or none."""

from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.checks import suggestion
from disan_tf.layers.serialization import serializable
from disan_tf.serving.inference.inputs import as_mapping

_ONE_CLASS = ("sparse", "categorical")  # prefixes of losses' names
_OF_PROBABILITIES = ("crossentropy", "bce", "kl_divergence", "kldivergence", "kld", "poisson")
_BINARY = ("binary", "bce", "hinge", "squared_hinge", "squaredhinge")


@serializable
class F1OfProbabilities(tf.keras.metrics.F1Score):
    """Keras' F1 score, also for labels of unknown shape, which Keras 2 passes from generators."""

    def update_state(self, y_true: tf.Tensor, y_pred: tf.Tensor, sample_weight: Any = None) -> Any:
        y_pred = tf.convert_to_tensor(y_pred)
        y_true = tf.ensure_shape(y_true, [None, y_pred.shape[-1]])
        return super().update_state(y_true, y_pred, sample_weight)


@serializable
class F1OfLogits(F1OfProbabilities):
    """Keras' F1 score for logits; a class counts above a probability of .5."""

    def __init__(
        self,
        average: Optional[str] = "micro",
        name: str = "micro_f1",
        dtype: Any = None,
        threshold: float = 0.5,
    ) -> None:
        super().__init__(average=average, threshold=threshold, name=name, dtype=dtype)

    def update_state(self, y_true: tf.Tensor, y_pred: tf.Tensor, sample_weight: Any = None) -> Any:
        return super().update_state(y_true, tf.sigmoid(y_pred), sample_weight)


def default_metrics(are_logits: bool) -> list:
    """Returns micro and macro F1 at a threshold of .5 for logits or probabilities."""
    score = F1OfLogits if are_logits else F1OfProbabilities
    return [score(name, threshold=0.5, name=f"{name}_f1") for name in ("micro", "macro")]


def check_loss(loss: Any, name: str, multi_label: bool, are_logits: bool) -> None:
    """Raises ValueError for a loss of Keras that does not fit a classifier's outputs.

    Args:
      loss: the loss, or its name.
      name: its name in Keras, see `loss_names`.
      multi_label: whether each class has an independent probability instead of a softmax.
      are_logits: whether the outputs are logits instead of probabilities.
    """
    word = name.lower()
    if multi_label and word.startswith(_ONE_CLASS):
        raise ValueError(
            f"loss={name} expects one class for each text, but multi_label=True allows "
            "several; use BinaryCrossentropy(from_logits=True)."
        )
    if not multi_label and word.startswith(_BINARY):
        raise ValueError(
            f"loss={name} expects an independent probability for each class, but this "
            "classifier has a softmax; use SparseCategoricalCrossentropy(from_logits=True), or "
            "multi_label=True for texts with several classes."
        )
    reads_logits = isinstance(loss, tf.keras.losses.Loss) and loss.get_config().get("from_logits")
    if are_logits and word.endswith(_OF_PROBABILITIES) and not reads_logits:
        activation = "sigmoid" if multi_label else "softmax"
        raise ValueError(
            f"loss={name} expects probabilities, but the classifier returns logits; use a loss "
            f"with from_logits=True, or a classifier with activation='{activation}'."
        )
    if reads_logits and not are_logits:
        raise ValueError(
            f"loss={name} has from_logits=True, but the classifier returns probabilities; use "
            f"{name}()."
        )


def read_label_sets(y: Any, classes: Sequence[str], count: Optional[int] = None) -> np.ndarray:
    """Returns the labels of texts as rows <float32>[count, classes] of 0 and 1.

    Args:
      y: for each text a list of names, a row of 0 and 1, or a record (see `as_mapping`) of 0 and 1
        for each class, in any order; or a DataFrame or dictionary with a column of 0 and 1 for each
        class, in any order.
      classes: the names of the classes.
      count: the number of texts; None = as many as labels.

    Raises:
      ValueError: a name is no class, a number is neither 0 nor 1, or the shape does not fit.
    """
    if isinstance(y, Mapping) or hasattr(y, "columns"):
        y = _join_columns(y, classes)
    if hasattr(y, "dtype") and getattr(y, "ndim", len(getattr(y, "shape", ()))) == 2:
        y = np.asarray(y)
    if isinstance(y, np.ndarray) and y.ndim == 2 and y.dtype.kind in "biuf":
        rows = y
    else:
        sets = [_in_order(*item, classes) for item in enumerate(y)]
        if all(not isinstance(item, str) and _are_numbers(item) for item in sets) and any(
            len(item) for item in sets
        ):
            rows = _stack(sets)
        else:
            rows = np.stack([_row(*item, classes) for item in enumerate(sets)] or [np.zeros(0)])
    count = len(rows) if count is None else count
    if rows.shape != (count, len(classes)):
        raise ValueError(
            f"give a list of names, or {len(classes)} numbers, 0 or 1, for each of the {count} "
            f"texts; the labels have the shape {rows.shape}."
        )
    rows = rows.astype(np.float32)
    if not ((rows == 0) | (rows == 1)).all():
        position = int(np.argwhere((rows != 0) & (rows != 1))[0, 0])
        raise ValueError(
            f"label {position} is {rows[position].tolist()}; its numbers must be 0 or 1."
        )
    return rows


def _join_columns(table: Any, classes: Sequence[str]) -> np.ndarray:
    """Returns the columns of a table or mapping as an array, in the order of the classes."""
    names = list(table if isinstance(table, Mapping) else table.columns)
    keys = {_name(name): name for name in names}
    if {*keys} != {*classes} or len(names) != len(classes):
        kind = "mapping" if isinstance(table, Mapping) else "table"
        raise ValueError(
            f"the labels are a {kind} with the columns {', '.join(map(_name, names))[:80]}; they "
            f"must be the {len(classes)} classes, each once. Or give a list of names, or a row, "
            "for each text."
        )
    columns = [np.asarray(table[keys[name]]) for name in classes]
    if len({column.shape for column in columns}) > 1:
        lengths = sorted(map(np.size, columns))
        raise ValueError(f"the labels are columns of {lengths[0]} to {lengths[-1]} numbers.")
    return np.stack(columns, axis=-1)


def _in_order(position: int, item: Any, classes: Sequence[str]) -> Any:
    """Returns the values of a record in the order of the classes, and other items as they are."""
    record = as_mapping(item)
    if record is None or not (record or isinstance(item, Mapping)):
        return item  # also an empty Series, which may be a list of names
    values = {_name(name): value for name, value in record.items()}
    if {*values} != {*classes} or len(record) != len(classes):
        raise ValueError(
            f"label {position} has the names {', '.join(values)[:80]}; they must be the "
            f"{len(classes)} classes, each once."
        )
    return [values[name] for name in classes]


def _name(key: Any) -> str:
    """Returns a class name that a table may have as a number or as a string enumeration."""
    return str.__str__(key) if isinstance(key, str) else str(key)


def _are_numbers(item: Any) -> bool:
    return hasattr(item, "__len__") and all(
        isinstance(value, (int, float, np.number, np.bool_)) for value in item
    )


def _stack(sets: Sequence) -> np.ndarray:
    lengths = {len(item) for item in sets}
    if len(lengths) > 1:
        raise ValueError(f"the labels are rows of {min(lengths)} to {max(lengths)} numbers.")
    return np.array([list(item) for item in sets])


def _row(position: int, names: Any, classes: Sequence[str]) -> np.ndarray:
    """Returns a row for a list of names."""
    if isinstance(names, (str, bytes)) or not hasattr(names, "__iter__"):
        raise ValueError(
            f"label {position} is {str(names)[:40]!r}; give a list of names for each text, [] for "
            "none."
        )
    row = np.zeros(len(classes), np.float32)
    for name in names:
        name = name.decode("utf-8", "replace") if isinstance(name, bytes) else name
        if name not in classes:
            raise ValueError(
                f"label {position} has {str(name)[:40]!r}, which is none of the {len(classes)} "
                f"classes{suggestion(name, classes)}"
            )
        row[list(classes).index(name)] = 1.0
    return row
