"""One training step on the replicas of a `tf.distribute` strategy: shares, sums, compilation."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from disan_tf.input_pipeline import Split, make_dataset
from disan_tf.ops import batch_share
from disan_tf.ops.batch_share import Share

STOP = "stop"
_STOP = tf.TensorSpec([], tf.float32, name=STOP)
_SHARE = tf.TensorSpec([len(Share._fields)], tf.int32, name="share")


def compiled_step(step, signature: Sequence[tf.TensorSpec]):
    """`step`, traced once.

    Args:
      step: a function of tensors that returns a dictionary of tensors.
      signature: of these tensors.

    Returns:
      A function. Where a strategy is in scope, its first argument is whether this process is to
      stop <float32>[], of which the sum over the replicas is added to the results as `STOP`; then
      come the arguments of `step` for each local replica, with the numbers of a `Share` <int32>[4]
      before each. What `step` returns must be the same on all replicas, see `summed`.
    """
    if not tf.distribute.has_strategy():
        return tf.function(step, input_signature=signature, autograph=False)
    strategy = tf.distribute.get_strategy()
    signature = [_SHARE, *signature]  # of a replica
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
        return {name: strategy.experimental_local_results(it)[0] for name, it in measured.items()}

    return on_replicas


def replica_number() -> int:
    """That of the replica that is being traced, among those of all processes."""
    number = tf.distribute.get_replica_context().replica_id_in_sync_group
    return int(tf.get_static_value(tf.convert_to_tensor(number)))


def summed(gradients: list, measured: dict, by_row: bool = True) -> tuple[list, dict]:
    """The gradients and what was measured <float32>[], summed over the replicas.

    Args:
      gradients: of a step; None passes.
      measured: by name.
      by_row: whether the rows of sparse gradients are summed before they are sent. If not, what
        `tf.linalg.global_norm` gives, which takes each occurrence of a row, is that of one process.
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
    """A sparse gradient with each row once: less is sent than with each occurrence of a word."""
    if not isinstance(gradient, tf.IndexedSlices):
        return gradient
    rows, places = tf.unique(gradient.indices)
    values = tf.math.unsorted_segment_sum(gradient.values, places, tf.size(rows))
    return tf.IndexedSlices(values, rows, gradient.dense_shape)


def shares_of(batches: np.ndarray, replicas: int) -> np.ndarray:
    """Which rows of each global batch the replicas compute, <int32>[batches, replicas, 4].

    Args:
      batches: of a plan, <int64>[batches, batch_size], negative where there are no examples.
      replicas: of the strategy. Each has consecutive rows, as many as the others or one less.

    Returns:
      The numbers of a `Share`.
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
    """The shares of the batches of a plan, padded as the global batches are.

    Args:
      split: the examples.
      batches: see `make_dataset`.
      replicas: of the strategy.
      local: the numbers of those of this process.

    Returns:
      A dataset of tuples of a dictionary of `make_dataset` with the numbers of a `Share` as "share"
      <int32>[4], for each local replica.
    """
    shares = tf.data.Dataset.from_tensor_slices(shares_of(batches, replicas)[:, local])

    def cut(batch, numbers):
        parts = []
        for share in tf.unstack(numbers, len(local)):
            rows = slice(share[1], share[1] + share[0])
            parts.append({"share": share, **{name: it[rows] for name, it in batch.items()}})
        return tuple(parts)

    return tf.data.Dataset.zip((make_dataset(split, batches), shares)).map(cut)
