"""Thousands of random calls of the dropout and the fused kernels, see `fuzz_fused.cc`."""

import shutil
import subprocess
from pathlib import Path

import pytest

from disan_tf.ops.native import build

FOLDER = Path(__file__).parent
# -Wno: GCC 12 warns of its own AVX-512 headers; nobody passes vectors between libraries here.
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-maybe-uninitialized", "-Wno-psabi")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
# (flags of the compiler, what the CPU must have): this CPU's own vectors and the narrower ones.
WIDTHS = {
    "widest": (["-march=native"], set()),
    "32 bytes": (["-mavx2", "-mfma"], {"avx2", "fma"}),
    "generic": ([], set()),
}


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


@pytest.mark.parametrize("width", WIDTHS)
def test_random_calls_give_the_formulas_and_touch_nothing_else(width, tmp_path):
    flags, needed = WIDTHS[width]
    if not needed <= _cpu_flags():
        pytest.skip(f"the CPU lacks {' or '.join(needed)}")
    compiled = _compile(FOLDER / "fuzz_fused.cc", tmp_path / "fuzz", *flags, *WARNINGS)
    assert compiled.returncode == 0, compiled.stderr
    done = subprocess.run(
        [str(tmp_path / "fuzz"), "10000"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "bfloat16: 5000 calls, 0 failed" in done.stdout
