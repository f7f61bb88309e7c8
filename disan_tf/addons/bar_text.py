"""The text and the start of both progress bars."""

from typing import Optional

import tqdm

EPOCH_FORMAT = "{n_fmt}/{total_fmt} {bar} {remaining} left - {desc}"
METRIC_FORMAT = "{name}: {value:0.4g}"
SEPARATOR = " - "


def start_at(bar: tqdm.tqdm, done: int) -> None:
    """Starts a new tqdm bar at `done` steps, which do not count for its speed."""
    bar.initial = bar.n = bar.last_print_n = done


def speed(bar: tqdm.tqdm, batch_size: Optional[int]) -> str:
    """Returns sentences per second as text; "" if the speed or the batch size is unknown."""
    rate = bar.format_dict["rate"]  # steps per second; None at first
    return f"{SEPARATOR}{rate * batch_size:,.0f} sentences/s" if rate and batch_size else ""
