"""Compiles the native operations for this machine's CPU and caches the library.

    python -m disan_tf.ops.native

The library lies in a cache folder under a key made of the sources, the TensorFlow version, the
compiler and the CPU: a change in one of them gives a new library. A build that fails is remembered
under its key, so that the next start does not compile in vain. Loading a library runs its code, so
a file that another user can have written is not loaded.
"""

import hashlib
import os
import platform
import re
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Callable, Optional

import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.common.files import naming, scratch_folder, sync_and_rename, write_atomically
from disan_tf.common.installation import cache_folder
from disan_tf.common.locks import locked
from disan_tf.common.processor import instruction_sets, processor_name

FOLDER = Path(__file__).parent
# GCC 12 warns about its own AVX-512 headers.
FLAGS = ("-shared", "-fPIC", "-O3", "-march=native", "-Wno-maybe-uninitialized")
# The instruction sets to leave out if the headers cannot compile them, one in each attempt: GCC 12
# and clang 14 fail in TensorFlow 2.21's Eigen on processors with AVX512-FP16.
FEWER_SETS = ("-mno-avx512fp16", "-mno-avx512f")
_TRANSIENT = re.compile("No space left|[Kk]illed|out of memory|Cannot allocate")
_REMEDY = "remove it, or name a folder of your own with DISAN_TF_NATIVE_CACHE"


class BuildError(Exception):
    """An error that says in one clause why there is no library."""


class _CompilerError(BuildError):
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


def library() -> Path:
    """Returns the path of the compiled library, and builds it unless the cache has it.

    If several processes call this at once, one builds and the others wait. CXX (default "g++")
    names the compiler, DISAN_TF_NATIVE_CACHE (default "disan_tf/native" in XDG_CACHE_HOME or
    ~/.cache) the cache folder; both are environment variables.

    Raises:
      BuildError: no compiler, no headers, no writable folder, the compiler fails or failed before,
        or another user can write the folder or the library.
    """
    try:
        compiler = find_compiler()
        target = _open_cache() / f"{_key(compiler)}.so"
        if not _is_whole(target):
            with locked(target.with_suffix(".lock")):
                if not _is_whole(target):
                    _compile_unless_failed(compiler, target)
    except (OSError, RuntimeError, UserError) as error:  # RuntimeError: there is no home folder
        raise BuildError(str(error)) from None
    return target


def find_compiler() -> str:
    """Returns the path of the C++ compiler; raises BuildError if there is none."""
    name = os.environ.get("CXX", "g++")
    path = shutil.which(name)
    if path is None:
        raise BuildError(f"there is no compiler {name} (CXX names another)")
    return path


def _cache() -> Path:
    named = os.environ.get("DISAN_TF_NATIVE_CACHE")
    return Path(named) if named else cache_folder("native")


def _open_cache() -> Path:
    """Returns the cache folder without symbolic links; makes it for this user alone if missing."""
    folder = _cache().resolve()
    for missing in [path for path in (*reversed(folder.parents), folder) if not path.exists()]:
        missing.mkdir(mode=0o700, exist_ok=True)
    refuse_foreign(folder, stat.S_ISDIR, "folder")
    return folder


def refuse_foreign(
    path: Path,
    is_kind: Callable[[int], bool],
    kind: str,
    remedy: str = _REMEDY,
    trusted: Optional[Path] = None,
) -> None:
    """Raises BuildError unless only this user, or the administrator, can have written `path`.

    Args:
      path: a file or folder with code.
      is_kind: a function of a file's mode, such as `stat.S_ISREG`; `kind` is its name.
      remedy: the end of the error message.
      trusted: a file whose code this process runs already. Its owner, and its group if it is the
        group of `path`, may write `path` if they may write `trusted`.
    """
    status = path.lstat()
    owners, others = {os.geteuid(), 0}, stat.S_IWGRP | stat.S_IWOTH
    if trusted is not None:
        known = trusted.stat()
        owners.add(known.st_uid)
        if known.st_gid == status.st_gid:
            others &= ~known.st_mode
    wrong = ""
    if not is_kind(status.st_mode):
        wrong = f"is no {kind}"
    elif status.st_uid not in owners:
        wrong = f"belongs to another user ({status.st_uid})"
    elif status.st_mode & others:
        wrong = f"can be written by others (mode {stat.S_IMODE(status.st_mode):04o})"
    if wrong:
        raise BuildError(f"{path} {wrong}, so code in it is not loaded; {remedy}")


