"""Random calls of the kernels, without TensorFlow, under AddressSanitizer and UBSan."""

import shutil
import subprocess
from pathlib import Path

import pytest

from disan_tf.ops.native import compiler

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


def _compile(source, target, *flags):
    command = ["g++", "-std=c++17", *flags, *SANITIZERS, f"-I{compiler.FOLDER}"]
    command += [str(source), "-o", str(target)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module", autouse=True)
def _sanitizers(tmp_path_factory):
    """Skips where nothing can be compiled with the sanitizers."""
    if not shutil.which("g++"):
        pytest.skip("there is no g++")
    folder = tmp_path_factory.mktemp("empty")
    (folder / "empty.cc").write_text("int main() { return 0; }\n", encoding="utf-8")
    if _compile(folder / "empty.cc", folder / "empty").returncode:
        pytest.skip("g++ has no sanitizers")


def _cpu_flags():
    path = Path("/proc/cpuinfo")
    return set(path.read_text(encoding="utf-8").split()) if path.exists() else set()


# Name -> flags of the compiler, what the CPU must have, calls. "quick" and "widest" use the vectors
# of this CPU, the others narrower ones. Compiling takes longest, and -Og compiles fastest.
BUILDS = {
    "quick": (["-Og", "-march=native"], set(), 1_000),
    "widest": (["-O2", "-march=native"], set(), 10_000),
    "32 bytes": (["-O2", "-mavx2", "-mfma"], {"avx2", "fma"}, 3_000),
    "generic": (["-O2"], set(), 3_000),
}
QUICK = ("recurrence",)  # programs of which one build runs in the daily tests
# Program -> its last element type and that type's share of the calls.
PROGRAMS = {
    "attention": ("double", 4),
    "elementwise": ("bfloat16", 2),
    "co_attention_scores": ("float", 1),
    "recurrence": ("float", 1),
}


@pytest.mark.parametrize(
    "program",
    [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in PROGRAMS],
)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name != "quick")) for name in BUILDS]
)
def test_random_calls_give_the_formulas_and_touch_nothing_else(name, program, tmp_path):
    flags, needed, calls = BUILDS[name]
    if not needed <= _cpu_flags():
        pytest.skip(f"the CPU lacks {' or '.join(needed)}")
    compiled = _compile(FOLDER / f"fuzz_{program}.cc", tmp_path / "fuzz", *flags, *WARNINGS)
    assert compiled.returncode == 0, compiled.stderr
    done = subprocess.run(
        [str(tmp_path / "fuzz"), str(calls)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    dtype, share = PROGRAMS[program]
    assert f"{dtype}: {calls // share} calls, 0 failed" in done.stdout
