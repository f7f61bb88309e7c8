"""Medians of functions that take turns, so that a busy minute of the machine slows them all."""

import statistics
import time
from typing import Callable, NamedTuple

WARM_UPS = 2


class Timing(NamedTuple):
    """Seconds of all repetitions of one function."""

    seconds: tuple

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def summary(self) -> dict:
        """The numbers that go into the JSON file, in milliseconds."""
        return {
            "median_ms": 1e3 * self.median,
            "min_ms": 1e3 * min(self.seconds),
            "max_ms": 1e3 * max(self.seconds),
        }


def measure(
    functions: dict[str, Callable], repetitions: int, settle: bool = True
) -> dict[str, Timing]:
    """Times every function `repetitions` times, in turns, after `WARM_UPS` calls of it.

    With `settle`, a call that is not timed precedes every timed one: the caches then hold what the
    function itself left there, as in a training, and not what another function did.
    """
    for function in functions.values():
        for _ in range(WARM_UPS):
            function()
    seconds = {name: [] for name in functions}
    for _ in range(repetitions):
        for name, function in functions.items():
            if settle:
                function()
            start = time.perf_counter()
            function()
            seconds[name].append(time.perf_counter() - start)
    return {name: Timing(tuple(times)) for name, times in seconds.items()}
