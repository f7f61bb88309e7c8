"""The share of a global batch that one replica of a `tf.distribute` strategy computes.

Inside `sharing`, layers and training steps compute a share of the global batch. Elsewhere a batch
is whole, and these functions return their arguments unchanged.
"""

import contextlib
import threading
from collections.abc import Iterator
from typing import NamedTuple, Optional

import tensorflow as tf

_scope = threading.local()  # each replica is traced in a thread of its own


class Share(NamedTuple):
    """Consecutive rows of a global batch, as <int32>[] numbers.

    If the batch has too few rows for a replica, it computes a row of another replica, which is not
    counted: `is_real` is 0 and otherwise 1.
    """

    rows: tf.Tensor  # number of rows of this replica; at least 1
    first: tf.Tensor  # index of the first row in the global batch
    batch: tf.Tensor  # number of rows in the global batch
    is_real: tf.Tensor

    @property
    def fraction(self) -> tf.Tensor:
        """The replica's fraction of the global batch, <float32>[]."""
        return tf.cast(self.is_real * self.rows / self.batch, tf.float32)


@contextlib.contextmanager
def sharing(share: Share) -> Iterator[None]:
    """Sets the share that this thread computes and traces inside the context."""
    _scope.share = share
    try:
        yield
    finally:
        _scope.share = None


def current() -> Optional[Share]:
    """Returns this thread's share; None if batches are whole."""
    return getattr(_scope, "share", None)


@contextlib.contextmanager
def counting(rows: Optional[tf.Tensor]) -> Iterator[None]:
    """Sets the number <int32>[] of a batch's first rows that are examples; None = all rows are."""
    before = getattr(_scope, "rows", None)
    _scope.rows = rows
    try:
        yield
    finally:
        _scope.rows = before


def mean_of_rows(x: tf.Tensor) -> tf.Tensor:
    """Returns the mean <float32>[] of <float32>[batch] over the examples, see `counting`."""
    rows = getattr(_scope, "rows", None)
    if rows is None:
        return tf.reduce_mean(x)
    is_example = tf.range(tf.size(x)) < rows
    return tf.reduce_sum(tf.where(is_example, x, 0.0)) / tf.cast(rows, x.dtype)


def part_of_mean(mean: tf.Tensor) -> tf.Tensor:
    """Scales the mean over a share's rows to its part of the global batch's mean."""
    share = current()
    return mean if share is None else mean * share.fraction


def part_of_all(value: tf.Tensor) -> tf.Tensor:
    """Divides a value that all replicas have by their number, so that the sum is the value."""
    return value if current() is None else value / _replicas()


def total(x):
    """Sums <float>[...], with gradients, or a list of tensors over the replicas."""
    if current() is None:
        return x
    return tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, x)


def real_rows(x: tf.Tensor) -> tf.Tensor:
    """Multiplies x <float or int>[rows, ...] by 0 if this replica's rows are not counted."""
    share = current()
    return x if share is None else x * tf.cast(share.is_real, x.dtype)


def all_rows(x: tf.Tensor) -> tf.Tensor:
    """Gathers all replicas' rows into the global batch, <int32>[batch, ...]."""
    share = current()
    if share is None:
        return x
    after = share.batch - share.first - share.rows
    others = [[0, 0]] * (x.shape.rank - 1)
    return total(tf.pad(real_rows(x), [[share.first, after], *others]))


def mean_of_tokens(sums: tf.Tensor, count: tf.Tensor) -> tf.Tensor:
    """Returns sums / count <float32>[], or 0 without tokens.

    In a share, the mean over the replicas' results is the mean over the global batch's tokens.
    """
    if current() is None:
        return tf.math.divide_no_nan(sums, count)
    return tf.math.divide_no_nan(real_rows(sums) * _replicas(), total(real_rows(count)))


def _replicas() -> float:
    return float(tf.distribute.get_replica_context().num_replicas_in_sync)
