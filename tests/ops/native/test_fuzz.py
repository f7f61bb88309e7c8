"""Random calls of the kernels, without TensorFlow, under AddressSanitizer and UBSan.

The programs run on this CPU, and in an emulator of Linux on aarch64.
"""

import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple, Optional

import pytest

from disan_tf.ops.native.compiler import FOLDER as KERNELS

FOLDER = Path(__file__).parent
# -Wno: GCC 12 warns about its own AVX-512 headers; no vectors are passed between libraries here.
WARNINGS = (
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-uninitialized",
    "-Wno-maybe-uninitialized",
    "-Wno-psabi",
)
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
COMPILER = "g++"
CROSS_COMPILER = "aarch64-linux-gnu-g++"
# Name of a compiler -> the command that runs its programs.
EMULATORS = {CROSS_COMPILER: ("qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu")}


class Build(NamedTuple):
    """How a program is compiled, its number of calls, and what the CPU must have."""

    compiler: str
    flags: list[str]
    calls: int
    needed: set[str]
    vector_bytes: Optional[int]  # None: those of this CPU


# Compiling takes longest, and -Og compiles fastest.
BUILDS = {
    "quick": Build(COMPILER, ["-Og", "-march=native"], 1_000, set(), None),
    "widest": Build(COMPILER, ["-O2", "-march=native"], 10_000, set(), None),
    "32 bytes": Build(COMPILER, ["-O2", "-mavx2", "-mfma"], 3_000, {"avx2", "fma"}, 32),
    "generic": Build(COMPILER, ["-O2"], 3_000, set(), 16),
    "aarch64, quick": Build(CROSS_COMPILER, ["-Og"], 300, set(), 16),
    "aarch64": Build(CROSS_COMPILER, ["-O2"], 3_000, set(), 16),
}
QUICK = ("recurrence",)  # programs whose quick builds run in the daily tests
# Program -> its last element type and that type's share of the calls.
PROGRAMS = {
    "attention": ("double", 4),
    "elementwise": ("bfloat16", 2),
    "co_attention_scores": ("float", 1),
    "recurrence": ("float", 1),
}


def _compile(compiler, source, target, *flags):
    command = [compiler, "-std=c++17", *flags, *SANITIZERS, f"-I{KERNELS}"]
    command += [str(source), "-o", str(target)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _run(compiler, program, *arguments):
    environment = dict(os.environ)
    if compiler in EMULATORS:
        environment["ASAN_OPTIONS"] = "detect_leaks=0"  # LeakSanitizer refuses to run in emulators
    command = [*EMULATORS.get(compiler, ()), str(program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


@functools.cache
def _obstacle(compiler):
    """Returns why no program with sanitizers can be compiled and run; "" if one can."""
    for command in (compiler, *EMULATORS.get(compiler, ())[:1]):
        if not shutil.which(command):
            return f"there is no {command}"
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "empty.cc"), Path(folder, "empty")
        source.write_text("int main() { return 0; }\n", encoding="utf-8")
        if _compile(compiler, source, program).returncode:
            return f"{compiler} has no sanitizers"
        outcome = _run(compiler, program)
        return f"sanitizers do not run here: {outcome.stderr}" if outcome.returncode else ""


def _cpu_flags():
    path = Path("/proc/cpuinfo")
    return set(path.read_text(encoding="utf-8").split()) if path.exists() else set()


@pytest.mark.parametrize(
    "program",
    [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in PROGRAMS],
)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (not name.endswith("quick")))
        for name in BUILDS
    ],
)
def test_random_calls_give_the_formulas_and_touch_nothing_else(name, program, tmp_path):
    compiler, flags, calls, needed, vector_bytes = BUILDS[name]
    if obstacle := _obstacle(compiler):
        pytest.skip(obstacle)
    if not needed <= _cpu_flags():
        pytest.skip(f"the CPU lacks {' or '.join(needed)}")
    source, fuzz = FOLDER / f"fuzz_{program}.cc", tmp_path / "fuzz"
    compiled = _compile(compiler, source, fuzz, *flags, *WARNINGS)
    assert compiled.returncode == 0, compiled.stderr
    done = _run(compiler, fuzz, str(calls))
    assert done.returncode == 0, done.stdout + done.stderr
    dtype, share = PROGRAMS[program]
    width = f"{vector_bytes} bytes" if vector_bytes else ""
    assert f"{dtype}: {calls // share} calls, 0 failed, vectors of {width}" in done.stdout
