"""Puts one fault after the other into a copy of the code, and runs the tests that ought to see it.

    python -m tests.measurements.faults.run_faults --output=faults.json

prints a line for each fault of `faults.py` and the totals of the folders. A fault is caught if one
of its tests fails, cannot be collected, crashes, or has not ended after `--timeout` seconds. With
`--output` the outcomes are written after each fault, and `--resume` takes up those that stand
there; `--only` names one folder, and `--tree` another checkout. The exit status is 1 where a fault
is not applicable: its line is not in the code, or more than once, or its tests are not there.

    python -m tests.measurements.faults.run_faults --unmodified

tells first whether those tests pass as the code is. Tests run in forks of a process that has
imported what takes long, and nothing of the package.
"""

import collections
import contextlib
import importlib
import json
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing.connection import wait
from pathlib import Path
from typing import Callable, NamedTuple, Optional

from tests.measurements.faults.faults import FAULTS, Fault

CODE = ("disan_tf", "data_prep", "configs", "run.py")  # where a line is looked for
SUFFIXES = (".py", ".cc", ".h")
PRELOADED = ("tensorflow.keras", "tensorflow_text", "scipy.optimize", "h5py", "pytest")
BUILD = 120  # seconds beyond the timeout where the native library is built again
CAUGHT, MISSED, NOT_APPLICABLE = "caught", "missed", "not applicable"
_FORK = multiprocessing.get_context("fork")


class Result(NamedTuple):
    """How a run of tests went: `outcome`, and in a few words why."""

    outcome: str
    reason: str
    seconds: float


