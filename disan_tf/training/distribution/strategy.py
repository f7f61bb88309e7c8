"""Training on replicas: compiled steps, shares of the batches, sums, messages of processes."""

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from typing import Callable, Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.common.paths import PathLike
from disan_tf.common.process import owned
from disan_tf.input_pipeline import Split, make_dataset
from disan_tf.ops import batch_share
from disan_tf.ops.batch_share import Share
from disan_tf.training.compilation import Compiler
from disan_tf.training.optimizers import sum_rows

STOP = "stop"
_STOP = tf.TensorSpec([], tf.float32, name=STOP)
_SHARE = tf.TensorSpec([len(Share._fields)], tf.int32, name="share")


class Distribution:
    """The devices of this process, and its communication with other processes.

    Args:
      strategy: a mirrored or multi-worker strategy; None = one process on one device.

    Attributes:
      replicas: the number of replicas in all processes, which share each batch.
      workers: the number of processes.
      is_chief: whether this process evaluates, and writes the training's files.
    """

    def __init__(self, strategy: Optional[tf.distribute.Strategy] = None):
        self._strategy = strategy
        self.replicas = self.workers = 1
        number, local = 0, 1
        if strategy is not None:
            resolver, local = strategy.cluster_resolver, len(strategy.extended.worker_devices)
            self.replicas = strategy.num_replicas_in_sync
            self.workers = self.replicas // local
            number = worker_number(resolver) if self.workers > 1 else 0
        self.is_chief = number == 0
        self._local = range(number * local, (number + 1) * local)
        self._sum = tf.function(self._sum_on_replicas, reduce_retracing=True)

    def scope(self) -> contextlib.AbstractContextManager:
        """Returns a context in which variables and steps are made on all replicas."""
        return self._strategy.scope() if self._strategy else contextlib.nullcontext()

    @contextlib.contextmanager
    def writing(self, workdir: PathLike) -> Iterator[None]:
        """Lets the chief own the work directory, see `owned`; silences the other processes."""
        if self.is_chief:
            with owned(workdir):
                yield
            return
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            yield

    def dataset(self, split: Split, batches: np.ndarray):
        """Returns a plan's batches, or this process' shares of them, see `make_shared_dataset`."""
        if self._strategy is None:
            return make_dataset(split, batches)
        return make_shared_dataset(split, batches, self.replicas, self._local)

    def inputs(self, batch, names, is_to_stop: bool) -> list:
        """Returns a `compiled_step`'s arguments, from an element of `dataset` and a stop flag."""
        if self._strategy is None:
            return [batch[name] for name in names]
        tensors = [share[name] for share in batch for name in ("share", *names)]
        return [tf.constant(float(is_to_stop)), *tensors]

    def by_chief(self, function: Callable):
        """Calls a function in the chief alone; returns its JSON result in all processes."""
        if self.workers == 1:
            return function()
        content = json.dumps(function()).encode() if self.is_chief else b""
        (size,) = self._chief_numbers([len(content)])
        return json.loads(bytes(self._chief_numbers([*content.ljust(size, b"\0")])[:size].tolist()))

    @contextlib.contextmanager
    def chief_first(self) -> Iterator[None]:
        """Runs its block in all processes, first in the chief."""
        if not self.is_chief:
            self.by_chief(lambda: None)
        yield
        if self.is_chief:
            self.by_chief(lambda: None)

    def check_same(self, name: str, value) -> None:
        """Raises UserError unless all processes have the same value, which JSON must hold."""
        message = json.dumps(value, sort_keys=True)
        if self.by_chief(lambda: message) != message:
            raise UserError(
                f"this worker has another {name} than the first one; give all workers the same "
                "command, code and data."
            )

    def _chief_numbers(self, numbers):
        """Returns the chief's numbers, <int32>[n]; other processes add zeros."""
        message = tf.constant(numbers, tf.int32) * int(self.is_chief)
        return self._sum(message).numpy()

    def _sum_on_replicas(self, numbers):
        def add():
            is_first = replica_number() % len(self._local) == 0
            context = tf.distribute.get_replica_context()
            return context.all_reduce("SUM", numbers * int(is_first))

        return self._strategy.experimental_local_results(self._strategy.run(add))[0]


def worker_number(resolver: tf.distribute.cluster_resolver.ClusterResolver) -> int:
    """Returns this process' number among the workers; a chief has number 0."""
    jobs = resolver.cluster_spec().as_dict()
    return resolver.task_id + (len(jobs.get("chief", ())) if resolver.task_type == "worker" else 0)


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
      compiler, rows: see `Compiler.compile`, which compiles the step if no strategy is in scope.

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


def summed(gradients: list, measured: dict) -> tuple[list, dict]:
    """Sums the gradients, of which some may be None, and the metrics <float32>[] over the replicas.

    A sparse gradient's rows are summed before they are sent.
    """
    if batch_share.current() is None:
        return gradients, measured
    known = [sum_rows(gradient) for gradient in gradients if gradient is not None]
    sums = batch_share.total([*known, tf.stack(list(measured.values()))])
    values, known = tf.unstack(sums.pop()), iter(sums)
    sums = [None if gradient is None else next(known) for gradient in gradients]
    return sums, dict(zip(measured, values))


def shares_of(batches: np.ndarray, replicas: int) -> np.ndarray:
    """Assigns the rows of each global batch to the replicas.

    Args:
      batches: a plan's batches, <int64>[batches, batch_size], negative = no example.
      replicas: their number. Each has consecutive rows; their counts differ by at most one.

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

    `local` has the numbers of this process' replicas, of `replicas`. An element is a tuple with one
    dictionary for each local replica: the tensors of `make_dataset`, and the numbers of a `Share`
    as "share" <int32>[4].
    """
    shares = tf.data.Dataset.from_tensor_slices(shares_of(batches, replicas)[:, local])

    def cut(batch, numbers):
        parts = []
        for share in tf.unstack(numbers, len(local)):
            rows = slice(share[1], share[1] + share[0])
            parts.append({"share": share, **{name: column[rows] for name, column in batch.items()}})
        return tuple(parts)

    return tf.data.Dataset.zip((make_dataset(split, batches), shares)).map(cut)
