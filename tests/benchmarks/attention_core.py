"""Time and peak memory of the two forms of directional attention, forward and backward.

    python -m tests.benchmarks.attention_core --length=40

Batch 64, 300 features, one direction, medians of 7 after 2 warm-ups, in one process; `--form=lean`
or `--form=plain` alone tells that form's peak memory.
"""

import argparse
import resource
import statistics
import time

import tensorflow as tf

from disan_tf.ops import FORMS, directional_attention

BATCH, UNITS, WARM_UPS, RUNS = 64, 300, 2, 7


def make_step(form: str, length: int):
    """A compiled forward and backward pass."""
    head, dependent, value, upstream = (
        tf.random.stateless_normal([BATCH, length, UNITS], [0, seed]) for seed in range(4)
    )
    mask = tf.ones([BATCH, length], tf.bool)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            tape.watch([head, dependent, value])
            context = directional_attention(
                head, dependent, value, mask, direction="forward", form=form
            )
            total = tf.reduce_sum(context * upstream)
        return tape.gradient(total, [head, dependent, value])

    return step


def median_seconds(step) -> float:
    """Median of RUNS after WARM_UPS."""
    seconds = []
    for _ in range(WARM_UPS + RUNS):
        start = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[WARM_UPS:])


def main() -> None:
    """Prints a line for each form, and their ratio."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--length", type=int, default=40)
    parser.add_argument("--form", choices=FORMS)
    options = parser.parse_args()
    forms = [options.form] if options.form else list(FORMS)
    seconds = {form: median_seconds(make_step(form, options.length)) for form in forms}
    for form, median in seconds.items():
        print(f"{form}: {1000 * median:.1f} ms at length {options.length}")
    if len(seconds) == 2:
        print(f"plain / lean: {seconds['plain'] / seconds['lean']:.2f}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory of the process: {peak:.2f} GiB")


if __name__ == "__main__":
    main()