def copy_tree(tree: Path, folder: Path) -> None:
    """Copies the files of a checkout: those of git, and new ones that it does not ignore."""
    command = ["git", "-C", str(tree), "ls-files", "-z", "--cached", "--others"]
    command += ["--exclude-standard"]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (tree / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(tree / name, folder / name)


def measure(fault: Fault, copy: Path, timeout: float) -> Result:
    """Runs the tests of a fault with the fault in `copy`, which is as before afterwards."""
    places = _places(copy, fault.line)
    tests = [_find_tests(copy, name) for name in fault.tests]
    if len(places) != 1:
        return Result(NOT_APPLICABLE, f"its line stands {len(places)} times in the code", 0.0)
    if not all(tests):
        absent = [name for name, paths in zip(fault.tests, tests) if not paths]
        return Result(NOT_APPLICABLE, f"there is no {' and no '.join(absent)}", 0.0)
    (path, number) = places[0]
    content = path.read_bytes()
    lines = content.decode("utf-8").split("\n")
    indentation = lines[number][: -len(lines[number].lstrip())]
    lines[number] = indentation + fault.fault if fault.fault else ""
    try:
        path.write_bytes("\n".join(lines).encode("utf-8"))
        return run_tests(copy, sum(tests, []), timeout + BUILD * (path.suffix != ".py"))
    finally:
        path.write_bytes(content)


def measure_unmodified(test: str, copy: Path, timeout: float) -> Result:
    """Runs one file of tests as the code is, where nothing is to be caught."""
    return run_tests(copy, _find_tests(copy, test), timeout + BUILD)


def run_tests(copy: Path, tests: Sequence[Path], timeout: float) -> Result:
    """Runs pytest in a fork, which is killed with all that it started when its time is over."""
    log, started = copy.with_suffix(".log"), time.monotonic()
    process = _FORK.Process(target=_run_pytest, args=(copy, tests, log))
    process.start()
    hangs = not wait([process.sentinel], timeout)  # it keeps its number until it is joined
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # what it has left behind too
    process.join()
    seconds = round(time.monotonic() - started, 1)
    if hangs:
        return Result(CAUGHT, f"no end after {timeout:g} s", seconds)
    return Result(*_judge(process.exitcode, log), seconds)


def _run_pytest(copy: Path, tests: Sequence[Path], log: Path) -> None:
    """In the fork: leaves it as a new `python -m pytest` in the copy would be."""
    os.setsid()
    with open(log, "wb") as file:
        os.dup2(file.fileno(), sys.stdout.fileno())
        os.dup2(file.fileno(), sys.stderr.fileno())
    os.chdir(copy)
    sys.argv, sys.path[0] = ["pytest"], str(copy)
    for name in [name for name in sys.modules if name.split(".")[0] == "tests"]:
        del sys.modules[name]
    sys.modules["__main__"] = types.ModuleType("__main__")  # spawned processes would import ours
    names = [str(test.relative_to(copy)) for test in tests]
    status = sys.modules["pytest"].main(["-x", "-q", "-p", "no:cacheprovider", *names])
    sys.stdout.flush()
    os._exit(status)  # at once: no thread of TensorFlow is waited for


def _judge(status: int, log: Path) -> tuple[str, str]:
    """Outcome and reason from what pytest ended with: 1 for failures, 2 and 4 at collection."""
    if status == 0:
        return MISSED, "its tests pass"
    if status < 0:
        return CAUGHT, f"ended by signal {-status}"
    if status not in (1, 2, 4):
        return NOT_APPLICABLE, f"pytest ends with {status}"
    text = log.read_text(encoding="utf-8", errors="replace")
    failures = re.findall(r"^(?:FAILED|ERROR) (.*)$", text, re.MULTILINE)
    return CAUGHT, failures[0][:160] if failures else f"pytest ends with {status}"


def _places(copy: Path, line: str) -> list[tuple[Path, int]]:
    """Files and numbers, from 0, of the lines that are `line` without their indentation."""
    roots = [copy / name for name in CODE]
    paths = [path for root in roots for path in (root.rglob("*") if root.is_dir() else [root])]
    return [
        (path, number)
        for path in paths
        if path.suffix in SUFFIXES
        for number, text in enumerate(path.read_bytes().decode("utf-8").split("\n"))
        if text.strip() == line
    ]


def _find_tests(copy: Path, name: str) -> list[Path]:
    return sorted((copy / "tests").rglob(name))


def _in_copies(measure: Callable, items: Iterable, options: Namespace) -> Iterator[tuple]:
    """(item, its result) as they come, from processes with a copy of the tree each."""
    with tempfile.TemporaryDirectory(prefix="faults-") as scratch:
        os.environ["DISAN_TF_NATIVE_CACHE"] = f"{scratch}/native"
        inputs = options.tree, scratch
        with ProcessPoolExecutor(options.jobs, _FORK, _open_copy, inputs) as pool:
            futures = {pool.submit(_call, measure, item, options.timeout): item for item in items}
            for future in as_completed(futures):
                yield futures[future], future.result()


_copy: Optional[Path] = None  # of this process, once `_open_copy` has run


def _open_copy(tree: Path, scratch: str) -> None:
    global _copy
    _copy = Path(scratch) / f"copy-{os.getpid()}"
    copy_tree(tree, _copy)


def _call(measure, item, timeout):
    return measure(item, _copy, timeout)


def _preload() -> None:
    """Imports what tests import anyway; bytecode is not written, for files change too fast."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ["PYTHONDONTWRITEBYTECODE"], sys.dont_write_bytecode = "1", True
    for name in PRELOADED:
        importlib.import_module(name)


class Records:
    """What came out so far, in the file `path` if there is one."""

    def __init__(self, path: Optional[Path], resume: bool):
        self._path = path
        self.all = json.loads(path.read_text("utf-8")) if resume and path.exists() else []
        self.all = [record for record in self.all if record["outcome"] != NOT_APPLICABLE]

    def lacks(self, fault: Fault) -> bool:
        """Whether a fault, with these tests, has not come out yet."""
        known = json.loads(json.dumps(fault._asdict())).items()
        return not any(known <= record.items() for record in self.all)

    def add(self, fault: Fault, result: Result) -> None:
        """Appends an outcome, and writes the file anew, whole or not at all."""
        self.all.append({**fault._asdict(), **result._asdict()})
        if self._path:
            new = self._path.with_name(f".{self._path.name}.tmp")
            new.write_text(json.dumps(self.all, indent=2) + "\n", "utf-8")
            new.replace(self._path)


def summarize(records: Sequence[dict]) -> str:
    """The faults that were not caught, and a line of counts for each folder and for all."""
    lines = [
        f"{record['outcome']}: {record['folder']}: {record['line']}\n    {record['reason']}"
        for record in records
        if record["outcome"] != CAUGHT
    ]
    counts = collections.Counter((record["folder"], record["outcome"]) for record in records)
    counts.update(("all", record["outcome"]) for record in records)
    lines.append(f"{'folder':<16}" + "".join(f"{name:>16}" for name in (CAUGHT, MISSED, "neither")))
    for folder in dict.fromkeys(folder for folder, _ in counts):
        cells = [counts[folder, outcome] for outcome in (CAUGHT, MISSED, NOT_APPLICABLE)]
        lines.append(f"{folder:<16}" + "".join(f"{cell:>16}" for cell in cells))
    return "\n".join(lines)


def check_unmodified(faults: Sequence[Fault], options: Namespace) -> int:
    """Prints how each named file of tests ends as the code is; 0 if all of them pass."""
    names = sorted({test for fault in faults for test in fault.tests})
    failing = 0
    for name, result in _in_copies(measure_unmodified, names, options):
        failing += result.outcome != MISSED
        verdict = "passes" if result.outcome == MISSED else f"FAILS: {result.reason}"
        print(f"{result.seconds:6.1f} s  {name}: {verdict}", flush=True)
    return int(failing > 0)


def check_faults(faults: Sequence[Fault], options: Namespace) -> int:
    """Prints the outcome of each fault and the totals; 0 if all faults are applicable."""
    records = Records(options.output, options.resume)
    for fault, result in _in_copies(measure, filter(records.lacks, faults), options):
        records.add(fault, result)
        print(
            f"{result.seconds:6.1f} s  {result.outcome}: {fault.folder}: {fault.line}", flush=True
        )
    print(summarize(records.all))
    return int(any(record["outcome"] == NOT_APPLICABLE for record in records.all))


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Reads the command line; the exit status."""
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", type=Path, default=Path(__file__).parents[3], help="a checkout")
    parser.add_argument("--only", choices=list(dict.fromkeys(fault.folder for fault in FAULTS)))
    parser.add_argument("--jobs", type=int, default=1, help="copies that are tested at a time")
    parser.add_argument("--timeout", type=float, default=180.0, help="seconds for a fault's tests")
    parser.add_argument("--output", type=Path, help="a .json for the outcomes")
    parser.add_argument("--resume", action="store_true", help="leave out what --output holds")
    parser.add_argument("--unmodified", action="store_true", help="run the tests without faults")
    options = parser.parse_args(arguments)
    if options.resume and not options.output:
        parser.error("--resume needs --output, which holds the outcomes so far")
    options.tree = options.tree.resolve()
    os.environ.setdefault("DISAN_TF_SHARED", str(options.tree.parent / "shared"))  # for the copies
    faults = [fault for fault in FAULTS if options.only in (None, fault.folder)]
    _preload()
    return (check_unmodified if options.unmodified else check_faults)(faults, options)


if __name__ == "__main__":
    sys.exit(main())
