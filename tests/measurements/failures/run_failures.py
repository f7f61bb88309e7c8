"""Breaks commands, damages and edits files, forges bundles, runs hostile servers, calls oddly.

    python -m tests.measurements.failures.run_failures --output=failures.json
    python -m tests.measurements.failures.run_failures --replay=mutations:17 --seed=1

The summary is JSON. The exit status is 1 if anything failed; each failure says what replays it.
"""

import argparse
import functools
import json
import logging
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable, NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from disan_tf.common.errors import explain  # noqa: E402
from disan_tf.common.files import scratch_folder  # noqa: E402
from tests.measurements.failures import breaks, calls, targets, world  # noqa: E402
from tests.measurements.failures.world import COMMANDS, Case, World  # noqa: E402

STUCK = 10  # times a case's limit in seconds without an answer, after which its process is killed
MEMORY = 2 << 30  # bytes that a case may take
ADDRESSES = 24 << 30  # bytes of a process


class Kind(NamedTuple):
    """A kind of failures.

    Attributes:
      cases: how many by default.
      run: tries a `Case`; returns or raises what is wrong, if anything.
      most: how many different cases there are, if they are counted.
      limit: seconds of a processor that a case may take in our own process, which may refuse it in
        a sentence; 0 = it runs commands, which have limits of their own and may not.
    """

    cases: int
    run: Callable
    most: int = sys.maxsize
    limit: int = 45


def mutate(case: Case) -> None:
    """Reads a damaged file."""

    def copy() -> targets.Damaged:
        folder = case.world.folder / "mutations"
        for path in (case.world.data, case.world.model):
            shutil.copytree(path, folder / path.name)
        found = [make(folder) for make in (targets.raw_targets, targets.run_targets)]
        return targets.Damaged(folder, sum(found, targets.result_targets(folder)))

    case.world.keep("mutations", copy).read(case)


KINDS = {
    "forged": Kind(300, calls.forge),
    "arguments": Kind(1000, calls.call_oddly),
    "leaks": Kind(3000, calls.leak, most=4, limit=1800),  # its number is that of the calls
    "calls": Kind(300, calls.call_export),
    "downloads": Kind(300, calls.download),
    "edits": Kind(40, breaks.edit, limit=0),
    "surroundings": Kind(100, breaks.surround, most=len(breaks.SURROUNDINGS), limit=0),
    "mutations": Kind(10_000, mutate),
    **{
        kind: Kind(cases, functools.partial(breaks.break_command, kind=kind), limit=0)
        for kind, cases in (("power", 80), ("write", 80), ("kill", 200))
    },
}


def judge(kind: Kind, case: Case) -> str:
    """Returns "right", "refused", or what is wrong with a case."""
    started, before = _seconds(case), _memory()
    try:
        verdict = kind.run(case) or "right"
    except Exception as error:
        sentence = explain(error) if kind.limit else None
        verdict = "refused" if sentence else f"{type(error).__name__}: {_tail(error)}"
        if sentence and ("\n" in sentence or len(sentence) > 2000):
            verdict = f"no sentence: {sentence[:300]!r}"
    seconds = _seconds(case) - started
    if kind.limit and seconds > kind.limit:
        verdict = f"takes {seconds:.0f} s of a processor"
    return f"takes {_memory() - before:,} bytes" if _memory() - before > MEMORY else verdict


def _seconds(case: Case) -> float:
    """Those of a processor until now, without what the world has made."""
    return time.process_time() - getattr(case.world, "seconds", 0.0)


def _memory() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _tail(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "site-packages" not in frame.filename][-1]
    return f"{str(error)[:600]} ({Path(ours.filename).name}:{ours.lineno})"


def try_case(place: World, kind: str, number: int, **options) -> tuple[str, str]:
    """Tries a case; returns what it has drawn, and the verdict."""
    case = Case(place, number, random.Random(f"{place.seed} {kind} {number}"))
    run = functools.partial(KINDS[kind].run, **options) if kind in breaks.DRAWS else KINDS[kind].run
    verdict = judge(KINDS[kind]._replace(run=run), case)
    return case.told, verdict


