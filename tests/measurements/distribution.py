"""Training pairs per second of two workers beside one process, and what they exchange.

    python -m tests.measurements.distribution --output=distribution.json
    python -m tests.measurements.distribution --batch_sizes 64 512 --steps 30 --repetitions 5

DiSAN on pairs of SNLI's lengths and random ids: one process with two threads, and two workers on
the loopback address with one thread each, each on a processor of its own. All train the same
batches, in new processes for each repetition, in turns. Prints as tables the medians, the bytes a
step sends (of the loopback device, nothing else may use it; beside them what the gradients have),
how long a sum of so many numbers alone takes, and an estimate of many machines from them.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import numpy as np
import tensorflow as tf

from configs.disan_snli import get_config
from disan_tf.benchmark.epoch import plan_of, snli_shaped_split
from disan_tf.benchmark.step import build
from disan_tf.common.files import write_json
from disan_tf.training.distribution.cluster import make_distribution
from disan_tf.training.methods.back_propagation import BackPropagation
from tests.measurements.distribution_estimate import Measured, estimate_tables
from tests.measurements.threads import set_threads
from tests.support.runs.workers import free_addresses, tf_config

WARM_UPS = 6  # steps, or exchanges
EXCHANGES = 20
MODULE = "tests.measurements.distribution"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch_sizes", type=int, nargs="+", default=[64, 512])
    parser.add_argument("--steps", type=int, default=30, help="of 64 pairs; of more pairs fewer")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--role", help="internal: what a process of a measurement does")
    options = parser.parse_args()
    if options.role:
        print(json.dumps(train(options.role, options.batch_sizes[0], options.steps)))
        return
    records = [measure(size, options.steps, options.repetitions) for size in options.batch_sizes]
    for record in records:
        print(json.dumps(record))
    print(estimate_tables([Measured(**record["for_estimate"]) for record in records]))
    if options.output:
        write_json(options.output, records)


def measure(batch_size: int, steps: int, repetitions: int) -> dict:
    """Both ways in turns: medians of pairs per second and of bytes, and their ratio."""
    steps = max(4, steps * 64 // batch_size)
    runs = {"one": [], "two": []}
    for _ in range(repetitions):
        runs["one"].append(_run(["none"], batch_size, steps)[0])
        runs["two"].append(_run(["multi_worker"] * 2, batch_size, steps)[0])
    speeds = {name: [run["pairs_per_second"] for run in each] for name, each in runs.items()}
    one, two = (statistics.median(speeds[name]) for name in ("one", "two"))
    alone = _run(["none"], batch_size // 2, steps, processors=[0])[0]  # a worker's share, alone
    return {
        "batch_size": batch_size,
        "steps": steps,
        "pairs_per_second": speeds,
        "ratio": two / one,
        "sent_per_step": statistics.median(run["sent_per_step"] for run in runs["two"]),
        "exchange_seconds": statistics.median(run["exchange_seconds"] for run in runs["two"]),
        "for_estimate": {
            "pairs": batch_size // 2,
            "seconds": batch_size // 2 / alone["pairs_per_second"],
            "dense_bytes": alone["dense_bytes"],
            "sparse_bytes": alone["sparse_bytes"],
        },
    }


def _run(distributions, batch_size, steps, processors=None) -> list[dict]:
    """One process for each entry, all at the same time; what they print."""
    addresses, processes = free_addresses(len(distributions)), []
    for number, name in enumerate(distributions):
        own = [number] if len(distributions) > 1 else processors or [0, 1]
        command = [
            sys.executable,
            "-m",
            MODULE,
            f"--role={name}:{','.join(map(str, own))}",
            f"--batch_sizes={batch_size}",
            f"--steps={steps}",
        ]
        environment = {**os.environ, "TF_CONFIG": tf_config(addresses, number)}
        processes.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE))
    printed = [process.communicate()[0] for process in processes]
    return [json.loads(text.splitlines()[-1]) for text in printed]


def train(role: str, batch_size: int, steps: int) -> dict:
    """What one process measures of training on its processors."""
    name, _, processors = role.partition(":")
    processors = {int(number) for number in processors.split(",")}
    os.sched_setaffinity(0, processors)
    set_threads(len(processors))
    config = get_config().unlock()
    config.train.batch_size, config.train.distribution = batch_size, name
    distribution = make_distribution(name)
    with distribution.scope():
        model = build(config)
        method = BackPropagation(model, config.train, config.dtype)
    split = snli_shaped_split(config.seed)
    plan = plan_of(config, split)
    batches = iter(distribution.dataset(split, plan))
    names = *model.reads, "label"

    def run(count):
        for batch in islice(batches, count):
            method.train(0, *distribution.inputs(batch, names, False))

    run(WARM_UPS)
    sent, started = _sent_on_loopback(), time.monotonic()
    run(steps)
    seconds, sent = time.monotonic() - started, _sent_on_loopback() - sent
    pairs = int(np.sum(plan[WARM_UPS : WARM_UPS + steps] >= 0))
    counts = _gradient_bytes(model, split, plan[WARM_UPS : WARM_UPS + steps])
    return {
        "pairs_per_second": pairs / seconds,
        "sent_per_step": sent / steps / distribution.workers,
        "exchange_seconds": _exchange_seconds(distribution, int(sum(counts.values())) // 4),
        **counts,
    }


def _exchange_seconds(distribution, numbers) -> float:
    """The median time of a sum of so many <float32> over the workers, and nothing else."""
    if distribution.workers == 1:
        return 0.0
    own = tf.zeros([numbers])
    with distribution.scope():
        strategy = tf.distribute.get_strategy()

    @tf.function
    def exchange():
        context = tf.distribute.get_replica_context
        return strategy.run(lambda: context().all_reduce(tf.distribute.ReduceOp.SUM, own))

    times = []
    for _ in range(WARM_UPS + EXCHANGES):
        started = time.monotonic()
        exchange()
        times.append(time.monotonic() - started)
    return statistics.median(times[WARM_UPS:])


def _sent_on_loopback() -> int:
    """The bytes that all processes have sent to each other since the machine started."""
    lines = Path("/proc/net/dev").read_text().splitlines()
    (counts,) = (line.split(":")[1] for line in lines if line.strip().startswith("lo:"))
    return int(counts.split()[8])


def _gradient_bytes(model, split, batches) -> dict:
    """Of a step: those of dense gradients, and of the embedding's distinct rows and their ids."""
    table = model.embedding.trained
    dense = sum(np.prod(w.shape) for w in model.trainable_weights if w is not table)
    rows = [len(np.unique(_ids(split, batch[batch >= 0]))) for batch in batches]
    return {
        "dense_bytes": int(4 * dense),
        "sparse_bytes": float(np.mean(rows) * (4 * table.shape[1] + 8)),
    }


def _ids(split, examples):
    pieces = [
        split.ids[field][split.offsets[field][k] : split.offsets[field][k + 1]]
        for field in split.fields
        for k in examples
    ]
    return np.concatenate(pieces)


if __name__ == "__main__":
    main()
