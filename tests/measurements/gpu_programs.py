"""What XLA makes of our training steps for a GPU, without one.

    python -m tests.measurements.gpu_programs --tool compile_for_gpu.py --python JAX_PYTHON \
      --output checkpoints/benchmarks/gpu_programs.json

traces the steps as `train.jit_compile` does on a GPU, and lets XLA's own compiler for GPUs say how
many kernels they start, how many bytes these read and write, and which loops remain. `--tool` is a
program that compiles a file of HLO and prints these numbers; `--python` is an interpreter with the
CUDA plugin of JAX, whose version is recorded.
"""

import argparse
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import tensorflow as tf

from configs import disan_snli, drcn_snli, dsa_snli, resan_snli
from disan_tf.benchmark import step as steps
from disan_tf.common.files import write_json
from disan_tf.ops.devices import target
from disan_tf.ops.native.runtime import portable
from disan_tf.training.compilation import BucketedStep
from disan_tf.training.methods import make_method

MODELS = {
    "DiSAN": (disan_snli, ""),
    "ReSAN": (resan_snli, ""),
    "DSA": (dsa_snli, ""),
    "DRCN": (drcn_snli, ""),
    "Bi-LSTM": (disan_snli, "bi_lstm"),
}
LENGTHS = (16, 48)  # see `padded_length`
_TOTALS = re.compile(r"(\d+) kernels \((\d+) library calls\), ([\d.]+) GB moved, .* ([\d.]+) ms;")
_LOOP = re.compile(r"loop \S+: (\d+) times (\d+) kernels")


def program_of(model: str, length: int, stage: str = "hlo"):
    """Returns a training step on 64 pairs of sentences of one length, as XLA reads it.

    Args:
      model: a key of `MODELS`.
      length: the tokens of each sentence.
      stage: see TensorFlow's `experimental_get_compiler_ir`.
    """
    module, variant = MODELS[model]
    config = module.get_config(*[variant] * bool(variant))
    config.train.batch_size, config.train.jit_compile = 64, "True"
    with portable(), target("GPU"):
        sections = config.train, config.dtype, config.evaluate, config.get("policy")
        method = make_method(steps.build(config), *sections)
        compiled = getattr(method, "train_step", None) or method.steps["both"]
        assert isinstance(compiled, BucketedStep)
        function, batch = compiled.function_of(steps.make_batch(config, (length, length)))
        return function.experimental_get_compiler_ir(*batch)(stage=stage)


def count(text: str) -> dict:
    """Counts a program's instructions and loops, and the bytes of its largest buffer."""
    kinds = Counter(re.findall(r"^\s+(?:ROOT )?\S+ = .*? ([\w-]+)\(", text, re.MULTILINE))
    sizes = [_bytes(dims) for dims in re.findall(r" = f32\[([\d,]+)\]", text)]
    return {"instructions": sum(kinds.values()), "loops": kinds["while"], "bytes": max(sizes)}


def _bytes(dims):
    numbers = 4
    for size in dims.split(","):
        numbers *= int(size)
    return numbers


def compile_for_gpu(model: str, length: int, python: str, tool: str) -> dict:
    """Returns what the compiler for GPUs says of a program."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "step.hlo"
        path.write_bytes(program_of(model, length, "hlo_serialized"))
        output = subprocess.run(
            [python, tool, str(path)], capture_output=True, text=True, check=True
        ).stdout
    kernels, calls, gigabytes, milliseconds = _TOTALS.search(output).groups()
    return {
        "model": model,
        "length": length,
        "kernels": int(kernels),
        "library_calls": int(calls),
        "gb": float(gigabytes),
        "least_ms": float(milliseconds),
        "loops": [[int(number) for number in pair] for pair in _LOOP.findall(output)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tool", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--models", nargs="*", default=[*MODELS], choices=[*MODELS])
    options = parser.parse_args()
    version = subprocess.run(
        [options.python, "-c", "import jaxlib; print(jaxlib.__version__)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    rows = []
    for model in options.models:
        for length in LENGTHS:
            rows.append(compile_for_gpu(model, length, options.python, options.tool))
            print(rows[-1], flush=True)
    versions = {"jaxlib": version, "tensorflow": tf.__version__}
    write_json(options.output, {"versions": versions, "programs": rows})


if __name__ == "__main__":
    main()
