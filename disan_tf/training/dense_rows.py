"""Gradients of tables for XLA, whose shapes cannot depend on the number of distinct rows."""

import contextlib
from collections.abc import Iterator

import tensorflow as tf

_LAZY = (tf.keras.optimizers.legacy.Adadelta, tf.keras.optimizers.legacy.Adagrad)


def dense_gradient(gradient):
    """Sums the occurrences of each row of a sparse gradient; returns a dense gradient."""
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    rows = gradient.dense_shape[0]
    return tf.math.unsorted_segment_sum(gradient.values, gradient.indices, rows)


@contextlib.contextmanager
def keeping_untouched_rows(optimizer, gradients: list, weights: list) -> Iterator[None]:
    """Restores the rows outside sparse gradients after an optimizer's step on dense gradients.

    Adadelta's and Adagrad's sparse steps change only the rows of the batch, weights and slots. For
    Adam and RMSProp, a sparse step is equal to the dense step.
    """
    optimizer = _innermost(optimizer)
    kept = []
    for gradient, weight in zip(gradients, weights):
        if isinstance(gradient, tf.IndexedSlices) and isinstance(optimizer, _LAZY):
            slots = (optimizer.get_slot(weight, name) for name in optimizer.get_slot_names())
            ones = tf.ones_like(gradient.indices)
            counts = tf.math.unsorted_segment_sum(ones, gradient.indices, weight.shape[0])
            kept += [(table, table.read_value(), counts > 0) for table in (weight, *slots)]
    yield
    for variable, before, changes in kept:
        variable.assign(tf.where(changes[:, None], variable.read_value(), before))


def _innermost(optimizer):
    """Returns the optimizer inside a loss scale and a moving average."""
    while True:
        inner = getattr(optimizer, "inner_optimizer", getattr(optimizer, "_optimizer", None))
        if inner is None:
            return optimizer
        optimizer = inner
