"""What a user waits for beside training steps: the first answer of `predict`, and an evaluation.

    python -m tests.measurements.waits --prepared=prepared/snli-... [--checkpoint=disan_snli] \\
      [--output=checkpoints/benchmarks/measurements/waits.json]

prints as JSON

- "first_answer": seconds of `run.py --mode=predict --checkpoint=disan_sst5` on one line, from the
  start of the process to its end, and of `import tensorflow` alone; processes that take turns.
- "evaluation": pairs a second of the dev part of a prepared corpus that the checkpoint was trained
  on, as a training evaluates it (its batches, their outputs and losses), and of the model's forward
  pass alone from the same batches, which lie in memory then. Calls take turns; nothing is traced in
  them.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import tensorflow as tf

from disan_tf.benchmark.timing import describe_machine, measure
from disan_tf.common.files import write_json
from disan_tf.input_pipeline import PreparedCorpus, evaluation_batches, make_dataset
from disan_tf.runs.bundle import load_bundle
from disan_tf.serving.release.released import find_bundle
from disan_tf.training.methods import final_evaluation_step
from disan_tf.training.outputs import run_split

ROOT = Path(__file__).parents[2]


def main() -> None:
    """Prints what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--checkpoint", default="disan_snli")
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    found = {
        "checkpoint": options.checkpoint,
        "machine": describe_machine(),
        "first_answer": first_answer(options.repetitions),
        "evaluation": evaluation(options.checkpoint, options.prepared, options.repetitions),
    }
    print(json.dumps(found, indent=2))
    if options.output:
        write_json(options.output, found)


def first_answer(repetitions: int) -> dict:
    """Median seconds, and of the differences of processes that followed each other."""
    commands = {
        "import_tensorflow": ["-c", "import tensorflow"],
        "predict": ["run.py", "--mode=predict", "--checkpoint=disan_sst5"],
    }
    seconds = {name: [] for name in commands}
    for _ in range(repetitions):
        for name, command in commands.items():
            seconds[name].append(_seconds(command))
    pairs = zip(seconds["predict"], seconds["import_tensorflow"])
    seconds["difference"] = [predict - bare for predict, bare in pairs]
    return {name: round(statistics.median(each), 2) for name, each in seconds.items()}


def _seconds(command) -> float:
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        input=b"a fine film .",
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - started


def evaluation(checkpoint: str, prepared: Path, repetitions: int) -> dict:
    """Pairs a second, and the ratio of the medians."""
    bundle, split = load_bundle(find_bundle(checkpoint)), PreparedCorpus(prepared).split("dev")
    model, size = bundle.model, bundle.config.evaluate.batch_size
    step = final_evaluation_step(model, bundle.config.train, bundle.config.evaluate)
    batches = list(make_dataset(split, evaluation_batches(split.field_lengths, size)))
    forward = tf.function(lambda *inputs: model(*inputs), reduce_retracing=True)

    def compute():
        for batch in batches:
            forward(*(batch[name] for name in model.reads))

    timings = measure(
        {"evaluate": lambda: run_split(step, split, model.reads, size), "forward": compute},
        repetitions,
        settle=False,
    )
    rates = {name: len(split) / timing.median for name, timing in timings.items()}
    ratio = rates["evaluate"] / rates["forward"]
    return {**{name: round(rate) for name, rate in rates.items()}, "ratio": round(ratio, 2)}


if __name__ == "__main__":
    main()
