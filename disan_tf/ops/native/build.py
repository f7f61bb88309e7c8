"""Compiles the native operations for this machine's CPU and caches the library.

    python -m disan_tf.ops.native

The library lies in a cache folder under a key made of the sources, the TensorFlow version, the
compiler, its flags and the CPU: a change in one of them gives a new library. A build that fails is
remembered under its key, so that the next start does not compile in vain. Loading a library runs
its code, so a file that another user may have written is not loaded.
"""

import hashlib
import os
import platform
import stat
import subprocess
import sys
from pathlib import Path
from typing import Callable, Optional

import tensorflow as tf

from disan_tf.common.atomic import naming, scratch_folder, sync_and_rename, write_atomically
from disan_tf.common.errors import UserError
from disan_tf.common.files import sha256
from disan_tf.common.installation import cache_folder
from disan_tf.common.machine import instruction_sets, processor_name
from disan_tf.common.ownership import OTHERS, foreign_parent, why_foreign
from disan_tf.common.process import locked
from disan_tf.ops.native import compiler
from disan_tf.ops.native.compiler import BuildError, CompilerError

_REMEDY = "remove it, or name a folder of your own with DISAN_TF_NATIVE_CACHE"


def library() -> Path:
    """Returns the path of the compiled library, and builds it unless the cache has it.

    If several processes call this at once, one builds and the others wait. The environment variable
    DISAN_TF_NATIVE_CACHE (default "disan_tf/native" in XDG_CACHE_HOME or ~/.cache) names the cache
    folder, which is made for this user alone if it is missing.

    Raises:
      BuildError: no compiler, no headers, no writable folder, unusable flags, the compiler fails or
        failed before, or another user can write the folder or the library, or replace the folder.
    """
    try:
        command = compiler.find_compiler()
        named = os.environ.get("DISAN_TF_NATIVE_CACHE")
        folder = (Path(named) if named else cache_folder("native")).resolve()
        for missing in [path for path in (*reversed(folder.parents), folder) if not path.exists()]:
            missing.mkdir(mode=0o700, exist_ok=True)
        refuse_foreign(folder, stat.S_ISDIR, "folder")
        refuse_foreign_parents(folder)
        target = folder / f"{_key(command)}.so"
        if not _is_whole(target):
            with locked(target.with_suffix(".lock")):
                if not _is_whole(target):
                    _compile_unless_failed(command, target)
    except (OSError, RuntimeError, UserError) as error:  # RuntimeError: there is no home folder
        raise BuildError(str(error)) from None
    return target


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
    status, owners, others = path.lstat(), {os.geteuid(), 0}, OTHERS
    if trusted is not None:
        known = trusted.stat()
        owners.add(known.st_uid)
        if known.st_gid == status.st_gid:
            others &= ~known.st_mode
    wrong = why_foreign(status, owners, others) if is_kind(status.st_mode) else f"is no {kind}"
    if wrong:
        raise BuildError(f"{path} {wrong}, so code in it is not loaded; {remedy}")


def refuse_foreign_parents(folder: Path) -> None:
    """Raises BuildError if another user can replace a folder, see `foreign_parent`."""
    if found := foreign_parent(folder):
        parent, reason = found
        raise BuildError(
            f"{parent} {reason}, so code below it, in {folder}, is not loaded; run chmod go-w "
            f"{parent} if it is yours, or name another folder with DISAN_TF_NATIVE_CACHE"
        )


def _key(command: str) -> str:
    version = subprocess.run([command, "--version"], capture_output=True, check=False).stdout
    processor = [platform.machine(), processor_name(), *sorted(instruction_sets())]
    flags = [*compiler.flags(), *compiler.FEWER_SETS]
    texts = (tf.__version__, " ".join(flags), " ".join(processor))
    parts = [*compiler.sources(), version, *(text.encode() for text in texts)]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _is_whole(target: Path) -> bool:
    """Returns whether the library has its digest; a truncated one would kill the process."""
    if not os.path.lexists(target):
        return False
    refuse_foreign(target, stat.S_ISREG, "regular file")
    digest = target.with_suffix(".sha256")
    return digest.exists() and digest.read_bytes() == sha256(target).encode()


def _compile_unless_failed(command: str, target: Path) -> None:
    """Compiles, and remembers a failure beside the library.

    The library is renamed when it and its digest are complete. The digest is a file beside it,
    since macOS signs a library when it is linked.
    """
    failure = target.with_suffix(".failed")
    named = f"change {compiler.VARIABLE}, " if compiler.named_flags() else ""
    remedy = f"{named}name another compiler with CXX, or remove {failure} to compile again"
    if failure.exists():
        raise BuildError(f"{failure.read_text(encoding='utf-8')}; {remedy}")
    compiler.check_named_flags(command)
    if sys.stderr.isatty():
        print("compiling native operations, once, about half a minute", file=sys.stderr)
    try:
        with scratch_folder(target) as scratch:
            output = scratch / target.name
            compiler.compile_library(command, compiler.flags(), output)
            output.chmod(0o700)  # whatever the umask
            write_atomically(target.with_suffix(".sha256"), sha256(output))
            with naming(target):
                sync_and_rename(output, target)
    except CompilerError as error:
        if error.is_lasting:
            write_atomically(failure, str(error))
            raise BuildError(f"{error}; {remedy}") from None
        raise
