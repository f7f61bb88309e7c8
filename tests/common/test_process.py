"""disan_tf/common/process.py: locks, forks, signals and standard error, in their own processes."""

import errno
import os
import signal
import subprocess
import sys
import threading

import pytest

from disan_tf.common import process
from disan_tf.ops.native import runtime
from tests.support.processes import run_program
from tests.support.runs.command import needs_sighup, run_forked
from tests.support.runs.training import ROOT

HOLD = """
import sys, time
from disan_tf.common.process import owned
with owned(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """A process that holds the lock of a folder."""
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "held\n"
    yield child
    child.kill()
    child.communicate()


def test_a_folder_has_one_owner_who_is_named(holder, tmp_path):
    message = f"is being written by process {holder.pid} on "
    with pytest.raises(process.Owned, match=message), process.owned(tmp_path):
        pass


def test_a_lock_ends_with_its_process_and_may_be_waited_for(holder, tmp_path):
    threading.Timer(0.5, holder.kill).start()
    with process.owned(tmp_path, wait=True):
        assert holder.wait() < 0


def test_a_lock_is_free_after_its_block(tmp_path):
    for _ in range(2):
        with process.owned(tmp_path / "new"):
            pass


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS])
def test_a_file_system_without_locks_is_warned_of(number, tmp_path, monkeypatch, capsys):
    def flock(file, how):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(process.fcntl, "flock", flock)
    with process.owned(tmp_path / "run"), process.locked(tmp_path / "library.lock"):
        pass
    warned = capsys.readouterr().err.splitlines()
    assert [line.split(" cannot be locked")[0] for line in warned] == [
        f"warning: {tmp_path / name}" for name in ("run/.lock", "library.lock")
    ]


# Calls every entry point in a fork, which SIGALRM ends if it waits.
FORKS = """
import os, signal
import tensorflow as tf
import disan_tf
from disan_tf.ops import directional_attention

def forked(calls):
    if os.fork() == 0:
        signal.alarm(100)
        for name, call in calls.items():
            try:
                call()
                print(name, "works", flush=True)
            except disan_tf.common.errors.UserError as error:
                print(name, str(error).replace("\\n", " "), flush=True)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.wait()[1])

