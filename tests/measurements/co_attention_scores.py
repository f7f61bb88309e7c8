"""Additive scores of all pairs of words, forward and backward, native and portable.

    python -m tests.measurements.co_attention_scores --repetitions 9

Medians over repetitions in which both take turns, in one process.
"""

import argparse
import contextlib
import time

import numpy as np
import tensorflow as tf

from disan_tf.ops import portable
from disan_tf.ops.co_attention_scores import additive_scores

SIZES = ((64, 14, 8, 200), (64, 8, 14, 100), (64, 40, 20, 200))
BACKENDS = {"native": contextlib.nullcontext, "portable": portable}


def _compile(backend, size):
    """A traced function that computes the scores' gradients for pairs of `size`."""
    batch, first, second, dim = size
    shapes = ([batch, first, dim], [batch, second, dim], [dim])
    inputs = [tf.random.stateless_normal(shape, [1, k]) for k, shape in enumerate(shapes)]
    upstream = tf.random.stateless_normal([batch, first, second], [1, 3])

    @tf.function
    def step(*inputs):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            scores = additive_scores(*inputs)
        return tape.gradient(scores, inputs, upstream)

    with BACKENDS[backend]():
        step(*inputs)
    return lambda: [gradient.numpy() for gradient in step(*inputs)]


def measure(size: tuple[int, ...], repetitions: int) -> dict[str, float]:
    """Milliseconds of a forward and backward pass by backend, for (batch, L1, L2, dim)."""
    steps = {backend: _compile(backend, size) for backend in BACKENDS}
    times = {backend: [] for backend in BACKENDS}
    for _ in range(repetitions):
        for backend, step in steps.items():
            start = time.perf_counter()
            step()
            times[backend].append(1e3 * (time.perf_counter() - start))
    return {backend: float(np.median(durations)) for backend, durations in times.items()}


def main() -> None:
    """Prints a line for every size."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=9)
    options = parser.parse_args()
    for size in SIZES:
        times = measure(size, options.repetitions)
        forms = ", ".join(f"{backend} {median:.2f} ms" for backend, median in times.items())
        print(f"{size}: {forms}, ratio {times['portable'] / times['native']:.1f}")


if __name__ == "__main__":
    main()
