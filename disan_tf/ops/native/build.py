"""Compiles the native operations for the CPU of this machine, once, and remembers the result.

    python -m disan_tf.ops.native.build

The library lies in a cache folder under a key of the sources, the TensorFlow version, the compiler
and the CPU, so that none of them can change under a library that was built for another.
"""

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import tensorflow as tf

from disan_tf.files import locked

FOLDER = Path(__file__).parent
SOURCES = ("op.cc", "fused_op.cc", "pair_scores_op.cc", "recurrence_op.cc")
# GCC 12 warns of its own AVX-512 headers.
FLAGS = ("-shared", "-fPIC", "-O3", "-march=native", "-Wno-maybe-uninitialized")


class BuildError(Exception):
    """Why there is no library, as one clause."""


def library() -> Path:
    """The compiled library; it is built when it is not there yet.

    Two processes that want it at once build it once. The environment variables CXX (default
    "g++") and DISAN_TF_NATIVE_CACHE (default "disan_tf/native" in XDG_CACHE_HOME or ~/.cache) name
    the compiler and the cache folder.

    Raises:
      BuildError: no compiler, no headers, no place to write, or the compiler fails.
    """
    try:
        compiler = _compiler()
        target = _cache() / f"{_key(compiler)}.so"
        if not _is_whole(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            with locked(target.with_suffix(".lock")):
                if not _is_whole(target):
                    _compile(compiler, target)
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home folder
        raise BuildError(str(error)) from None
    return target


def _compiler() -> str:
    name = os.environ.get("CXX", "g++")
    path = shutil.which(name)
    if path is None:
        raise BuildError(f"there is no compiler {name}")
    return path


def _cache() -> Path:
    named = os.environ.get("DISAN_TF_NATIVE_CACHE")
    general = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(named) if named else Path(general) / "disan_tf" / "native"


def _key(compiler: str) -> str:
    version = subprocess.run([compiler, "--version"], capture_output=True, check=False).stdout
    parts = [path.read_bytes() for path in sorted([*FOLDER.glob("*.cc"), *FOLDER.glob("*.h")])]
    parts += [tf.__version__.encode(), version, " ".join(FLAGS).encode(), _cpu()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _cpu() -> bytes:
    """The model and the instruction sets of the first processor."""
    names = (b"model name", b"flags", b"Features")
    lines = Path("/proc/cpuinfo").read_bytes().split(b"\n\n", 1)[0].splitlines()
    return b"\n".join(line for line in lines if line.startswith(names))


def _is_whole(target: Path) -> bool:
    """Whether the file is there with its digest; to load a shortened library kills the process."""
    if not target.exists():
        return False
    content = target.read_bytes()
    return content[-32:] == hashlib.sha256(content[:-32]).digest()


def _compile(compiler: str, target: Path) -> None:
    """Compiles to a temporary name and renames, so that nobody sees half a library."""
    flags = [*FLAGS, *tf.sysconfig.get_compile_flags()]
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        output = Path(scratch) / target.name
        command = [compiler, *flags, *(str(FOLDER / name) for name in SOURCES), "-o", str(output)]
        command += tf.sysconfig.get_link_flags()
        outcome = subprocess.run(command, capture_output=True, text=True, check=False)
        if outcome.returncode:
            lines = [line for line in outcome.stderr.splitlines() if "error" in line]
            reason = lines[0] if lines else f"exit status {outcome.returncode}"
            raise BuildError(f"{shlex.join(command[:1])} fails: {reason}")
        with open(output, "r+b") as file:
            digest = hashlib.sha256(file.read()).digest()
            file.write(digest)  # at the end, where the loader does not look
        os.replace(output, target)


def main() -> int:
    """Builds, and says where the library is or why there is none."""
    from disan_tf.ops.native.runtime import unavailable

    reason = unavailable()
    print(f"portable attention: {reason}" if reason else f"native attention: {library()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
