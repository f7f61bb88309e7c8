"""Opens the devices that `config.train.distribution` names, and reports lost workers."""

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Iterator

import tensorflow as tf

from disan_tf.common.errors import Stopped, UserError
from disan_tf.training.distribution.strategy import Distribution, worker_number

LOST = os.EX_TEMPFAIL  # exit status: the same commands may succeed later
_RESOLVERS = tf.distribute.cluster_resolver
_HELP = "docs/how_to/several_machines.md shows both"
# Errors of collective operations whose partner ended.
_BROKEN = (
    tf.errors.AbortedError,
    tf.errors.CancelledError,
    tf.errors.DeadlineExceededError,
    tf.errors.UnavailableError,
)


def make_distribution(name: str = "none") -> Distribution:
    """Makes the distribution that `train.distribution` names; several workers wait for each other.

    With several workers, call this before TensorFlow has computed anything. Raises UserError if
    the description of the cluster is missing or wrong.
    """
    if name == "none":
        return Distribution()
    if name == "mirrored":
        return Distribution(tf.distribute.MirroredStrategy())
    resolver = find_workers()
    number, workers = worker_number(resolver), _workers(resolver)
    print(
        f"worker {number + 1} of {len(workers)}, {workers[number]}; the first one reports",
        flush=True,
    )
    return Distribution(tf.distribute.MultiWorkerMirroredStrategy(resolver))


@contextlib.contextmanager
def open_devices(name: str = "none") -> Iterator[Distribution]:
    """Yields `make_distribution(name)`; turns errors about a lost worker into `Stopped`."""
    devices = make_distribution(name)
    try:
        yield devices
    except tf.errors.OpError as error:
        is_broken = isinstance(error, _BROKEN) or "Collective ops is aborted" in str(error)
        if devices.workers == 1 or not is_broken:
            raise
        raise Stopped(
            "another worker ended or cannot be reached; start all workers again with the same "
            "commands, and they go on from the last checkpoint.",
            LOST,
        ) from None


def find_workers() -> _RESOLVERS.ClusterResolver:
    """Finds all workers and this worker's number, from TF_CONFIG or Slurm's variables."""
    if "TF_CONFIG" in os.environ:
        return _from_tf_config(os.environ["TF_CONFIG"])
    if "SLURM_PROCID" in os.environ:
        return _from_slurm()
    raise UserError(
        "--config.train.distribution=multi_worker needs the addresses of the workers: set TF_CONFIG"
        f", or start them with srun; {_HELP}."
    )


def _from_tf_config(text: str) -> _RESOLVERS.ClusterResolver:
    try:
        content = json.loads(text)
        resolver = _RESOLVERS.TFConfigClusterResolver()
        workers, task = _workers(resolver), content["task"]
        resolver.cluster_spec().task_address(task["type"], int(task["index"]))
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"the environment variable TF_CONFIG does not describe workers ({error}); {_HELP}."
        ) from None
    others = content["cluster"].keys() - {"chief", "worker"}
    if others or not workers:
        raise UserError(
            f"TF_CONFIG has {', '.join(sorted(others)) or 'no workers'}; it may have one chief, "
            f"and must have workers; {_HELP}."
        )
    return resolver


def _from_slurm() -> _RESOLVERS.ClusterResolver:
    """Returns the job step's tasks; works without a GPU, where TensorFlow's own resolver fails."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    has_gpus = shutil.which("nvidia-smi") if visible is None else visible not in ("", "-1")
    without = {"gpus_per_node": sys.maxsize, "gpus_per_task": 1, "auto_set_gpu": False}
    try:
        slurm = _RESOLVERS.SlurmClusterResolver(
            port_base=int(os.environ.get("DISAN_TF_PORT", 8888)), **({} if has_gpus else without)
        )
        cluster = slurm.cluster_spec()
    except (RuntimeError, ValueError) as error:
        raise UserError(f"Slurm does not describe the workers ({error}); {_HELP}.") from None
    return _RESOLVERS.SimpleClusterResolver(
        cluster,
        task_type=slurm.task_type,
        task_id=slurm.task_id,
        rpc_layer="grpc",
        num_accelerators=slurm.num_accelerators() if has_gpus else {},
    )


def _workers(resolver) -> list[str]:
    """Returns the addresses of all workers, the chief's first."""
    jobs = resolver.cluster_spec().as_dict()
    return [*jobs.get("chief", ()), *jobs.get("worker", ())]
