"""Directional attention of one document, exact and in linear time, over its length.

    python -m tests.measurements.document_attention --lengths 256 1024 4096

300 features, one direction, float32; every row in a process of its own. A form is left out of the
lengths at which a call would take longer than --longest_call, judged by the length before.
"""

import argparse
import contextlib
import functools

import numpy as np
import tensorflow as tf

from disan_tf.benchmark.timing import in_new_process, measure, peak
from disan_tf.ops import directional_attention, portable

LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
UNITS = 300
# Name -> form, context to trace in, the power of the length that its time grows with.
FORMS = {
    "exact native": ("native", contextlib.nullcontext, 2),
    "exact lean": ("lean", contextlib.nullcontext, 2),
    "linear native": ("linear", contextlib.nullcontext, 1),
    "linear portable": ("linear", portable, 1),
}


def main() -> None:
    """Prints a line for every length and form."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=list(FORMS))
    parser.add_argument("--spread", type=float, default=1.0, help="standard deviation of the heads")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--longest_call", type=float, default=60.0, help="in seconds")
    options = parser.parse_args()
    head = "length  form             forward ms  GiB   forward and backward ms  GiB   largest error"
    print(head, flush=True)
    before = {}
    for length in sorted(options.lengths):
        for form in options.forms:
            if _expected_seconds(form, length, before.get(form)) > options.longest_call:
                continue
            settings = (form, length, options.spread, options.repetitions)
            row = in_new_process(_measure, *settings)
            before[form] = length, row[2]
            forward, gib, both, both_gib, error = row
            print(
                f"{length:6}  {form:15}  {forward:10.2f}  {gib:4.2f}  {both:23.2f}  {both_gib:4.2f}"
                f"  {error:.1e}",
                flush=True,
            )


def _expected_seconds(form, length, before):
    if before is None:
        return 0.0
    last, milliseconds = before
    return milliseconds / 1e3 * (length / last) ** FORMS[form][2]


def _measure(form, length, spread, repetitions):
    """Milliseconds and peak of the forward pass, of both passes, and the error beside float64."""
    name, context, _ = FORMS[form]
    shape = [1, length, UNITS]
    head, dependent, value, upstream = (
        tf.random.stateless_normal(shape, [0, seed]) for seed in range(4)
    )
    inputs = [spread * head, 2 * spread * dependent, value]
    attend = functools.partial(
        directional_attention, mask=tf.ones(shape[:2], tf.bool), direction="forward", form=name
    )

    @tf.function(autograph=False)
    def forward():
        return attend(*inputs)

    @tf.function(autograph=False)
    def both():
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            context = attend(*inputs)
        return [context, *tape.gradient(context, inputs, output_gradients=upstream)]

    row = []
    for function in (forward, both):
        with context():
            compiled = function.get_concrete_function()
        timing = measure({"": compiled}, repetitions, settle=False)[""]
        row += [1e3 * timing.median, peak()]
    return [*row, _error(inputs, forward())]


def _error(inputs, context):
    """The largest error of some heads and features, by NumPy in float64."""
    head, dependent, value = (tensor[0, :, :16].numpy().astype(np.float64) for tensor in inputs)
    errors = []
    for j in np.linspace(1, len(head) - 1, 9).astype(int):
        weights = np.exp(5 * np.tanh((dependent[:j] + head[j]) / 5))
        exact = (weights * value[:j]).sum(axis=0) / weights.sum(axis=0)
        errors.append(np.abs(context[0, j, :16].numpy() - exact).max())
    return max(errors)


if __name__ == "__main__":
    main()
