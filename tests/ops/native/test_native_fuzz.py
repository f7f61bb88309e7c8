"""Thousands of random calls of the plain kernels under AddressSanitizer and UBSan."""

import shutil
import subprocess
from pathlib import Path

import pytest

from disan_tf.ops.native import build

FOLDER = Path(__file__).parent
# -Wno: GCC 12 warns of its own AVX-512 headers; nobody passes vectors between libraries here.
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-maybe-uninitialized", "-Wno-psabi")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def _compile(source, target, *flags):
    command = ["g++", "-std=c++17", "-O2", *flags, *SANITIZERS, f"-I{build.FOLDER}"]
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


# (flags of the compiler, what the CPU must have, calls): this CPU's own vectors and the narrower.
WIDTHS = {
    "widest": (["-march=native"], set(), 10_000),
    "32 bytes": (["-mavx2", "-mfma"], {"avx2", "fma"}, 3_000),
    "generic": ([], set(), 3_000),
}
# Program -> a line that it prints when nothing failed: element type, its share of the calls.
PROGRAMS = {"fuzz": ("double", 4), "fuzz_fused": ("bfloat16", 2), "fuzz_pairs": ("float", 1)}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(
    "width",
    [pytest.param(width, marks=[pytest.mark.slow] * (width != "widest")) for width in WIDTHS],
)
def test_random_calls_give_the_formulas_and_touch_nothing_else(width, program, tmp_path):
    flags, needed, calls = WIDTHS[width]
    if not needed <= _cpu_flags():
        pytest.skip(f"the CPU lacks {' or '.join(needed)}")
    compiled = _compile(FOLDER / f"{program}.cc", tmp_path / "fuzz", *flags, *WARNINGS)
    assert compiled.returncode == 0, compiled.stderr
    done = subprocess.run(
        [str(tmp_path / "fuzz"), str(calls)], capture_output=True, text=True, check=False
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    dtype, share = PROGRAMS[program]
    assert f"{dtype}: {calls // share} calls, 0 failed" in done.stdout
