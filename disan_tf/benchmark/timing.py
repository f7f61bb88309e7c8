"""Median times of functions that run in turns, so that a busy minute slows all of them."""

import statistics
import time
from typing import Callable, NamedTuple

import tensorflow as tf

WARM_UPS = 2


class Timing(NamedTuple):
    """The seconds of a function's repetitions."""

    seconds: tuple

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def summary(self) -> dict:
        """Returns the numbers for the JSON file, in milliseconds."""
        return {
            "median_ms": 1e3 * self.median,
            "min_ms": 1e3 * min(self.seconds),
            "max_ms": 1e3 * max(self.seconds),
        }


def measure(
    functions: dict[str, Callable], repetitions: int, settle: bool = True
) -> dict[str, Timing]:
    """Times every function `repetitions` times, in turns, after `WARM_UPS` calls.

    With `settle`, a call without timing precedes every timed call: the caches then hold the
    function's own data, as in training, and not another function's. A call ends when the GPUs, if
    there are any, have finished their work.
    """
    wait = _waiting()
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


def _waiting() -> Callable[[], None]:
    """Returns a function that waits for the GPUs; without a GPU a call waits by itself."""
    if tf.config.get_visible_devices("GPU"):
        return tf.test.experimental.sync_devices
    return lambda: None
