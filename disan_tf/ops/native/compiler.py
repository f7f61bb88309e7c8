"""The C++ compiler of the native operations, and its flags for this system and processor.

The environment variable CXX names the compiler. DISAN_TF_NATIVE_FLAGS replaces the flag that
chooses the processor's instruction sets, -march=native: it contains flags that begin with -m, such
as "-march=x86-64-v3" or "-mavx2 -mfma".
"""

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import tensorflow as tf

FOLDER = Path(__file__).parent
FLAGS = ("-shared", "-fPIC", "-O3")
VARIABLE = "DISAN_TF_NATIVE_FLAGS"
# The instruction sets to leave out if the headers cannot compile them, one in each attempt: GCC 12
# and clang 14 fail in TensorFlow 2.21's Eigen on processors with AVX512-FP16.
FEWER_SETS = ("-mno-avx512fp16", "-mno-avx512f")
_TRANSIENT = re.compile("No space left|[Kk]illed|out of memory|Cannot allocate")
# The macros of instructions that a compiler chooses by itself; those of system programs are absent.
_MACRO = re.compile(
    r"^#define __((?:SSE|SSSE|AVX|FMA|F16C|BMI|LZCNT|MOVBE|POPCNT|ARM_FEATURE_)\w*?)_* ", re.M
)


class BuildError(Exception):
    """An error that says in one clause why there is no library."""


class CompilerError(BuildError):
    """The error of a compiler that fails.

    It `names_avx512` if a file for AVX-512 is at fault. It `is_lasting` unless memory or disk space
    was short.
    """

    def __init__(self, compiler: str, outcome: subprocess.CompletedProcess):
        errors = [line for line in outcome.stderr.splitlines() if "error:" in line]
        # "PacketMathFP16.h:740:49: error: ..." without the folder
        reason = re.sub(r"^\S*/", "", errors[0]) if errors else f"exit status {outcome.returncode}"
        super().__init__(f"{shlex.quote(compiler)} fails: {reason[:120]}")
        self.names_avx512 = any("avx512" in line.lower() for line in errors)
        self.is_lasting = outcome.returncode > 0 and not _TRANSIENT.search(outcome.stderr)


def find_compiler() -> str:
    """Returns the path of the C++ compiler; raises BuildError if there is none."""
    name = os.environ.get("CXX", "g++")
    path = shutil.which(name)
    if path is None:
        raise BuildError(f"there is no compiler {name} (CXX names another)")
    return path


def sources() -> list[bytes]:
    """Returns the contents of the C++ files, in a fixed order."""
    return [path.read_bytes() for path in sorted([*FOLDER.glob("*.cc"), *FOLDER.glob("*.h")])]


def flags() -> list[str]:
    """Returns the flags for this system and processor; see `named_flags` for the errors."""
    # On macOS the loader finds TensorFlow's symbols, and the linker must not look for them.
    system = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []
    return [*FLAGS, *system, *(named_flags() or [_native()])]


def named_flags() -> list[str]:
    """Returns the flags in DISAN_TF_NATIVE_FLAGS; raises BuildError unless all begin with -m."""
    value = os.environ.get(VARIABLE, "")
    try:
        named = shlex.split(value)
    except ValueError:  # a quotation mark is missing
        named = [""]
    if not all(flag.startswith("-m") for flag in named):
        raise BuildError(
            f"{VARIABLE}={value} may contain only flags that begin with -m, "
            "such as -march=x86-64-v3"
        )
    return named


def _native() -> str:
    """Returns the flag for this processor; on Apple silicon some compilers know only -mcpu."""
    return "-mcpu=native" if platform.machine() == "arm64" else "-march=native"


def check_named_flags(compiler: str) -> None:
    """Raises BuildError if the flags in DISAN_TF_NATIVE_FLAGS need what this processor lacks.

    A library with such instructions would end the process.
    """
    named = named_flags()
    if not named:
        return
    usable = compiled_sets(compiler, [_native()])  # empty if the compiler refuses the flag
    lacking = compiled_sets(compiler, named) - usable
    if usable and lacking:
        raise BuildError(
            f"this processor lacks {', '.join(sorted(lacking))}, which "
            f"{VARIABLE}={shlex.join(named)} needs; name a level that the processor has"
        )


def compiled_sets(compiler: str, flags: Sequence[str]) -> set[str]:
    """Returns the instruction sets, such as "AVX2", of code that is compiled with these flags.

    The compiler names them in its macros; the set is empty if it refuses the flags.
    """
    command = [compiler, *flags, "-dM", "-E", "-x", "c++", os.devnull]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    return set(_MACRO.findall(outcome.stdout))


def compile_library(compiler: str, flags: Sequence[str], output: Path) -> None:
    """Compiles all sources as one unit; raises BuildError if the compiler fails.

    Reading TensorFlow's headers is most of the work; one unit reads them once. If the compiler
    fails in headers for AVX-512, it is called again without that instruction set.
    """
    try:
        _run(compiler, flags, output)
    except CompilerError as error:
        for fewer in FEWER_SETS if error.names_avx512 else ():
            try:
                return _run(compiler, [*flags, fewer], output)
            except CompilerError:
                pass  # the first error is reported
        raise


def _run(compiler: str, flags: Sequence[str], output: Path) -> None:
    unit = "".join(f'#include "{path}"\n' for path in sorted(FOLDER.glob("*_op.cc")))
    command = [compiler, *flags, *tf.sysconfig.get_compile_flags()]
    command += ["-x", "c++", "-", "-o", str(output), *tf.sysconfig.get_link_flags()]
    english = {**os.environ, "LC_ALL": "C"}
    outcome = subprocess.run(
        command, input=unit, capture_output=True, text=True, check=False, env=english
    )
    if outcome.returncode:
        raise CompilerError(compiler, outcome)
