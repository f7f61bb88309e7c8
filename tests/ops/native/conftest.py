"""An empty cache of libraries, a fake compiler, and files of another user."""

import os
import sys

import pytest

from disan_tf.ops.native import runtime

# A compiler that counts its calls in its folder and writes a fixed library.
COMPILER = """#!{python}
import os, sys, time
if "--version" in sys.argv:
    sys.exit(print("{version}"))
with open("{folder}/calls", "a") as calls:
    calls.write("call\\n")
if "{needs}" and "{needs}" not in sys.argv:
    sys.exit({stderr!r})
output = sys.argv[sys.argv.index("-o") + 1]
with open(output, "wb") as file:
    file.write(b"half")
    file.flush()
    time.sleep({seconds})
    file.write(b" and half")
sys.stderr.write({stderr!r})
sys.exit({status})
"""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder, and no library in this process, before and afterwards."""
    monkeypatch.setenv("DISAN_TF_NATIVE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("DISAN_TF_NATIVE", raising=False)
    cached = (runtime.unavailable, runtime.library, runtime._log_choice)
    for function in cached:
        function.cache_clear()
    yield tmp_path / "cache"
    for function in cached:
        function.cache_clear()


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    """Makes a fake compiler and names it in CXX; `calls()` counts its calls.

    It fails with `stderr` unless it is called with the flag that it `needs`.
    """

    def make(seconds=0, status=0, stderr="", version="fake 1", needs=""):
        path = tmp_path / "compiler"
        text = COMPILER.format(
            python=sys.executable,
            folder=tmp_path,
            version=version,
            seconds=seconds,
            status=status,
            stderr=stderr,
            needs=needs,
        )
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        monkeypatch.setenv("CXX", str(path))

    def calls():
        path = tmp_path / "calls"
        return len(path.read_text(encoding="utf-8").splitlines()) if path.exists() else 0

    make.calls = calls
    return make


@pytest.fixture
def give_away(monkeypatch):
    """Lets a file or a folder belong to another user than the one that runs the test."""

    def give(path):
        if os.geteuid() == 0:
            os.chown(path, 12345, -1)
        else:
            monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)

    return give
