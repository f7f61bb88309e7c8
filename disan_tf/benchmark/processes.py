"""Calls of functions in new processes, for their peak memory or other numbers of threads."""

import multiprocessing
import resource
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Callable


def peak_gib(function: Callable, *arguments) -> float:
    """Returns the peak resident memory in GiB of a new process calling `function(*arguments)`.

    TensorFlow itself uses about 0.4 GiB. The function must be importable by name.
    """
    return in_new_process(_call, function, arguments)


def in_new_process(function: Callable, *arguments):
    """Calls `function(*arguments)` in a new process; it must be importable by name."""
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=fresh) as process:
        return process.submit(function, *arguments).result()


def _call(function, arguments):
    function(*arguments)
    return peak()


def peak() -> float:
    """Returns this process' peak resident memory in GiB."""
    status = Path("/proc/self/status")
    if status.exists():  # on Linux, getrusage gives the parent's peak where that was higher
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(fields["VmHWM"].split()[0]) / 2**20
    unit = 1 if sys.platform == "darwin" else 2**10  # bytes on macOS, KiB elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30
