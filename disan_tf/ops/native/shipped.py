"""The compiled libraries of a Linux wheel, for machines without a compiler.

`make wheel` compiles them and writes their manifest; a source package and the repository have none.
A library fits one build of TensorFlow and one level of processors. Its bytes must have the digest
of the manifest, and the C++ files beside it the digest of the sources that it was compiled from.
"""

import hashlib
import os
import platform
import stat
from pathlib import Path
from typing import NamedTuple

import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.common.files import read_json, sha256
from disan_tf.common.machine import instruction_sets
from disan_tf.ops.native.build import refuse_foreign
from disan_tf.ops.native.compiler import FLAGS, VARIABLE, BuildError, sources

FOLDER = Path(__file__).parent / "libraries"
MANIFEST = "manifest.json"
SCHEMA = {
    "sources": str,
    "libraries": {str: {"tensorflow": {str: str}, "processor": str, "sha256": str}},
}
_REMEDY = "reinstall disan_tf"
_V2 = "cx16 lahf_lm pni popcnt sse4_1 sse4_2 ssse3"
_V3 = f"{_V2} abm avx avx2 bmi1 bmi2 f16c fma movbe xsave"
_V4 = f"{_V3} avx512bw avx512cd avx512dq avx512f avx512vl"


class Level(NamedTuple):
    """A level of processors: its name for GCC's -march, and its flags in /proc/cpuinfo."""

    name: str
    flags: str


# Machine -> its levels, the fastest first.
LEVELS = {
    "x86_64": (Level("x86-64-v4", _V4), Level("x86-64-v3", _V3)),
    "aarch64": (Level("armv8-a", "asimd"),),
}


class NoLibraryError(BuildError):
    """The error if no shipped library is meant for this TensorFlow and processor."""


def library() -> Path:
    """Returns the path of the shipped library for this TensorFlow and processor.

    Raises:
      NoLibraryError: there is none; the message is empty if the package ships no libraries at all.
      BuildError: there is one, but it changed since the wheel was built, or users who cannot
        write this module can write it.
    """
    manifest = (FOLDER / MANIFEST).resolve()
    if not manifest.exists():
        raise NoLibraryError("")
    if os.environ.get("DISAN_TF_NATIVE") == "compile":
        raise NoLibraryError("DISAN_TF_NATIVE=compile excludes the shipped libraries")
    if os.environ.get(VARIABLE):
        raise NoLibraryError(f"{VARIABLE} excludes the shipped libraries")
    try:
        _refuse_foreign(manifest.parent, stat.S_ISDIR, "folder")
        _refuse_foreign(manifest, stat.S_ISREG, "regular file")
        content = read_json(manifest, _REMEDY, SCHEMA)
        name = _choose(content)
        path = (FOLDER / name).resolve()
        _refuse_foreign(path, stat.S_ISREG, "regular file")
        if sha256(path) != content["libraries"][name]["sha256"]:
            raise BuildError(f"{path} changed since the wheel was built; {_REMEDY}")
    except (OSError, UserError) as error:
        raise BuildError(str(error).rstrip(".")) from None
    return path


def tensorflow_build() -> dict[str, str]:
    """Returns what identifies the build of TensorFlow, and so its binary interface."""
    flags = [flag for flag in tf.sysconfig.get_compile_flags() if not flag.startswith("-I")]
    return {
        "version": tf.version.VERSION,
        "git": tf.version.GIT_VERSION,
        "compiler": tf.version.COMPILER_VERSION,
        "flags": " ".join(flags),
    }


def sources_digest() -> str:
    """Returns the digest of the C++ files and the compiler's flags."""
    return hashlib.sha256(b"\0".join([*sources(), " ".join(FLAGS).encode()])).hexdigest()


def _choose(content: dict) -> str:
    """Returns the name of the library for this TensorFlow and the processor's highest level."""
    if content["sources"] != sources_digest():
        raise NoLibraryError("the shipped libraries were compiled from other sources")
    build, libraries = tensorflow_build(), content["libraries"]
    fitting = {
        library["processor"]: name
        for name, library in libraries.items()
        if library["tensorflow"] == build
    }
    if not fitting:
        versions = sorted(
            {library["tensorflow"].get("version", "?") for library in libraries.values()}
        )
        raise NoLibraryError(
            f"the shipped libraries are for TensorFlow {' and '.join(versions)} as on PyPI, "
            f"and this is {build['version']}"
        )
    sets = instruction_sets()
    for level in LEVELS.get(platform.machine(), ()):
        if level.name in fitting and sets.issuperset(level.flags.split()):
            return fitting[level.name]
    raise NoLibraryError(f"the shipped libraries need a processor of level {' or '.join(fitting)}")


def _refuse_foreign(path, is_kind, kind):
    """Raises BuildError if users who cannot write this module can write `path`."""
    refuse_foreign(path, is_kind, kind, _REMEDY, trusted=Path(__file__))
