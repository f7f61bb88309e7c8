"""The machine code of the attention kernels."""

import platform
import re
import shutil
import subprocess

import pytest

from disan_tf.ops.native import build, compiler
from tests.support.ops.backends import needs_native

pytestmark = needs_native
CLASSES = ("AttentionForward", "AttentionGradient")


def _output(*command):
    if not shutil.which(command[0]):
        pytest.skip(f"there is no {command[0]}")
    return subprocess.run(
        [*command, str(build.library())], capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture(scope="module")
def passes():
    """{name: assembly} of the functions of the forward and backward passes in float32."""
    text = _output("objdump", "-d", "-C", "--no-show-raw-insn")
    functions = re.findall(r"^\w+ <(disan::.+)>:\n((?:.+\n)+)", text, flags=re.MULTILINE)
    wanted = re.compile(rf"\b({'|'.join(CLASSES)})<(float|disan::BFloat16)>")
    return {name: body for name, body in functions if wanted.search(name)}


def _widest_register():
    """Returns the registers' name for the instruction sets that the library is compiled for."""
    sets = compiler.compiled_sets(compiler.find_compiler(), compiler.flags())
    if {"AVX512F", "AVX512DQ", "AVX512BW", "AVX512VL"} <= sets:
        return "zmm"
    if {"AVX", "FMA"} <= sets:
        return "ymm"
    pytest.skip("the library is compiled without AVX and FMA")


def _arithmetic():
    """Returns patterns of fused multiply-adds in full registers, and of arithmetic on one float."""
    if platform.machine() == "aarch64":
        return r"\bfml[as]\s+v\d+\.4s,", r"\b(?:fn?m(?:add|sub)|fmul|fdiv)\s+s\d"
    wide = rf"\bvf(?:n?m(?:add|sub))\w+ps .*%{_widest_register()}"
    return wide, r"\bv?(?:fmadd\w+ss|mulss|divss|rcpss) "


def test_the_inner_loops_use_the_widest_vectors(passes):
    """The arithmetic of a pair: fused multiply-adds in full registers, and no narrow division."""
    wide, narrow = _arithmetic()
    for kind in CLASSES:
        code = "".join(body for name, body in passes.items() if f"{kind}<float>" in name)
        assert len(re.findall(wide, code)) > 20 and not re.findall(narrow, code)


def test_the_float_passes_call_no_function_of_libm(passes):
    assert all(any(kind in name for name in passes) for kind in CLASSES)
    calls = [re.findall(r"\b(?:call|bl)\s+\w+ <([^@>+]+)", body) for body in passes.values()]
    assert any(calls)  # the pattern finds them
    for called in calls:
        assert not {name for name in called if re.search(r"exp|tanh|pow|log", name)}
