"""Damaged files, read in process: a right result, or one sentence."""

import multiprocessing
import random
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable

from disan_tf.common.errors import explain
from tests.measurements.failures.mutated_files import Target, all_targets

SLOW = 45  # seconds of a case, after which it counts as a failure
STUCK = 180  # seconds after which its process is killed
MEMORY = 2 << 30  # bytes that a case may take
ADDRESSES = 24 << 30  # bytes of a process


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
    originals: Path, scratch: Path, seed: int, cases: int, processes: int, until: float
) -> dict:
    """Reads `cases` damaged files, or as many as there is time for; returns a summary.

    Args:
      originals: a folder with `data` and `model`, see `mutated_files.all_targets`.
      scratch: a folder that does not exist.
      seed: of the cases.
      cases: their number.
      processes: that share them.
      until: of `time.monotonic`.
    """

    def read(first: int) -> list[dict]:
        numbers = range(first, cases, processes)
        return list(_verdicts(originals, scratch / str(first), seed, numbers, until))

    with ThreadPoolExecutor(processes) as pool:
        lines = [line for part in pool.map(read, range(processes)) for line in part]
    failures = [
        f"--replay=mutation:{line['case']} {line['target']}: {line['verdict']}"
        for line in lines
        if line["verdict"] not in ("read", "refused")
    ]
    refused = sum(line["verdict"] == "refused" for line in lines)
    return {"cases": len(lines), "refused": refused, "failures": failures}


def _verdicts(originals, scratch: Path, seed: int, cases: range, until: float) -> Iterator[dict]:
    """Verdicts of a process, begun anew behind a case that ends it or hangs."""
    context = multiprocessing.get_context("spawn")
    while cases:
        receiver, sender = context.Pipe(duplex=False)
        arguments = originals, scratch / str(cases.start), seed, cases, sender
        process = context.Process(target=_work, args=arguments)
        process.start()
        sender.close()
        while cases and time.monotonic() < until:
            number, cases = cases[0], cases[1:]
            try:
                if receiver.poll(STUCK):
                    yield receiver.recv()
                    continue
                verdict = "hangs"
            except EOFError:
                process.join()
                verdict = f"ends the process with {process.exitcode}"
            if process.exitcode == 1:  # a case does not end so
                raise RuntimeError("the mutations cannot begin")
            yield {"case": number, "target": "?", "verdict": verdict}
            break
        else:
            cases = ()
        process.kill()
        process.join()


def _work(originals, scratch: Path, seed: int, cases: range, sender) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    scratch.parent.mkdir(parents=True, exist_ok=True)
    sys.stdout = open(scratch.with_suffix(".out"), "w")  # noqa: SIM115
    reader = Reader(originals, scratch, seed)
    for number in cases:
        sender.send(reader.case(number))
