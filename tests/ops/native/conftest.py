"""An empty cache of libraries, a fake compiler, and files of another user."""

import os
import sys

import pytest

from disan_tf.ops.native import runtime

# A compiler that lists its calls in its folder and writes a fixed library.
COMPILER = """#!{python}
import os, sys, time
if "--version" in sys.argv:
    sys.exit(print("{version}"))
if "-dM" in sys.argv:
    sys.exit(print("".join(f"#define __{{name}}__ 1\\n" for name in {macros}[sys.argv[1]])))
with open("{folder}/calls", "a") as calls:
    calls.write(" ".join(sys.argv[1:]) + "\\n")
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
    for name in ("DISAN_TF_NATIVE", "DISAN_TF_NATIVE_FLAGS"):
        monkeypatch.delenv(name, raising=False)
    cached = (runtime.unavailable, runtime.library, runtime._log_choice)
    for function in cached:
        function.cache_clear()
    yield tmp_path / "cache"
    for function in cached:
        function.cache_clear()


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    """Makes a fake compiler and names it in CXX; `calls()` counts, `arguments()` lists its calls.

    It fails with `stderr` unless it is called with the flag that it `needs`. `macros` are its
    instruction sets for a flag.
    """

    def make(seconds=0, status=0, stderr="", version="fake 1", needs="", macros=None):
        path = tmp_path / "compiler"
        text = COMPILER.format(
            python=sys.executable,
            folder=tmp_path,
            version=version,
            seconds=seconds,
            status=status,
            stderr=stderr,
            needs=needs,
            macros=macros or {},
        )
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        monkeypatch.setenv("CXX", str(path))

    def arguments():
        path = tmp_path / "calls"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [line.split() for line in lines]

    make.arguments = arguments
    make.calls = lambda: len(arguments())
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
