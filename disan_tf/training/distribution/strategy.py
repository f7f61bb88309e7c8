"""One process of a training: its shares of the batches, and messages between processes."""

import contextlib
import json
import os
from collections.abc import Iterator
from typing import Callable, Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.common.files import PathLike
from disan_tf.common.locks import owned
from disan_tf.input_pipeline import Split, make_dataset
from disan_tf.training.distribution.replicas import make_shared_dataset, replica_number


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

    def copy_counts(self, model: tf.keras.Model) -> None:
        """Copies the chief's random counters to all processes: its samplers draw in evaluations."""
        if self.workers > 1:
            counts = [weight for weight in model.weights if weight.dtype.is_integer]
            values = self.by_chief(lambda: [int(count.numpy()) for count in counts])
            for count, value in zip(counts, values):
                count.assign(value)

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
