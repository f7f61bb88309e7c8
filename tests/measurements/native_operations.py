"""The time of a training step without each native operation outside attention.

    python -m tests.measurements.native_operations \\
      [--output=checkpoints/benchmarks/measurements/native_operations.json]

builds the same step several times, each time with one operation in portable TensorFlow, and runs
the steps in turns. It prints the median milliseconds, and their ratio to the step with all
operations native. An operation is worth its code if a ratio is 1.03 or more.
"""

import argparse
import contextlib
import json
import sys
from pathlib import Path
from unittest import mock

from configs import disan_snli, disan_sst, drcn_snli, dsa_snli, dsa_sst
from disan_tf.benchmark.step import DTYPES, default_lengths, make_batch, make_steps
from disan_tf.benchmark.timing import describe_machine, measure
from disan_tf.common.files import write_json
from disan_tf.ops import dropout, elementwise
from disan_tf.ops.native import runtime
from disan_tf.training import optimizers

MODELS = {
    "DiSAN, SNLI": (disan_snli, ""),
    "DiSAN, SST": (disan_sst, ""),
    "DSA, SNLI": (dsa_snli, ""),
    "DSA, SST": (dsa_sst, ""),
    "DRCN, SNLI": (drcn_snli, "B-Ca-Cs-M"),
}
NATIVE = "all native"
FUNCTIONS = ("bias_activation", "copies", "fusion_gate", "softmax_pool")  # of `elementwise`


def main() -> None:
    """Prints and writes what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--repetitions", type=int, default=15)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    found = {"machine": describe_machine()}
    for model in options.models:
        module, variant = MODELS[model]
        config = module.get_config(variant)
        found[model] = {dtype: _measure(config, dtype, options.repetitions) for dtype in DTYPES}
        print(model, json.dumps(found[model], indent=2), flush=True)
    if options.output:
        write_json(options.output, found)


def _measure(config, dtype, repetitions):
    steps = {}
    for name, patch in _patches().items():
        with patch:
            step = make_steps(dtype, config)["train"]
            batch = make_batch(config, default_lengths(config)[0])
            step(*batch)  # traces it
        steps[name] = lambda step=step, batch=batch: step(*batch)
    timings = measure(steps, repetitions)
    return {
        name: {
            "median_ms": round(1e3 * timing.median, 1),
            "ratio": round(timing.median / timings[NATIVE].median, 3),
        }
        for name, timing in timings.items()
    }


def _patches() -> dict:
    """Returns name of an operation -> a patch that makes it portable."""
    portable = mock.Mock(wraps=runtime, DTYPES=runtime.DTYPES, is_used=lambda: False)
    modules = {"dropout": dropout, "optimizer": optimizers}
    return {
        NATIVE: contextlib.nullcontext(),
        **{
            name: mock.patch.object(module, "runtime", portable) for name, module in modules.items()
        },
        **{name: mock.patch.object(elementwise, "_is_native", _except(name)) for name in FUNCTIONS},
    }


def _except(name):
    """Returns an `_is_native` of `elementwise` that is False in the function `name`."""
    usual = elementwise._is_native
    return lambda x: sys._getframe(1).f_code.co_name != name and usual(x)


if __name__ == "__main__":
    main()
