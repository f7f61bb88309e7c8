"""How many lines a second and core the Beam pipeline answers, beside `--mode=predict`.

    python -m tests.measurements.beam_throughput --checkpoint=disan_sst5 --lines=40000

draws lines of 1 to 40 words of the model's vocabulary, runs both commands on all lines and on a
quarter of them, in turns, and prints for each way to run them the medians of

    beam, 2 processes of 1 thread: 612 lines a second and core, 1.62 ms of CPU a line; start 11.3 s

Rates are those of the three quarters between: the start of processes, loading and tracing fall out.
CPU time is that of all processes, and tells more where the machine does something else besides.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from disan_tf.serving.beam.steps import thread_variables
from disan_tf.serving.presets import find_bundle
from disan_tf.text.lookup import VOCABULARY

PREDICT = ("run.py", "--mode=predict")
BEAM = ("-m", "disan_tf.serving.beam", "--threads=1")
PART = 4  # the smaller input is 1 / PART of the larger


class Way(NamedTuple):
    """A way to predict lines: a command, the variables of its environment, the cores it may use."""

    command: tuple
    variables: Mapping[str, str]
    cores: int


def main() -> None:
    """Prints a line for each way."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpoint", default="disan_sst5")
    parser.add_argument("--lines", type=int, default=40_000)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    options = parser.parse_args()
    ways = _ways(options.workers)
    with tempfile.TemporaryDirectory() as folder:
        inputs = [
            _write(Path(folder) / f"{count}.txt", options.checkpoint, count)
            for count in (options.lines // PART, options.lines)
        ]
        costs = {name: [] for name in ways}
        for _ in range(options.repetitions):
            for name, way in ways.items():
                costs[name].append([_run(way, options.checkpoint, path) for path in inputs])
    print(f"load {os.getloadavg()[0]:.1f}")
    for name, way in ways.items():
        print(f"{name}: {_summary(costs[name], way.cores, options.lines)}")


def _ways(workers: int) -> dict[str, Way]:
    one = thread_variables(1)
    processes = (f"--direct_num_workers={workers}", "--direct_running_mode=multi_processing")
    return {
        "predict, 1 thread": Way(PREDICT, one, 1),
        f"predict, {workers} threads": Way(PREDICT, thread_variables(workers), workers),
        "beam, 1 thread": Way(BEAM, one, 1),
        f"beam, {workers} processes of 1 thread": Way((*BEAM, *processes), one, workers),
    }


def _write(path: Path, checkpoint: str, count: int) -> Path:
    words = (find_bundle(checkpoint) / VOCABULARY).read_text(encoding="utf-8").splitlines()
    generator = np.random.default_rng(0)
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(count):
            drawn = generator.integers(len(words), size=generator.integers(1, 41))
            file.write(" ".join(words[index] for index in drawn) + "\n")
    return path


def _run(way: Way, checkpoint: str, path: Path) -> tuple[float, float]:
    """Returns the seconds of a command, and the CPU time of its processes."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        flags = (f"--checkpoint={checkpoint}", f"--input={path}", f"--output={folder}/out.jsonl")
        environment = {**os.environ, **way.variables}
        command = [sys.executable, *way.command, *flags]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - started, sum(after[:2]) - sum(before[:2])  # user and system


def _summary(costs, cores: int, lines: int) -> str:
    """`costs` are pairs of what the smaller and the larger input cost."""
    between = lines - lines // PART
    seconds, cpu = (
        statistics.median(large[kind] - small[kind] for small, large in costs) for kind in (0, 1)
    )
    start = statistics.median(small[0] for small, _ in costs) - seconds * lines / PART / between
    return (
        f"{between / seconds / cores:,.0f} lines a second and core, "
        f"{1e3 * cpu / between:.2f} ms of CPU a line; start {start:.1f} s"
    )


if __name__ == "__main__":
    main()
