"""Progress bars on a terminal; nothing is drawn into files and pipes."""

import contextlib
import itertools
import sys
import time
from collections.abc import Iterator
from typing import Callable, Optional

from tqdm import tqdm

_KNOWN = "{desc}: {n:,}/{total:,}{unit} {bar} {rate_noinv_fmt}, {remaining} left"
_UNKNOWN = "{desc}: {n:,}{unit}, {rate_noinv_fmt}"
_STAGES = "{desc} ({n} of {total} done) {bar}"


class QuietBar(tqdm):
    """A tqdm bar without tqdm's monitoring thread, which would also run where nothing is drawn.

    tqdm's constructor draws before it sets its times, which the first frame, and `close` after a
    signal, read.
    """

    monitor_interval = 0

    def __init__(self, *args, **kwargs):
        self.last_print_t = self.start_t = time.time()
        super().__init__(*args, dynamic_ncols=True, leave=False, **kwargs)


def is_terminal() -> bool:
    """Returns whether standard error is a terminal, on which bars are drawn."""
    return sys.stderr.isatty()


def progress_bar(
    description: str, unit: str, total: Optional[int] = None, is_enabled: bool = True
) -> tqdm:
    """Returns a bar with counts, speed and time left; it draws nothing without a terminal.

    `unit` are the counted things, such as "lines"; `total` is their number, or None if unknown.
    """
    bar_format = _UNKNOWN if total is None else _KNOWN
    is_hidden = not (is_enabled and is_terminal())
    return QuietBar(
        desc=description, unit=f" {unit}", total=total, bar_format=bar_format, disable=is_hidden
    )


@contextlib.contextmanager
def stages(total: int) -> Iterator[Callable[[str], None]]:
    """Draws a bar over stages; yields a function that ends a stage and shows the next one's name.

    Nothing is drawn without a terminal.
    """
    # With a delay, the first stage draws the bar, with its name.
    with QuietBar(total=total, bar_format=_STAGES, disable=not is_terminal(), delay=1e-9) as bar:
        numbers = itertools.count()

        def begin(name: str) -> None:
            bar.n = next(numbers)
            bar.set_description_str(name)

        yield begin


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
