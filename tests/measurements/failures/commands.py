"""Runs commands of the package in forks of a process that has imported TensorFlow.

    {"arguments": ["run.py", "--mode=..."], "folder": ..., "kill_at": 17, ...}

is a line of the server's standard input, see `Request`. The server answers each line with a line
of JSON, an `Outcome`.
"""

import contextlib
import ctypes
import gc
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Optional

ROOT = Path(__file__).resolve().parents[3]
LIMIT = 900  # seconds after which a command counts as hanging


@dataclass
class Request:
    """The command of a fork, and the failure that breaks it.

    Attributes:
      arguments: "run.py" or the name of a module, and its flags.
      folder: operations on files below it are counted.
      kill_at: the number of the operation before which SIGKILL comes; 0 = none.
      error: number of the error with which that operation fails, in place of SIGKILL; 0 = none.
      trace: the path of a file for all operations, see `power.read_trace`; "" = none.
      after: seconds after which `signal` comes; 0 = never.
      signal: the number of a signal.
    """

    arguments: list
    folder: str = "/nowhere"
    kill_at: int = 0
    error: int = 0
    trace: str = ""
    after: float = 0.0
    signal: int = signal.SIGKILL


@dataclass
class Outcome:
    """The end of a fork: its status as in `subprocess`, its streams, its number of operations."""

    status: Optional[int]
    stdout: str
    stderr: str
    operations: int

    def check(self) -> "Outcome":
        """Raises AssertionError with the complaint, if there is one."""
        assert not self.complaint(), self.complaint()
        return self

    def complaint(self, statuses=(0,)) -> str:
        """Returns what a user should not have seen; "" if all is right."""
        if self.status is None:
            return f"hangs for {LIMIT} s"
        if self.status not in statuses or "Traceback" in self.stderr:
            return f"status {self.status}: {self.stderr[-600:] or self.stdout[-300:]}"
        sentences = [line for line in self.stderr.splitlines() if line.startswith("run.py: ")]
        if self.status == 2 and len(sentences) != 1:
            return f"status 2 with {len(sentences)} sentences: {self.stderr[-600:]}"
        return ""


def build_library(folder: Path) -> Path:
    """Compiles `kill_at.c`."""
    path = folder / "kill_at.so"
    source = Path(__file__).with_name("kill_at.c")
    subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-o", path, source, "-ldl"], check=True)
    return path


class ForkServer:
    """A process that answers requests, one after another; it starts with the first.

    Args:
      library: see `build_library`.
    """

    def __init__(self, library: Path):
        self._library, self._lock, self._process = library, threading.Lock(), None

    def run(self, *arguments, **options) -> Outcome:
        """Returns the outcome of a `Request` with these options."""
        request = Request([str(argument) for argument in arguments], **options)
        with self._lock:
            self._process = self._process or self._start()
            self._process.stdin.write(json.dumps(asdict(request)) + "\n")
            self._process.stdin.flush()
            return Outcome(**json.loads(self._process.stdout.readline()))

    def _start(self) -> subprocess.Popen:
        environment = {"LD_PRELOAD": str(self._library), "TF_CPP_MIN_LOG_LEVEL": "3"}
        return subprocess.Popen(
            [sys.executable, "-m", "tests.measurements.failures.commands", str(self._library)],
            cwd=ROOT,
            env={**os.environ, **environment, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        if self._process:
            self._process.stdin.close()
            self._process.wait()
            self._process.stdout.close()


def serve(library: str) -> None:
    """Answers requests until the input ends; returns in each fork too, as its main program."""
    for name in ("training.series", "serving.export.saved_model", "training.monitoring.pictures"):
        importlib.import_module(f"disan_tf.{name}")  # most commands do so
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        request = Request(**json.loads(line))
        folder = Path(tempfile.mkdtemp())  # no `with`: a fork would remove the folder too
        paths = [folder / name for name in ("stdin", "stdout", "stderr", "count")]
        for path in paths:
            path.touch()
        process = os.fork()
        if not process:
            _become(request, library, paths)
            return
        status = _wait(process, request)
        out, error, counted = (path.read_text(errors="replace") for path in paths[1:])
        shutil.rmtree(folder)
        outcome = Outcome(status, out, error, int(counted or 0))
        answers.write(json.dumps(asdict(outcome)) + "\n")
        answers.flush()


def _wait(process: int, request: Request) -> Optional[int]:
    """Sends the signal of the request; returns the status of the fork, None if it hangs."""
    begun, after, hangs = time.monotonic(), request.after or float("inf"), False
    while True:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            break
        if time.monotonic() > begun + after:
            os.kill(process, request.signal)
            after = float("inf")
        if time.monotonic() > begun + LIMIT:
            hangs = True
            os.kill(process, signal.SIGKILL)
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)  # ends children, such as compilers
    return None if hangs else os.waitstatus_to_exitcode(status)


def _become(request: Request, library: str, paths: list) -> None:
    """Runs the command in the fork."""
    import atexit
    import runpy

    os.setpgid(0, 0)
    for number, path in enumerate(paths[:3]):
        os.dup2(os.open(path, os.O_RDWR), number)
    sys.stdin = os.fdopen(0, closefd=False)
    counter = ctypes.CDLL(library)
    counter.count.restype = ctypes.c_long
    counted = open(paths[3], "w")  # noqa: SIM115 (it must outlive this function)
    atexit.register(lambda: (counted.write(str(counter.count())), counted.flush()))
    atexit.register(gc.freeze)  # else Python collects TensorFlow's garbage at exit
    counter.arm(
        request.folder.encode(),
        ctypes.c_long(request.kill_at),
        request.error,
        request.trace.encode(),
    )
    program, sys.argv = request.arguments[0], list(request.arguments)
    if program == "run.py":
        runpy.run_path("run.py", run_name="__main__")
    else:
        runpy.run_module(program, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    serve(sys.argv[1])
