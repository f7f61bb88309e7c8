"""The share of a global batch that one replica of a `tf.distribute` strategy computes.

Inside `sharing`, layers and training steps know the whole batch; elsewhere a batch is whole, and
the functions here give back what they are given.
"""

import contextlib
import threading
from collections.abc import Iterator
from typing import NamedTuple, Optional

import tensorflow as tf

_scope = threading.local()  # each replica is traced in a thread of its own


class Share(NamedTuple):
    """Consecutive rows of a global batch.

    Attributes:
      rows: <int32>[], of this replica; at least 1.
      first: <int32>[], the place of the first one in the global batch.
      batch: <int32>[], rows of the global batch.
      is_real: <int32>[], 1; 0 where the batch has too few rows for this replica, which then
        computes a row of another one, and counts for nothing.
    """

    rows: tf.Tensor
    first: tf.Tensor
    batch: tf.Tensor
    is_real: tf.Tensor

    @property
    def fraction(self) -> tf.Tensor:
        """The replica's part of the global batch, <float32>[]."""
        return tf.cast(self.is_real * self.rows / self.batch, tf.float32)


@contextlib.contextmanager
def sharing(share: Share) -> Iterator[None]:
    """Inside, what this thread calls or traces is of a share."""
    _scope.share = share
    try:
        yield
    finally:
        _scope.share = None


def current() -> Optional[Share]:
    """The share of this thread; None where batches are whole."""
    return getattr(_scope, "share", None)


def part_of_mean(mean: tf.Tensor) -> tf.Tensor:
    """What a mean over the rows of a share adds to that over the global batch."""
    share = current()
    return mean if share is None else mean * share.fraction


def part_of_all(value: tf.Tensor) -> tf.Tensor:
    """What each of the replicas adds to a value that all of them have."""
    return value if current() is None else value / _replicas()


def total(x):
    """The sums over the replicas of <float>[...], with gradients, or of a list of tensors."""
    if current() is None:
        return x
    return tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, x)


def real_rows(x: tf.Tensor) -> tf.Tensor:
    """x <float or int>[rows, ...], times 0 where the rows count for nothing."""
    share = current()
    return x if share is None else x * tf.cast(share.is_real, x.dtype)


def all_rows(x: tf.Tensor) -> tf.Tensor:
    """The rows of the global batch, <int32>[batch, ...], of those of each share."""
    share = current()
    if share is None:
        return x
    after = share.batch - share.first - share.rows
    others = [[0, 0]] * (x.shape.rank - 1)
    return total(tf.pad(real_rows(x), [[share.first, after], *others]))


def mean_of_tokens(sums: tf.Tensor, count: tf.Tensor) -> tf.Tensor:
    """sums / count <float32>[], or 0 of no tokens; of a share, what has that as replicas' mean."""
    if current() is None:
        return tf.math.divide_no_nan(sums, count)
    return tf.math.divide_no_nan(real_rows(sums) * _replicas(), total(real_rows(count)))


def _replicas() -> float:
    return float(tf.distribute.get_replica_context().num_replicas_in_sync)
