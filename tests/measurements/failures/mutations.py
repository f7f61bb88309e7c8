"""Damaged files, read in process: a right result, or one sentence."""

import json
import multiprocessing
import random
import resource
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Optional

from disan_tf.common.errors import explain
from tests.measurements.failures.mutated_files import Target, all_targets

SLOW = 45  # seconds of a case, after which it counts as a failure
STUCK = 90  # seconds after which its process is killed
MEMORY = 2 << 30  # bytes that a case may take
ADDRESSES = 24 << 30  # bytes of a process


@dataclass
class Mutations:
    """What came of the cases so far."""

    cases: int = 0
    refused: int = 0
    by_target: Counter = field(default_factory=Counter)
    failures: list = field(default_factory=list)

    def add(self, line: dict) -> None:
        self.cases += 1
        self.refused += line["verdict"] == "refused"
        self.by_target[line["target"]] += 1
        if line["verdict"] not in ("read", "refused"):
            told = f"--replay=mutation:{line['case']} {line['target']}: {line['verdict']}"
            self.failures.append(told)


class Reader:
    """Damages copies of files, and reads them.

    Args:
      originals: what the targets need.
      scratch: for the copies.
      seed: of all cases.
      find_targets: writes more into a folder, and gives the targets below it.
    """

    def __init__(
        self,
        originals: Path,
        scratch: Path,
        seed: int,
        find_targets: Callable[[Path], list[Target]] = all_targets,
    ):
        shutil.copytree(originals, scratch)
        self._originals, self._scratch, self._seed = originals, scratch, seed
        self.targets = find_targets(scratch)
        self._sources = scratch.with_name(f"{scratch.name}-originals")
        shutil.copytree(scratch, self._sources)
        for target in self.targets:
            target.read(scratch / target.name)  # what is whole is read

    def case(self, number: int) -> dict:
        """The verdict on one case: "read", "refused", or what went wrong."""
        draw = random.Random(f"{self._seed} {number}")
        (target,) = draw.choices(self.targets, [target.weight for target in self.targets])
        folder, change = self._scratch / target.name, draw.choice(target.damages)
        content = (self._sources / target.name / target.path).read_bytes()
        for _ in range(draw.choice((1, 1, 2))):
            content = _try(change, content, draw)
        _replace(folder / target.path, content)
        started = time.monotonic()
        verdict = _read(target.read, folder)
        seconds = time.monotonic() - started
        for path in {target.path, "best/model.json"} if target.name == "model" else {target.path}:
            _replace(folder / path, (self._sources / target.name / path).read_bytes())
        if seconds > SLOW:
            verdict = f"takes {seconds:.0f} s"
        told = f"{target.name}/{target.path} {change.__name__}"
        return {"case": number, "target": told, "verdict": verdict}


def _try(change, content: bytes, draw: random.Random) -> bytes:
    try:
        return change(content, draw)
    except (ValueError, IndexError):  # the first damage left nothing for a second
        return content


def _replace(path: Path, content: bytes) -> None:
    """Another file of this name: the old one may be mapped into memory."""
    path.unlink()
    path.write_bytes(content)


def _read(read, folder: Path) -> str:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    try:
        read(folder)
        verdict = "read"
    except Exception as error:
        sentence = explain(error)
        verdict = "refused" if sentence else f"{type(error).__name__}: {_tail(error)}"
        if sentence and ("\n" in sentence or len(sentence) > 2000):
            verdict = f"no sentence: {sentence[:300]!r}"
    taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before
    return f"takes {taken / 1e9:.1f} GB" if taken > MEMORY else verdict


def _tail(error) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "site-packages" not in frame.filename][-1]
    return f"{str(error)[:200]} ({Path(ours.filename).name}:{ours.lineno})"


def run_mutations(
    originals: Path, scratch: Path, seed: int, cases: int, processes: int, until: Optional[float]
) -> Mutations:
    """Reads `cases` damaged files, or as many as there is time for.

    Args:
      originals: a folder with `data` and `model`, see `mutated_files.all_targets`.
      scratch: a folder that does not exist.
      seed: of the cases.
      cases: their number.
      processes: that share them.
      until: of `time.monotonic`, or None.
    """
    scratch.mkdir()
    found, workers = Mutations(), {}
    for number in range(processes):
        workers[number] = _Worker(originals, scratch, seed, range(number, cases, processes))
    while any(worker.is_running(found) for worker in workers.values()):
        if until and time.monotonic() > until:
            break
        time.sleep(0.2)
    for worker in workers.values():
        worker.stop(found)
    return found


class _Worker:
    """A process for some of the cases, begun anew behind a case that killed it."""

    def __init__(self, originals: Path, scratch: Path, seed: int, cases: range):
        self._arguments, self._cases, self._starts = (originals, scratch, seed), cases, 0
        self._begin()

    def _begin(self):
        originals, scratch, seed = self._arguments
        self._starts += 1
        name = scratch / f"{self._cases.start}-{self._starts}"
        self._log, self._at, self._seen = name.with_suffix(".jsonl"), 0, time.monotonic()
        self._process = multiprocessing.get_context("spawn").Process(
            target=_work, args=(originals, name, seed, self._cases, self._log)
        )
        self._process.start()

    def is_running(self, found: Mutations) -> bool:
        """Takes what is new, and begins anew where a case ended the process or hangs."""
        is_alive = self._process.is_alive()
        began = self._take(found)
        if is_alive and time.monotonic() - self._seen < STUCK:
            return True
        if self._process.exitcode == 0:
            return False
        self._process.kill()
        self._process.join()
        if began is None:
            raise RuntimeError(f"the mutations cannot begin: {self._process.exitcode}")
        what = "hangs" if is_alive else f"ends the process with {self._process.exitcode}"
        found.add({"case": began["case"], "target": began["target"], "verdict": what})
        self._cases = range(began["case"] + self._cases.step, self._cases.stop, self._cases.step)
        self._begin()
        return True

    def _take(self, found: Mutations) -> Optional[dict]:
        """Adds new verdicts; returns the case that began and has none."""
        lines = self._log.read_text().splitlines(keepends=True) if self._log.exists() else []
        lines = [json.loads(line) for line in lines if line.endswith("\n")]
        for line in lines[self._at :]:
            self._seen = time.monotonic()
            if "verdict" in line:
                found.add(line)
        self._at = len(lines)
        return lines[-1] if lines and "verdict" not in lines[-1] else None

    def stop(self, found: Mutations) -> None:
        self._process.kill()
        self._process.join()
        self._take(found)


def _work(originals, name: Path, seed: int, cases: range, log: Path) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout = open(name.with_suffix(".out"), "w")  # noqa: SIM115
    reader = Reader(originals, name, seed)
    with open(log, "w", buffering=1) as file:
        for number in cases:
            file.write(json.dumps({"case": number, "target": "?"}) + "\n")
            file.write(json.dumps(reader.case(number)) + "\n")
