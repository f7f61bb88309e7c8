"""What training steps spend their time on, from TensorFlow's profiler, by kind of work.

    python -m tests.measurements.profile_steps --lengths=15,8 \\
      [--output=checkpoints/benchmarks/measurements/profiles.json]

prints for each model and precision, each in a process of its own:

- "step_ms": the median of a step that nothing watches;
- "busy": the processor time of those steps over their duration times the threads; the rest is
  threads that wait for each other, or for memory that the kernel has yet to give;
- "shares": per cent of the time of all operations, by kind (`KINDS`);
- "largest": the operations with the largest shares.

Two operations may run at the same time on two threads, so that shares are of their sum.
"""

import argparse
import collections
import json
import re
import statistics
import tempfile
import time
from pathlib import Path

from disan_tf.benchmark.timing import in_new_process
from disan_tf.common.files import write_json
from tests.measurements.threads import machine, set_threads

MODELS = {
    "DiSAN": ("configs.disan_snli", ""),
    "ReSAN": ("configs.resan_snli", ""),
    "DSA": ("configs.dsa_snli", ""),
    "DRCN": ("configs.drcn_snli", "B-Ca-Cs-M"),
    "DiSAN on SST": ("configs.disan_sst", ""),
}
DTYPES = ("float32", "mixed_bfloat16")
KINDS = {  # the first that fits
    "products and convolutions": r"_?(Mkl|Native)*(Batch)?(MatMul|Conv2D)",
    "attention": r"Disan(DirectionalAttention|AdditiveScores|SoftmaxPool)|(_Mkl)?Softmax",
    "recurrence": r"DisanRecurrence",
    "between products, native": r"Disan(Bias|Fusion|Apply|Keep|Sum)",
    "optimizer and weight decay": r"Disan(RmsProp|Adadelta)|Resource(Sparse)?Apply|L2Loss",
    "copies": r"Concat|Slice|StridedSlice|Split|Pad|(_Mkl)?Transpose|Gather|Scatter|Pack|Tile"
    r"|Resource(Gather|Scatter)|Unsorted|Broadcast|Unique",
    "other arithmetic": r".",
}
# Not operations: what calls them, and one that lasts as long as the others.
_FRAME = re.compile(r"Executor|TFE_|Eager|Kernel|FunctionRun|ParallelFor|train_step|__inference")
STEPS = 6


def main() -> None:
    """Prints what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--lengths", default="15,8", help="of premise and hypothesis")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    lengths = tuple(map(int, options.lengths.split(",")))
    found = {"lengths": lengths, "machine": in_new_process(machine, options.threads)}
    for model in options.models:
        found[model] = {
            dtype: in_new_process(profile, *MODELS[model], dtype, lengths, options.threads)
            for dtype in DTYPES
        }
    print(json.dumps(found, indent=2))
    if options.output:
        write_json(options.output, found)


def profile(module: str, variant: str, dtype: str, lengths: tuple, threads: int) -> dict:
    """What `main` prints of one model in one precision."""
    import importlib

    import tensorflow as tf

    from disan_tf.benchmark.step import make_batch, make_steps

    set_threads(threads)
    config = importlib.import_module(module).get_config(variant)
    step, batch = make_steps(dtype, config)["train"], make_batch(config, lengths)
    walls, processor = [], []
    for _ in range(2 + STEPS):
        started, used = time.perf_counter(), time.process_time()
        step(*batch)
        walls.append(time.perf_counter() - started)
        processor.append(time.process_time() - used)
    walls, processor = walls[2:], processor[2:]
    with tempfile.TemporaryDirectory() as folder:
        tf.profiler.experimental.start(folder)
        for _ in range(STEPS):
            step(*batch)
        tf.profiler.experimental.stop()
        (path,) = Path(folder).rglob("*.xplane.pb")
        operations = _operations(path)
    total = sum(operations.values())
    shares = collections.Counter()
    for name, duration in operations.items():
        kind = next(kind for kind, pattern in KINDS.items() if re.match(pattern, name))
        shares[kind] += 100 * duration / total
    return {
        "batch": config.train.batch_size,
        "step_ms": round(1e3 * statistics.median(walls), 1),
        "busy": round(sum(processor) / sum(walls) / threads, 2),
        "shares": {kind: round(shares[kind], 1) for kind in KINDS},
        "largest": {
            name: round(100 * duration / total, 1) for name, duration in operations.most_common(12)
        },
    }


def _operations(path) -> collections.Counter:
    """Type of operation -> the time of all of them, from a trace."""
    from tensorflow.tsl.profiler.protobuf.xplane_pb2 import XSpace

    space, durations = XSpace.FromString(path.read_bytes()), collections.Counter()
    for plane in space.planes:
        if plane.name.startswith("/host:CPU"):
            for line in plane.lines:
                for event in line.events:
                    name = plane.event_metadata[event.metadata_id].name
                    if "::" not in name and not _FRAME.match(name.strip()):
                        durations[name.rsplit(":", 1)[-1]] += event.duration_ps
    return durations


if __name__ == "__main__":
    main()
