"""disan_tf/common/quiet.py: TensorFlow's log lines alone are hidden as it is imported."""

import subprocess
import sys

import pytest

from tests.support.runs.training import ROOT

NOISE = """
import os
os.write(2, b"WARNING: All log messages before absl::InitializeLog() is called are ...\\n")
os.write(2, b"I0000 00:00:1795555680.621650    5103 port.cc:153] oneDNN custom operations\\n")
os.write(2, b"2026-01-31 12:00:00.512345: E external/local_xla/cuda_fft.cc:485] Unable to\\n")
os.write(2, b"F0000 00:00:1795555680.621650    5103 cpu.cc:1] a fatal line\\n")
"""


def _import(tmp_path, package, level=None):
    """Imports a package `tensorflow` of the given code after ours; returns what was written."""
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow" / "__init__.py").write_text(package)
    script = "import disan_tf, tensorflow, sys\nprint('imported', file=sys.stderr)"
    environment = {"PYTHONPATH": f"{tmp_path}:{ROOT}"}
    if level is not None:
        environment["TF_CPP_MIN_LOG_LEVEL"] = level
    return subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    ).stderr


def test_log_lines_are_hidden_and_other_lines_are_not(tmp_path):
    shown = _import(tmp_path, f"{NOISE}\nimport warnings; warnings.warn('of ours')")
    lines = shown.splitlines()
    assert lines[0].startswith("F0000") and "of ours" in lines[1] and lines[-1] == "imported"
    assert "oneDNN" not in shown and "Unable to" not in shown and "All log" not in shown


@pytest.mark.parametrize("level, hidden", [("1", False), ("2", True)])
def test_the_level_of_the_environment_decides(level, hidden, tmp_path):
    assert ("oneDNN" not in _import(tmp_path, NOISE, level)) is hidden


def test_all_is_shown_where_the_import_fails(tmp_path):
    shown = _import(tmp_path, f"{NOISE}\nraise ImportError('no such library')")
    assert "oneDNN" in shown and shown.rstrip().endswith("ImportError: no such library")


def test_a_python_without_packages_is_named_with_the_remedy(tmp_path):
    script = "import sys; sys.modules['absl'] = None; import runpy; runpy.run_path('run.py')"
    outcome = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert outcome.returncode == 1
    assert outcome.stderr.count("\n") == 1 and "has no package absl" in outcome.stderr


@pytest.mark.parametrize("level, lines", [("3", ["after"]), ("0", ["summary", "after"])])
def test_a_library_writes_nothing_to_standard_error(level, lines):
    script = """if True:
      import os, sys
      from disan_tf.common.quiet import no_standard_error
      with no_standard_error():
          os.write(2, b"summary\\n")
      print("after", file=sys.stderr)
    """
    environment = {"PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": level}
    command = [sys.executable, "-c", script]
    outcome = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert outcome.stderr.splitlines() == lines
