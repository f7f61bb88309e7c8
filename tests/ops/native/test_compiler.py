"""The compiler's flags: the user's, and those of a system and a processor."""

import platform
import shutil
import sys

import pytest

from disan_tf.common import machine as machines
from disan_tf.ops.native import build, runtime

pytestmark = pytest.mark.usefixtures("cache")
AVX2, AVX512 = ["AVX", "AVX2", "FMA"], ["AVX", "AVX2", "FMA", "AVX512F", "AVX512BW"]


@pytest.fixture
def flags(monkeypatch):
    """Sets DISAN_TF_NATIVE_FLAGS."""
    return lambda value: monkeypatch.setenv("DISAN_TF_NATIVE_FLAGS", value)


@pytest.fixture
def mac(tmp_path, monkeypatch):
    """Pretends to be a Mac, whose sysctl is a script; nobody has run this package on one."""

    def pretend(machine="arm64", brand="Apple M1", options=("arm.FEAT_BF16: 1",)):
        lines = [f"machdep.cpu.brand_string: {brand}", *(f"hw.optional.{o}" for o in options)]
        path = tmp_path / "sysctl"
        asked = '[ "$*" = "machdep.cpu.brand_string hw.optional" ] || exit 1'
        text = "\n".join(["#!/bin/sh", asked, "cat <<'END'", *lines, "END", ""])
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        monkeypatch.setattr(machines, "MACOS", str(path))
        monkeypatch.setattr(sys, "platform", "darwin")
        monkeypatch.setattr(platform, "machine", lambda: machine)

    return pretend


# DISAN_TF_NATIVE_FLAGS


@pytest.mark.parametrize("value", ["", " "])
def test_the_flags_are_for_this_processor_unless_the_environment_names_others(flags, value):
    assert build.compiler.flags()[-1] in ("-march=native", "-mcpu=native")
    flags(value)
    assert build.compiler.flags()[-1] in ("-march=native", "-mcpu=native")
    flags("-mavx2 -mfma")
    assert build.compiler.flags() == [*build.compiler.FLAGS, "-mavx2", "-mfma"]


def test_the_compiler_gets_the_flags_and_each_value_has_its_library(compiler, flags):
    compiler(macros={"-march=native": AVX512, "-mcpu=native": AVX512, "-mavx2": AVX2})
    libraries = [build.library()]
    flags("-mavx2")
    libraries.append(build.library())
    (native, named) = compiler.arguments()
    assert "-mavx2" in named and not {"-march=native", "-mcpu=native"} & {*named}
    assert "-mavx2" not in native and len(set(libraries)) == 2
    assert build.library() == libraries[1] and compiler.calls() == 2


@pytest.mark.parametrize("value", ["-O0", "-mavx2 -ffast-math", "x86-64-v3", "-march='"])
def test_other_flags_are_refused(compiler, flags, value):
    compiler()
    flags(value)
    with pytest.raises(build.BuildError) as failure:
        build.library()
    assert str(failure.value) == (
        f"DISAN_TF_NATIVE_FLAGS={value} may contain only flags that begin with -m, such as "
        "-march=x86-64-v3"
    )
    assert compiler.calls() == 0


def test_instructions_that_the_processor_lacks_are_refused(compiler, flags):
    """They would end the process that loads the library."""
    compiler(macros={"-march=native": AVX2, "-mcpu=native": AVX2, "-mavx512bw": AVX512})
    flags("-mavx512bw")
    with pytest.raises(build.BuildError) as failure:
        build.library()
    assert str(failure.value) == (
        "this processor lacks AVX512BW, AVX512F, which DISAN_TF_NATIVE_FLAGS=-mavx512bw needs; "
        "name a level that the processor has"
    )
    assert compiler.calls() == 0


def test_flags_that_the_compiler_refuses_are_named_in_the_remedy(cache, compiler, flags):
    compiler(
        status=1,
        stderr="cc1plus: error: bad value 'x86-64-v9' for '-march=' switch",
        macros={"-march=native": AVX2, "-mcpu=native": AVX2, "-march=x86-64-v9": []},
    )
    flags("-march=x86-64-v9")
    with pytest.raises(build.BuildError) as failure:
        build.library()
    (remembered,) = cache.glob("*.failed")
    assert str(failure.value).endswith(
        "fails: cc1plus: error: bad value 'x86-64-v9' for '-march=' switch; change "
        f"DISAN_TF_NATIVE_FLAGS, name another compiler with CXX, or remove {remembered} to compile "
        "again"
    )


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the levels are for x86-64")
@pytest.mark.skipif(not shutil.which("g++"), reason="there is no g++")
def test_the_macros_of_gcc_name_the_instruction_sets_of_a_level():
    v2, v3, v4 = (build.compiler.compiled_sets("g++", [f"-march=x86-64-v{n}"]) for n in (2, 3, 4))
    assert {"SSE4_2", "POPCNT"} < v2 < v3 < v4
    assert {"AVX2", "FMA", "F16C"} < v3 - v2 and {"AVX512F", "AVX512VL"} < v4 - v3
    assert build.compiler.compiled_sets("g++", ["-march=nothing"]) == set()


# macOS


def test_on_macos_the_operations_are_off_until_they_are_asked_for(mac, monkeypatch):
    mac()
    assert "DISAN_TF_NATIVE=compile compiles them" in runtime.excluded()
    monkeypatch.setenv("DISAN_TF_NATIVE", "compile")
    assert runtime.excluded() == ""
    monkeypatch.setattr(sys, "platform", "freebsd14")
    assert runtime.excluded() == "the platform is freebsd14, neither Linux nor macOS"


@pytest.mark.parametrize("machine, flag", [("arm64", "-mcpu=native"), ("x86_64", "-march=native")])
def test_on_macos_the_loader_finds_tensorflows_symbols(mac, compiler, machine, flag):
    mac(machine)
    compiler()
    build.library()
    ((*arguments,),) = compiler.arguments()
    assert flag in arguments
    assert arguments[arguments.index("-undefined") + 1] == "dynamic_lookup"


def test_each_kind_of_mac_has_its_library(mac, compiler):
    compiler()
    kinds = [{}, {"brand": "Apple M2"}, {"machine": "x86_64"}, {"options": ("arm.FEAT_BF16: 0",)}]
    libraries = []
    for kind in kinds:
        mac(**kind)
        libraries.append(build.library())
    assert len(set(libraries)) == len(kinds)
