"""Runs `run.py` in forks of a process that has imported TensorFlow, which takes most of a run."""

import multiprocessing
import os
import runpy
import signal
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple, Optional

import pytest

from tests.support.runs.training import ROOT

SERVER = multiprocessing.get_context("forkserver")
_PRELOADED = ["disan_tf.serving.export.saved_model", "disan_tf.training.series", __name__]
SERVER.set_forkserver_preload(_PRELOADED)
_STREAMS = ("stdin", "stdout", "stderr")
_TIMEOUT = 300  # seconds

needs_sighup = pytest.mark.skipif(
    signal.getsignal(signal.SIGHUP) == signal.SIG_IGN, reason="SIGHUP is ignored, as by nohup"
)


class Outcome(NamedTuple):
    """How a command ended, named as by `subprocess.run`."""

    returncode: Optional[int]
    stdout: str
    stderr: str


def run_forked(*arguments, text: str = "", program: str = "run.py") -> Outcome:
    """`python <program> <arguments>`, with `text` as its standard input.

    Imports may have been done before: what they print, or that they fail, is not seen here.
    """
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in _STREAMS]
        paths[0].write_text(text, encoding="utf-8")
        process = SERVER.Process(target=_run, args=([program, *map(str, arguments)], paths))
        process.start()
        process.join(_TIMEOUT)
        process.kill()  # if it has not ended
        process.join()
        out, error = (path.read_text(encoding="utf-8") for path in paths[1:])
        return Outcome(process.exitcode, out, error)


def _run(arguments, paths):
    """In the fork, whose exit status is that of the program."""
    for number, path in enumerate(paths):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), number)
    sys.stdin = os.fdopen(0, closefd=False)  # multiprocessing has closed the old one
    os.chdir(ROOT)
    sys.argv, sys.path[0] = arguments, str(ROOT)
    runpy.run_path(arguments[0], run_name="__main__")