def sources() -> list[bytes]:
    """Returns the contents of the C++ files, in a fixed order."""
    return [path.read_bytes() for path in sorted([*FOLDER.glob("*.cc"), *FOLDER.glob("*.h")])]


def _key(compiler: str) -> str:
    version = subprocess.run([compiler, "--version"], capture_output=True, check=False).stdout
    flags = " ".join([*FLAGS, *FEWER_SETS]).encode()
    processor = " ".join([platform.machine(), processor_name(), *sorted(instruction_sets())])
    parts = [*sources(), tf.__version__.encode(), version, flags, processor.encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _is_whole(target: Path) -> bool:
    """Returns whether the file ends with its digest; a truncated library would kill the process."""
    if not os.path.lexists(target):
        return False
    refuse_foreign(target, stat.S_ISREG, "regular file")
    content = target.read_bytes()
    return content[-32:] == hashlib.sha256(content[:-32]).digest()


def _compile_unless_failed(compiler: str, target: Path) -> None:
    """Compiles, and remembers a failure beside the library."""
    failure = target.with_suffix(".failed")
    remedy = f"name another compiler with CXX, or remove {failure} to compile again"
    if failure.exists():
        raise BuildError(f"{failure.read_text(encoding='utf-8')}; {remedy}")
    try:
        _compile(compiler, target)
    except _CompilerError as error:
        if error.is_lasting:
            write_atomically(failure, str(error))
            raise BuildError(f"{error}; {remedy}") from None
        raise


def _compile(compiler: str, target: Path) -> None:
    """Compiles to a temporary name that is renamed when the library and its digest are complete."""
    if sys.stderr.isatty():
        print("compiling native operations, once, about half a minute", file=sys.stderr)
    with scratch_folder(target) as scratch:
        output = scratch / target.name
        compile_library(compiler, FLAGS, output)
        with naming(target), open(output, "r+b") as file:
            digest = hashlib.sha256(file.read()).digest()
            file.write(digest)  # at the end, which the loader ignores
        output.chmod(0o700)  # whatever the umask
        sync_and_rename(output, target)


def compile_library(compiler: str, flags: Sequence[str], output: Path) -> None:
    """Compiles all sources as one unit; raises BuildError if the compiler fails.

    Reading TensorFlow's headers is most of the work; one unit reads them once. If the compiler
    fails in headers for AVX-512, it is called again without that instruction set.
    """
    try:
        _run_compiler(compiler, flags, output)
    except _CompilerError as error:
        for fewer in FEWER_SETS if error.names_avx512 else ():
            try:
                return _run_compiler(compiler, [*flags, fewer], output)
            except _CompilerError:
                pass  # the first error is reported
        raise


def _run_compiler(compiler: str, flags: Sequence[str], output: Path) -> None:
    unit = "".join(f'#include "{path}"\n' for path in sorted(FOLDER.glob("*_op.cc")))
    command = [compiler, *flags, *tf.sysconfig.get_compile_flags()]
    command += ["-x", "c++", "-", "-o", str(output), *tf.sysconfig.get_link_flags()]
    english = {**os.environ, "LC_ALL": "C"}
    outcome = subprocess.run(
        command, input=unit, capture_output=True, text=True, check=False, env=english
    )
    if outcome.returncode:
        raise _CompilerError(compiler, outcome)
