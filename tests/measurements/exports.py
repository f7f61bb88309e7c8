"""How fast exported models answer, and in what memory, against the same model in this package.

    python -m tests.measurements.exports [--checkpoint=disan_sst5] [--before=FOLDER] \\
      [--output=checkpoints/benchmarks/measurements/exports.json]

exports a released model and asks it, each time in a process of its own, about 1, 32, 256 and 1,000
sentences, about 31 short texts beside one of 200 words, and about one text of 10,000 words; the
sentences are random words in lengths like those of film reviews. It prints as JSON the
milliseconds of a call (the median of rounds that take turns), their ratio to those of
`disan_tf.load(...).predict` ("native"), and the peak memory of the process in MB, or the reason why
there is no answer. `before` is another export, such as one of an older commit: the folder of a
version of `saved_model/`.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable, Optional

import numpy as np

ROOT = Path(__file__).parents[2]
CASES = {  # name -> the numbers of texts and of their words; None = like those of reviews
    "1": [(1, None)],
    "32": [(32, None)],
    "256": [(256, None)],
    "1000": [(1000, None)],
    "31 beside 200 words": [(31, None), (1, 200)],
    "10,000 words": [(1, 10_000)],
}
WORDS = (
    "the film is not a good story but it has very long moving scenes and some of the actors are "
    "never dull , which their plot may be for us . he said that this was an old new play"
)
MEMORY = 16 << 30  # bytes that a process may take
SECONDS = 900
CALLS = 7  # after the first


def measure(checkpoint: str, before: Optional[Path], rounds: int, cases: list[str]) -> dict:
    """Case -> form -> median milliseconds, ratio to native, and peak memory."""
    from disan_tf.serving.export.saved_model import export_saved_model
    from disan_tf.serving.release.released import find_bundle

    with tempfile.TemporaryDirectory() as folder:
        after, _ = export_saved_model(find_bundle(checkpoint), folder)
        forms = {"native": checkpoint, "after": str(after)}
        if before:
            forms["before"] = str(before)
        return {case: _measure_case(case, forms, rounds) for case in cases}


def _measure_case(case, forms, rounds) -> dict:
    runs = {form: [] for form in forms}
    for _ in range(rounds):
        for form, path in forms.items():
            if not (runs[form] and "failed" in runs[form][-1]):
                runs[form].append(_run(form, path, case))
        print(case, {form: each[-1] for form, each in runs.items()}, file=sys.stderr, flush=True)
    return {form: _summarise(each, runs["native"]) for form, each in runs.items()}


def _run(form, path, case) -> dict:
    """The measurement of a process of its own."""
    command = [sys.executable, "-m", "tests.measurements.exports", f"--ask={form}", path, case]
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"no answer in {SECONDS} seconds"}
    if done.returncode:
        return {"failed": f"ended with status {done.returncode} in {MEMORY >> 30} GiB"}
    return json.loads(done.stdout.splitlines()[-1])


def _summarise(runs, native) -> dict:
    if "failed" in runs[-1]:
        return runs[-1]
    ratios = [run["ms"] / other["ms"] for run, other in zip(runs, native)]
    return {
        "ms": round(statistics.median(run["ms"] for run in runs), 1),
        "first_ms": round(statistics.median(run["first_ms"] for run in runs), 1),
        "ratio": round(statistics.median(ratios), 2),
        "peak_mb": round(max(run["peak_mb"] for run in runs)),
    }


def ask(form: str, path: str, case: str) -> dict:
    """Milliseconds of a call of this process, and its peak memory."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    texts = _texts(CASES[case])
    answer = _native(path) if form == "native" else _saved(path)
    times = []
    for _ in range(1 + (CALLS if len(texts) > 1 or len(texts[0]) < 10_000 else 1)):
        started = time.perf_counter()
        assert len(answer(texts)) == len(texts)
        times.append(1e3 * (time.perf_counter() - started))
    status = Path("/proc/self/status").read_text().splitlines()
    (peak,) = (line for line in status if line.startswith("VmHWM"))
    return {
        "first_ms": times[0],
        "ms": statistics.median(times[1:]),
        "peak_mb": int(peak.split()[1]) / 1000,
    }


def _native(checkpoint) -> Callable:
    import disan_tf

    return disan_tf.load(checkpoint).predict


def _saved(path) -> Callable:
    import tensorflow as tf
    import tensorflow_text  # noqa: F401

    signature = tf.saved_model.load(path).signatures["serving_default"]
    return lambda texts: signature(text=tf.constant(texts))["probabilities"].numpy()


def _texts(groups) -> list[str]:
    """Texts of frequent words, in the lengths that a case asks for."""
    generator = np.random.default_rng(1)
    words = np.array(WORDS.split())
    lengths = []
    for count, length in groups:
        lengths += [length] * count if length else _lengths_of_reviews(generator, count)
    return [" ".join(generator.choice(words, length)) for length in lengths]


def _lengths_of_reviews(generator, count) -> list[int]:
    """Mean 19, standard deviation 9, up to 56 words; a single one has 19."""
    if count == 1:
        return [19]
    return np.clip(np.rint(generator.gamma(4.4, 4.4, count)), 2, 56).astype(int).tolist()


def main() -> None:
    """Prints the measurements as JSON, or those of one process."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--checkpoint", default="disan_sst5")
    parser.add_argument("--before", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--output", type=Path)
    parser.add_argument("--ask", help=argparse.SUPPRESS)
    parser.add_argument("of_one_process", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ask:
        print(json.dumps(ask(options.ask, *options.of_one_process)))
        return
    from disan_tf.benchmark.timing import describe_machine

    result = {"machine": describe_machine(), "checkpoint": options.checkpoint}
    result["cases"] = measure(options.checkpoint, options.before, options.rounds, options.cases)
    text = json.dumps(result, indent=2)
    print(text)
    if options.output:
        options.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