texts = ["a fine film .", "a dull film ."]
assert forked({"before": lambda: disan_tf.load("demo").predict(texts)}) == 0
model = disan_tf.load("demo")
classifier = disan_tf.TextClassifier.from_preset("demo")
model.predict(texts)
x = tf.ones([2, 3, 4])
attend = lambda: directional_attention(x, x, x, tf.ones([2, 3], tf.bool), direction="forward")
attend()
assert forked({
    "load": lambda: disan_tf.load("demo"),
    "predict": lambda: model.predict(texts),
    "predict_proba": lambda: model.predict_proba(texts),
    "encode": lambda: model.encode(texts),
    "similarity": lambda: model.similarity(texts, texts),
    "attend": lambda: model.attend(texts[0]),
    "preprocess": lambda: model.preprocess(texts),
    "from_preset": lambda: disan_tf.TextClassifier.from_preset("demo"),
    "classifier.fit": lambda: classifier.fit(texts, [0, 1]),
    "classifier.evaluate": lambda: classifier.evaluate(texts, [0, 1]),
    "classifier.predict": lambda: classifier.predict(texts),
    "classifier.predict_labels": lambda: classifier.predict_labels(texts),
    "classifier.preprocess": lambda: classifier.preprocess(texts),
    "classifier.adapt": lambda: classifier.adapt(texts, "none.txt"),
    "attention": attend,
}) == 0
"""


def test_a_fork_works_before_a_model_is_loaded_and_is_refused_afterwards(tmp_path):
    (tmp_path / "forks.py").write_text(FORKS)
    done = run_forked(program=str(tmp_path / "forks.py"))
    assert done.returncode == 0, done.stderr
    first, *others = done.stdout.splitlines()
    assert first == "before works" and len(others) == 15
    if runtime.unavailable():  # TensorFlow computes its own operations in a fork too
        assert others.pop() == "attention works"
    for line in others:
        assert " was forked from process " in line and '"spawn" or "forkserver"' in line, line


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


RESUMES = "the same command resumes at the last checkpoint."


def ended(name, times=1, mode="doctor"):
    return run_program(sys.executable, "-c", RUN.format(name=name, times=times, mode=mode))


@pytest.mark.parametrize(
    "name, mode, status, sentence",
    [
        ("SIGTERM", "train", 143, f"stopped by SIGTERM; {RESUMES}"),
        pytest.param(
            *("SIGHUP", "predict", 129, "stopped by SIGHUP; the same command starts over."),
            marks=needs_sighup,
        ),
        ("SIGINT", "predict", 130, "stopped; the same command starts over."),
    ],
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
        os.kill(os.getpid(), signal.SIGTERM)
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
    outcome = run_program(sys.executable, "-c", IN_DESTRUCTOR)
    assert outcome.returncode == 143
    assert outcome.stderr.startswith("run.py: stopped") and outcome.stderr.count("\n") == 1


def test_an_ignored_sighup_stays_ignored(monkeypatch):
    monkeypatch.setattr(signal, "getsignal", lambda number: signal.SIG_IGN)
    assert process.ending_signals() == [signal.SIGTERM]


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=needs_sighup)]
)
def test_a_signal_is_remembered_in_a_block_that_defers_it(number):
    before = signal.getsignal(number)
    with process.deferred_signals() as came:
        assert not came()
        os.kill(os.getpid(), number)
        assert came() == number
    assert signal.getsignal(number) is before


def test_a_thread_defers_nothing():
    said = []

    def work():
        with process.deferred_signals() as came:
            said.append(came())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert said == [0]


NOISE = """
import os
os.write(2, b"WARNING: All log messages before absl::InitializeLog() is called are ...\\n")
os.write(2, b"I0000 00:00:1795555680.621650    5103 port.cc:153] oneDNN custom operations\\n")
os.write(2, b"2026-01-31 12:00:00.512345: E external/local_xla/cuda_fft.cc:485] Unable to\\n")
os.write(2, b"F0000 00:00:1795555680.621650    5103 cpu.cc:1] a fatal line\\n")
"""


def _import(tmp_path, package):
    """Imports a package `tensorflow` of the given code after ours; returns what was written."""
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow" / "__init__.py").write_text(package)
    script = "import disan_tf, tensorflow, sys\nprint('imported', file=sys.stderr)"
    environment = {"PYTHONPATH": f"{tmp_path}:{ROOT}"}
    return run_program(sys.executable, "-c", script, env=environment).stderr


def test_log_lines_are_hidden_and_other_lines_are_not(tmp_path):
    shown = _import(tmp_path, f"{NOISE}\nimport warnings; warnings.warn('of ours')")
    lines = shown.splitlines()
    assert lines[0].startswith("F0000") and "of ours" in lines[1] and lines[-1] == "imported"
    assert "oneDNN" not in shown and "Unable to" not in shown and "All log" not in shown


def test_all_is_shown_where_the_import_fails(tmp_path):
    shown = _import(tmp_path, f"{NOISE}\nraise ImportError('no such library')")
    assert "oneDNN" in shown and shown.rstrip().endswith("ImportError: no such library")


def test_a_python_without_packages_is_named_with_the_remedy(tmp_path):
    script = "import sys; sys.modules['absl'] = None; import runpy; runpy.run_path('run.py')"
    outcome = run_program(sys.executable, "-c", script)
    assert outcome.returncode == 1
    assert outcome.stderr.count("\n") == 1 and "has no package absl" in outcome.stderr


@pytest.mark.parametrize("level, lines", [("3", ["after"]), ("0", ["summary", "after"])])
def test_a_library_writes_nothing_to_standard_error(level, lines):
    script = """if True:
      import os, sys
      from disan_tf.common.process import no_standard_error
      with no_standard_error():
          os.write(2, b"summary\\n")
      print("after", file=sys.stderr)
    """
    environment = {"PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": level}
    outcome = run_program(sys.executable, "-c", script, env=environment)
    assert outcome.stderr.splitlines() == lines
