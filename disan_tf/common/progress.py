"""Progress bars on a terminal; nothing is drawn into files and pipes."""

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from typing import Optional

from tqdm import tqdm

_KNOWN = "{desc}: {n:,}/{total:,} {unit} {bar} {rate:,.0f} {unit}/s, {left} left"
_UNKNOWN = "{desc}: {n:,} {unit}, {rate:,.0f} {unit}/s"
_STAGES = "{desc} ({n} of {total} done) {bar} {elapsed}"
SECONDS_PER_TICK = 1.0


class QuietBar(tqdm):
    """A tqdm bar without tqdm's monitoring thread, which would also run where nothing is drawn.

    tqdm's constructor draws before it sets its times, which the first frame, and `close` after a
    signal, read.
    """

    monitor_interval = 0

    def __init__(self, *args, **kwargs):
        self.last_print_t = self.start_t = time.time()
        super().__init__(*args, **kwargs)


class Bar(QuietBar):
    """A tqdm bar whose format may use `left`, the time left, and numbers with `:,`."""

    @property
    def format_dict(self):
        """Returns tqdm's values for the format, with `left`; unknown ones count as 0."""
        values = super().format_dict
        done, seconds = values["n"] - values["initial"], values["elapsed"]
        rate = done / seconds if seconds else 0.0
        left = (
            format_seconds((values["total"] - values["n"]) / rate) if _knows(values, rate) else ""
        )
        return {**values, "rate": rate, "left": left or "? s"}


def _knows(values, rate: float) -> bool:
    return bool(values["total"] and rate)


def is_terminal() -> bool:
    """Returns whether standard error is a terminal, on which bars are drawn."""
    return sys.stderr.isatty()


def progress_bar(
    description: str, unit: str, total: Optional[int] = None, is_enabled: bool = True
) -> tqdm:
    """Returns a bar with counts, speed and time left; it draws nothing without a terminal.

    Args:
      description: the work, such as "predict".
      unit: the counted things, such as "lines".
      total: their number; None = unknown.
      is_enabled: False never draws.
    """
    return Bar(
        desc=description,
        unit=unit,
        total=total,
        bar_format=_UNKNOWN if total is None else _KNOWN,
        disable=not (is_enabled and is_terminal()),
        dynamic_ncols=True,
        leave=False,
    )


class Stages:
    """A bar over the stages of a long work, which names the current stage."""

    def __init__(self, bar: tqdm):
        self._bar, self._has_begun = bar, False

    def begin(self, name: str) -> None:
        """Ends the stage before, if any, and shows the name of the next."""
        if self._has_begun:
            self._bar.update(1)
        self._has_begun = True
        self._bar.set_description_str(name)


@contextlib.contextmanager
def stages(total: int) -> Iterator[Stages]:
    """Yields `Stages` of a known number; nothing is drawn without a terminal."""
    with (
        QuietBar(
            total=total,
            bar_format=_STAGES,
            disable=not is_terminal(),
            dynamic_ncols=True,
            leave=False,
            delay=1e-9,  # the first stage draws it, with its name
        ) as bar,
        _ticking(bar),
    ):
        yield Stages(bar)


@contextlib.contextmanager
def _ticking(bar: tqdm) -> Iterator[None]:
    """Redraws a bar each second, so that its clock runs during a long stage."""
    if bar.disable:
        yield
        return
    is_over = threading.Event()

    def tick():
        while not is_over.wait(SECONDS_PER_TICK):
            bar.refresh()

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def print_line(text: str) -> None:
    """Prints a line to standard output, above the bars."""
    with tqdm.external_write_mode(sys.stdout):
        print(text, flush=True)


def notify(text: str) -> None:
    """Prints a remark to standard error; a closed terminal or pipe does not fail the command."""
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def format_seconds(seconds: float) -> str:
    """Formats a time, such as "24 s", "1 min 24 s" or "2 h 5 min"."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if minutes else f"{rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
