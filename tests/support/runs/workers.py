"""Several processes of one training, on ports of the loopback address that are free."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.support.runs.training import ROOT

TIMEOUT = 240  # seconds, of a test that waits for a busy machine


class Ended(NamedTuple):
    """How a worker ended."""

    status: int
    stdout: str
    stderr: str


class Workers:
    """`python run.py <arguments>` as each worker of a cluster; in the order of their numbers.

    None of them is left when the block of a `with` statement ends.

    Args:
      folder: for what they print.
      arguments: of all of them.
      count: of the workers.
    """

    def __init__(self, folder: Path, arguments: Sequence, count: int = 2):
        folder.mkdir(parents=True, exist_ok=True)
        self._streams = [(folder / f"{k}.out", folder / f"{k}.err") for k in range(count)]
        addresses = free_addresses(count)
        self.processes = [
            _start(arguments, tf_config(addresses, number), *streams)
            for number, streams in enumerate(self._streams)
        ]

    def wait(self) -> list[Ended]:
        """Waits until all have ended; raises TimeoutExpired if they do not."""
        end = time.monotonic() + TIMEOUT
        for process in self.processes:
            process.wait(max(0.1, end - time.monotonic()))
        return [
            Ended(process.returncode, *(path.read_text() for path in streams))
            for process, streams in zip(self.processes, self._streams)
        ]

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


def free_addresses(count: int) -> list[str]:
    """Addresses on which nothing listens."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{each.getsockname()[1]}" for each in sockets]


def tf_config(addresses: Sequence[str], number: int) -> str:
    """The TF_CONFIG of a worker."""
    task = {"type": "worker", "index": number}
    return json.dumps({"cluster": {"worker": list(addresses)}, "task": task})


def wait_for_step(workdir: Path, step: int, processes: Sequence[subprocess.Popen]) -> None:
    """Waits until the log of a training has a line of that step, or a process has ended."""
    log, end = workdir / "metrics.jsonl", time.monotonic() + TIMEOUT
    while time.monotonic() < end and all(process.poll() is None for process in processes):
        if log.exists() and any(it.get("step", 0) >= step for it in _lines(log)):
            return
        time.sleep(0.01)
    raise AssertionError(f"no step {step} in {log}")


def _lines(log):
    return [json.loads(line) for line in log.read_text().splitlines() if line.endswith("}")]


def _start(arguments, cluster, out, error) -> subprocess.Popen:
    command = [sys.executable, "run.py", *map(str, arguments)]
    environment = {**os.environ, "TF_CONFIG": cluster}
    with open(out, "w") as stdout, open(error, "w") as stderr:
        return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=stdout, stderr=stderr)
