"""Writes the programs of training steps that XLA compiles for a GPU; needs no GPU.

    python -m tests.measurements.gpu_programs FOLDER

The programs are for sentences of 16 and of 48 tokens. The figures in
checkpoints/benchmarks/measurements/gpu_programs.json were counted after jaxlib's compiler for GPUs,
whose version is recorded there.
"""

import re
import sys
from collections import Counter
from pathlib import Path

from configs import disan_snli, drcn_snli, dsa_snli, resan_snli
from disan_tf.ops.native.runtime import portable
from disan_tf.ops.tracing import target
from disan_tf.study.benchmark import step as steps
from disan_tf.training.compilation import BucketedStep
from disan_tf.training.config import from_dict
from disan_tf.training.methods import make_method

MODELS = {
    "DiSAN": (disan_snli, ""),
    "ReSAN": (resan_snli, ""),
    "DSA": (dsa_snli, ""),
    "DRCN": (drcn_snli, ""),
    "Bi-LSTM": (disan_snli, "bi_lstm"),
}


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
        method = make_method(steps.build(config), from_dict(config))
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


if __name__ == "__main__":
    for name in MODELS:
        for tokens in (16, 48):
            path = Path(sys.argv[1]) / f"{name}_{tokens}.hlo"
            path.write_bytes(program_of(name, tokens, "hlo_serialized"))
            print(path)
