"""A training step on a strategy's replicas: compilation, shares of the batch, sums."""

from collections.abc import Sequence
from typing import Optional

import numpy as np
import tensorflow as tf

from disan_tf.input_pipeline import Split, make_dataset
from disan_tf.ops import batch_share
from disan_tf.ops.batch_share import Share
from disan_tf.training.compilation import Compiler

STOP = "stop"
_STOP = tf.TensorSpec([], tf.float32, name=STOP)
_SHARE = tf.TensorSpec([len(Share._fields)], tf.int32, name="share")


def compiled_step(
    step,
    signature: Sequence[tf.TensorSpec],
    compiler: Optional[Compiler] = None,
    rows: Optional[int] = None,
):
    """Compiles `step`, which is traced once, or by XLA once for each shape.

    Args:
      step: a function of tensors that returns a dictionary of tensors.
      signature: the specs of its arguments.
      compiler: compiles the step if no strategy is in scope; None = TensorFlow does.
      rows: the examples of a whole batch, see `Compiler.compile`.

    Returns:
      A function. If a strategy is in scope, its first argument is whether this process must stop,
      <float32>[]; the sum over the replicas is added to the results as `STOP`. Then follow, for
      each local replica, the numbers of a `Share` <int32>[4] and the arguments of `step`. The
      results of `step` must be the same on all replicas, see `summed`.
    """
    if not tf.distribute.has_strategy():
        return (compiler or Compiler()).compile(step, signature, rows)
    strategy = tf.distribute.get_strategy()
    signature = [_SHARE, *signature]  # for one replica
    local = len(strategy.extended.worker_devices)

    @tf.function(input_signature=[_STOP, *signature * local], autograph=False)
    def on_replicas(is_to_stop, *tensors):
        def replica():
            number = replica_number() % local
            share, *batch = tensors[number * len(signature) :][: len(signature)]
            with batch_share.sharing(Share(*tf.unstack(share))):
                stop = batch_share.total(tf.identity(is_to_stop))
                return {STOP: stop, **step(*batch)}

        measured = strategy.run(replica)
        return {
            name: strategy.experimental_local_results(column)[0]
            for name, column in measured.items()
        }

    return on_replicas


def replica_number() -> int:
    """Returns the number of the traced replica among all processes' replicas."""
    number = tf.distribute.get_replica_context().replica_id_in_sync_group
    return int(tf.get_static_value(tf.convert_to_tensor(number)))


def summed(gradients: list, measured: dict, by_row: bool = True) -> tuple[list, dict]:
    """Sums the gradients and the metrics <float32>[] over the replicas.

    Args:
      gradients: a step's gradients; None stays None.
      measured: the metrics by name.
      by_row: whether a sparse gradient's rows are summed before they are sent. If not,
        `tf.linalg.global_norm`, which takes each occurrence of a row, equals that of one process.
    """
    if batch_share.current() is None:
        return gradients, measured
    known = [gradient for gradient in gradients if gradient is not None]
    known = [_by_row(gradient) for gradient in known] if by_row else known
    sums = batch_share.total([*known, tf.stack(list(measured.values()))])
    values, known = tf.unstack(sums.pop()), iter(sums)
    sums = [None if gradient is None else next(known) for gradient in gradients]
    return sums, dict(zip(measured, values))


def _by_row(gradient):
    """Sums the occurrences of each row in a sparse gradient, so that less is sent."""
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    rows, places = tf.unique(gradient.indices)
    values = tf.math.unsorted_segment_sum(gradient.values, places, tf.size(rows))
    return tf.IndexedSlices(values, rows, gradient.dense_shape)


def shares_of(batches: np.ndarray, replicas: int) -> np.ndarray:
    """Assigns the rows of each global batch to the replicas.

    Args:
      batches: a plan's batches, <int64>[batches, batch_size], negative = no example.
      replicas: the number of replicas. Each has consecutive rows, and their counts differ by
        at most one.

    Returns:
      The numbers of a `Share`, <int32>[batches, replicas, 4].
    """
    sizes = np.sum(batches >= 0, axis=1)[:, None]
    ends = sizes * np.arange(1, replicas + 1) // replicas
    first = sizes * np.arange(replicas) // replicas
    is_real = ends > first
    first = np.where(is_real, first, 0)
    rows = np.maximum(ends - first, 1) * is_real + ~is_real
    columns = [rows, first, np.broadcast_to(sizes, rows.shape), is_real]
    return np.stack(columns, axis=-1).astype(np.int32)


def make_shared_dataset(split: Split, batches: np.ndarray, replicas: int, local: range):
    """Makes a dataset of this process' shares of the batches, padded like the global batches.

    Args:
      split: the examples.
      batches: see `make_dataset`.
      replicas: the number of replicas.
      local: the numbers of this process' replicas.

    Returns:
      A dataset of tuples with one dictionary for each local replica: the tensors of
      `make_dataset`, and the numbers of a `Share` as "share" <int32>[4].
    """
    shares = tf.data.Dataset.from_tensor_slices(shares_of(batches, replicas)[:, local])

    def cut(batch, numbers):
        parts = []
        for share in tf.unstack(numbers, len(local)):
            rows = slice(share[1], share[1] + share[0])
            parts.append({"share": share, **{name: column[rows] for name, column in batch.items()}})
        return tuple(parts)

    return tf.data.Dataset.zip((make_dataset(split, batches), shares)).map(cut)