class Worker:
    """A process that tries cases; it is begun anew after a case that ends it or hangs."""

    def __init__(self, options, folder: Path, originals: Path):
        self._arguments, self.process = (options, folder, originals), None

    def ask(self, kind: str, number: int) -> tuple[str, str]:
        """What `try_case` returns, in that process."""
        if self.process is None:
            self._begin()
        patience = STUCK * KINDS[kind].limit or None
        try:
            self._pipe.send((kind, number))
            if self._pipe.poll(patience):
                return self._pipe.recv()
            wrong = "hangs"
        except (EOFError, OSError):
            self.process.join()
            wrong = f"ends the process with {self.process.exitcode}"
        self.end()
        return "?", wrong

    def _begin(self) -> None:
        options, folder, originals = self._arguments
        context = multiprocessing.get_context("spawn")
        self._pipe, end = context.Pipe()
        shutil.rmtree(folder, ignore_errors=True)
        self.process = context.Process(target=_work, args=(options, folder, originals, end))
        self.process.start()
        end.close()

    def end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None


def _work(options, folder: Path, originals: Path, pipe) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    logging.getLogger("tensorflow").setLevel(logging.ERROR)  # of functions traced again
    place = World(folder, originals / "data", originals / "model", options.seed, options.leaks)
    sys.stdout = open(folder / "stdout", "w")  # noqa: SIM115
    while True:
        kind, number = pipe.recv()
        pipe.send(try_case(place, kind, number, commands=options.commands))


def run(options, folder: Path) -> dict:
    """Tries all cases that the flags ask for; returns a summary."""
    jobs = [
        (kind, number)
        for kind in options.parts
        for number in range(min(getattr(options, kind), KINDS[kind].most))
    ]
    if options.replay:
        kind, _, number = options.replay.partition(":")
        jobs = [(kind, int(number))]
    counts, failures, lock, waiting = Counter(), [], threading.Lock(), iter(jobs)
    until = time.monotonic() + 60 * options.minutes

    def work(worker: Worker) -> None:
        while time.monotonic() < until:
            with lock:
                job = next(waiting, None)
            if job is None:
                break
            told, verdict = worker.ask(*job)
            with lock:
                kind, number = job
                counts[kind, "cases"] += 1
                counts[kind, "refused"] += verdict == "refused"
                if verdict not in ("right", "refused"):
                    failures.append(f"--replay={kind}:{number} {told}: {verdict}")
                if options.replay or not KINDS[kind].limit:
                    print(f"{kind} {number}; {told}: {verdict}", file=sys.stderr, flush=True)
        worker.end()

    places = [folder / f"process-{number}" for number in range(options.processes)]
    with ThreadPoolExecutor(options.processes) as pool:
        list(pool.map(work, [Worker(options, place, folder) for place in places]))
    parts = {kind: {it: counts[kind, it] for it in ("cases", "refused")} for kind in options.parts}
    return {"seed": options.seed, **parts, "failures": failures}


def main(arguments=None) -> int:
    """Runs what the flags say; 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="run_failures", description=__doc__)
    parser.add_argument("--output", type=Path, help="file for the summary, JSON")
    parser.add_argument("--seed", type=int, default=1)
    for name, kind in KINDS.items():
        parser.add_argument(f"--{name}", type=int, default=kind.cases, metavar="CASES")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=60, help="after which nothing is begun")
    parser.add_argument("--parts", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--commands", nargs="*", default=list(COMMANDS), choices=list(COMMANDS))
    parser.add_argument("--replay", metavar="KIND:CASE", help="a case, such as mutations:17")
    options = parser.parse_args(arguments)
    with scratch_folder(Path(tempfile.gettempdir(), "failures")) as folder:
        first = World(folder, world.write_data(folder / "data"), folder / "model")
        world.train_model(first)
        first.close()
        started = time.monotonic()
        summary = run(options, folder)
        summary["minutes"] = round((time.monotonic() - started) / 60, 1)
    text = json.dumps(summary, indent=2)
    print(text)
    if options.output:
        options.output.write_text(text + "\n")
    return 1 if summary["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
