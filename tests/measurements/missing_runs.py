"""How long the runs would take that the papers' tables still lack.

    python -m tests.measurements.missing_runs --data_dir=data --prepared_dir=runs/prepared \\
      [--threads=2] [--beside="nothing else"] [--again] [--output=checkpoints/missing_runs.json]

starts each command of the file that was not timed (`--again`: all of them), evaluates after every
`STEPS` steps, stops it after two evaluations, and writes into the file the seconds of a step and of
an evaluation with the checkpoint that may follow it; the first, which traces the graph, does not
count. Commands that differ in seeds, folds, lengths, rewards, rates of dropout and vectors of
unknown words alone are timed once. `beside` says what else the machine did. `--mode=report` makes
hours of that, see `disan_tf.reporting.missing_runs`.
"""

import argparse
import json
import math
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Optional

import tensorflow as tf

from disan_tf.benchmark.timing import describe_machine, in_new_process
from disan_tf.common.files import write_json
from tests.support.runs.training import load_config

ROOT = Path(__file__).parents[2]
STEPS = 20  # between evaluations
LOGGED = 5  # steps between lines of the log
SECONDS = 600  # for all of that
SAME_SPEED = (  # flags without which a step and an evaluation take the same time
    "--seeds",
    "--folds",
    "--config.train.steps",
    "--config.train.evaluate_every",
    "--config.train.examples",
    "--config.train.patience",
    "--config.policy.pretrain_steps",
    "--config.policy.policy_steps",
    "--config.policy.penalty",
    "--config.policy.baseline",
    "--config.train.dropout",
    "--config.data.oov",
    "--config.data.subset",
)


def main() -> None:
    """Times what the file lacks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data_dir", required=True)
    parser.add_argument("--prepared_dir", required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--beside", default="nothing else")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--output", type=Path, default=ROOT / "checkpoints" / "missing_runs.json")
    options = parser.parse_args()
    folders = [f"--data_dir={options.data_dir}", f"--prepared_dir={options.prepared_dir}"]
    content = json.loads(options.output.read_text(encoding="utf-8"))
    about = in_new_process(_machine, options.threads)
    content["machine"] = {
        **{key: about[key] for key in ("processor", "threads", "tensorflow")},
        "beside": options.beside,
    }
    os.environ["TF_NUM_INTRAOP_THREADS"] = str(options.threads)
    cache = {}
    for run in content["runs"]:
        if options.again or not run.get("timed"):
            run["timed"] = _measure(run["command"], folders, cache)
            print(run, flush=True)
            write_json(options.output, content)


def _measure(command: str, folders: list[str], cache: dict) -> Optional[dict]:
    """Members, steps and evaluations of a command, and the seconds of one of each.

    None of a command that ends by itself, such as one that lacks a file, or takes too long.
    """
    _, *words = shlex.split(command)
    model = tuple(word for word in words if word.partition("=")[0] not in SAME_SPEED)
    if model not in cache:
        cache[model] = _time(model, folders)
    if cache[model] is None:
        return None
    config = _config(words)
    steps = _value(words, "--config.train.steps", config.train.steps)
    every = _value(words, "--config.train.evaluate_every", config.train.evaluate_every)
    return {
        "members": _members(words),
        "steps": steps,
        "evaluations": steps // every,
        **cache[model],
    }


def _time(words: tuple[str, ...], folders: list[str]) -> Optional[dict]:
    """Seconds of a step, and of the evaluation after it; hard attention in its costliest phase."""
    often = [f"--config.train.evaluate_every={STEPS}", f"--config.train.log_every={LOGGED}"]
    if "policy" in _config(words):
        often += [f"--config.policy.{phase}_steps=0" for phase in ("pretrain", "policy")]
    last = 2 * STEPS + LOGGED
    with tempfile.TemporaryDirectory() as folder:
        own = [sys.executable, *words, *often, *folders, f"--workdir={folder}"]
        process = subprocess.Popen(own, cwd=ROOT, stdout=subprocess.DEVNULL)
        until = time.monotonic() + SECONDS
        while last not in (ends := _ends(Path(folder) / "metrics.jsonl")):
            if process.poll() is not None or time.monotonic() > until:
                process.kill()
                return None
            time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        process.wait()
    begun = STEPS + LOGGED
    step = (ends[2 * STEPS] - ends[begun]) / (2 * STEPS - begun)
    evaluation = ends[last] - ends[2 * STEPS] - LOGGED * step
    return {"step_seconds": round(step, 5), "evaluation_seconds": round(max(evaluation, 0.0), 3)}


def _machine(threads: int) -> dict:
    """Describes the machine for a process with so many threads."""
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    return describe_machine()


def _config(words: list[str]):
    """The config that a command names, without what it changes."""
    (named,) = (word for word in words if word.startswith("--config="))
    name, _, variant = named.rpartition("/")[2].partition(".py")
    return load_config(name, variant.lstrip(":"))


def _members(words: list[str]) -> int:
    """How many runs --seeds and --folds are; all folds are ten."""
    lists = [word.partition("=")[2] for word in words if word.startswith(("--seeds=", "--folds="))]
    return math.prod(10 if numbers == "all" else len(numbers.split(",")) for numbers in lists)


def _ends(metrics: Path) -> dict[int, float]:
    """Step -> the seconds at which the training up to it was over, of what was logged whole."""
    if not metrics.is_file():
        return {}
    lines = metrics.read_text(encoding="utf-8").splitlines(keepends=True)
    records = [json.loads(line) for line in lines if line.endswith("\n")]
    return {record["step"]: record["seconds"] for record in records if record["split"] == "train"}


def _value(words: list[str], flag: str, default: int) -> int:
    return next(
        (int(word.partition("=")[2]) for word in words if word.startswith(f"{flag}=")), default
    )


if __name__ == "__main__":
    main()
