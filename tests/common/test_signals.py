"""disan_tf/common/signals.py: what SIGTERM and Control-C do, in processes of their own."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from disan_tf.common import signals
from tests.support.runs.command import needs_sighup

RUN = """
import os, signal, sys, time
sys.argv[0] = "run.py"
from disan_tf.cli import command_line, modes
def work(number, times):
    try:
        for _ in range(times):
            os.kill(os.getpid(), number)
            time.sleep(5)
    finally:
        for _ in range(times - 1):
            os.kill(os.getpid(), number)
            time.sleep(5)
modes.MODES["{mode}"] = lambda data_dir: work(signal.{name}, {times})
sys.argv[1:] = ["--mode={mode}"]
command_line.run()
"""


def ended(name, times=1, mode="doctor"):
    code = RUN.format(name=name, times=times, mode=mode)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


@pytest.mark.parametrize(
    "name, mode, status, sentence",
    [
        ("SIGTERM", "predict", 143, "stopped by SIGTERM; the same command starts over."),
        ("SIGINT", "train", 130, "stopped; the same command resumes at the last checkpoint."),
    ],
    ids=["SIGTERM", "control-C-in-training"],
)
def test_a_signal_ends_with_one_sentence_and_its_status(name, mode, status, sentence):
    outcome = ended(name, mode=mode)
    assert (outcome.returncode, outcome.stderr) == (status, f"run.py: {sentence}\n")


def test_a_second_control_c_while_the_first_is_obeyed_ends_at_once():
    outcome = ended("SIGINT", times=2)
    assert (outcome.returncode, outcome.stderr) == (130, "run.py: stopped at once.\n")


IN_DESTRUCTOR = """
import os, signal, sys, time
sys.argv[0] = "run.py"
from disan_tf.cli import command_line, modes
class Resource:
    def __del__(self):
        os.kill(os.getpid(), signal.{name})
        time.sleep(0.01)
def work(data_dir):
    Resource()
    for _ in range(100):
        time.sleep(0.05)
modes.MODES["doctor"] = work
sys.argv[1:] = ["--mode=doctor"]
command_line.run()
"""


def test_a_signal_during_a_destructor_is_not_lost():
    name, status = "SIGTERM", 143
    outcome = subprocess.run(
        [sys.executable, "-c", IN_DESTRUCTOR.format(name=name)], capture_output=True, text=True
    )
    assert outcome.returncode == status
    assert outcome.stderr.startswith("run.py: stopped") and outcome.stderr.count("\n") == 1


@needs_sighup
def test_sighup_ends_as_sigterm_does():
    outcome = ended("SIGHUP")
    assert outcome.returncode == 128 + signal.SIGHUP
    assert outcome.stderr == "run.py: stopped by SIGHUP; the same command starts over.\n"


def test_an_ignored_sighup_stays_ignored(monkeypatch):
    monkeypatch.setattr(signal, "getsignal", lambda number: signal.SIG_IGN)
    assert signals.ending_signals() == [signal.SIGTERM]


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=needs_sighup)]
)
def test_a_signal_is_remembered_in_a_block_that_defers_it(number):
    before = signal.getsignal(number)
    with signals.deferred() as came:
        assert not came()
        os.kill(os.getpid(), number)
        assert came() == number
    assert signal.getsignal(number) is before


def test_a_thread_defers_nothing():
    said = []

    def work():
        with signals.deferred() as came:
            said.append(came())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert said == [0]
