"""Times of functions, peak memory of processes, and the machine that they ran on."""

import multiprocessing
import platform
import resource
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Callable, NamedTuple

import tensorflow as tf

from disan_tf.common import machine
from disan_tf.ops import available_forms

WARM_UPS = 2


class Timing(NamedTuple):
    """The seconds of a function's repetitions."""

    seconds: tuple

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def summary(self) -> dict:
        """Returns the numbers for the JSON file, in milliseconds."""
        numbers = {"median": self.median, "min": min(self.seconds), "max": max(self.seconds)}
        return {f"{name}_ms": 1e3 * seconds for name, seconds in numbers.items()}


def measure(
    functions: dict[str, Callable], repetitions: int, settle: bool = True
) -> dict[str, Timing]:
    """Times every function `repetitions` times, in turns, after `WARM_UPS` calls.

    With `settle`, a call without timing precedes every timed call: the caches then hold the
    function's own data, as in training, and not another function's. A call ends when the GPUs, if
    there are any, have finished their work.
    """
    has_gpu = tf.config.get_visible_devices("GPU")
    wait = tf.test.experimental.sync_devices if has_gpu else lambda: None
    for function in functions.values():
        for _ in range(WARM_UPS):
            function()
    seconds = {name: [] for name in functions}
    for _ in range(repetitions):
        for name, function in functions.items():
            if settle:
                function()
            wait()
            start = time.perf_counter()
            function()
            wait()
            seconds[name].append(time.perf_counter() - start)
    return {name: Timing(tuple(times)) for name, times in seconds.items()}


def peak_gib(function: Callable, *arguments) -> float:
    """Returns the peak resident memory in GiB of a new process calling `function(*arguments)`.

    TensorFlow itself uses about 0.4 GiB. The function must be importable by name.
    """
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as process:
        return process.submit(_peak_after, function, arguments).result()


def add_ratios(records: dict, seconds: dict) -> None:
    """Adds to records how many times faster a form is than the dense one, and DSA than DiSAN."""
    for name, record in records.items():
        for ratio, other in (("disan_ratio", f"disan {name}"), ("dense_ratio", "dense")):
            if other in seconds and name != other:
                record[ratio] = seconds[other] / seconds[name]


def _peak_after(function, arguments) -> float:
    function(*arguments)
    status = Path("/proc/self/status")
    if status.exists():  # on Linux, getrusage gives the parent's peak where that was higher
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(fields["VmHWM"].split()[0]) / 2**20
    unit = 1 if sys.platform == "darwin" else 2**10  # bytes on macOS, KiB elsewhere
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30


def describe_machine() -> dict:
    """Returns processor, threads, GPUs, versions, and the forms of attention that work here."""
    return {
        **machine.describe_machine(),
        "python": platform.python_version(),
        "tensorflow": tf.__version__,
        "attention_forms": available_forms(),
    }
