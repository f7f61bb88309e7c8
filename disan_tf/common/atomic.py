"""Atomic writes: a file or a folder has its old content or the new one, never a part of it."""

import contextlib
import errno
import glob
import io
import json
import os
import platform
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Union

from disan_tf.common.errors import UserError
from disan_tf.common.paths import PathLike

_NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EACCES)  # some folders


def write_atomically(path: PathLike, data: Union[str, bytes]) -> None:
    """Writes a file whole or not at all; see `open_atomically`."""
    with open_atomically(path) as file:
        file.write(data.encode("utf-8") if isinstance(data, str) else data)


def write_together(folder: PathLike, contents: dict[str, bytes]) -> None:
    """Writes files, and renames them in the order of `contents` when the disk has all of them."""
    with contextlib.ExitStack() as stack:  # it closes and so renames files in reverse order
        for name, content in reversed(contents.items()):
            path = Path(folder) / name
            file = stack.enter_context(open_atomically(path))
            file.write(content)
            file.flush()
            with naming(path):
                _sync_one(file.name)


@contextlib.contextmanager
def open_atomically(path: PathLike) -> Iterator[BinaryIO]:
    """Opens a file that gets the name `path` when the block has ended and the disk has it all.

    After an error, a kill or a loss of power, `path` is the old file or the new one. In a
    `scratch_folder`, which gets its name as a whole, the file has its name at once. Errors of the
    operating system name the path.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if _temporary_mark() in str(path.parent):
        with open_output(path, path) as file:
            yield file
        return
    temporary = path.with_name(temporary_prefix(path) + secrets.token_hex(4))
    try:
        with open_output(temporary, path) as file:
            yield file
        sync_and_rename(temporary, path)
    except BaseException:
        _remove(temporary)
        raise


def open_output(path: PathLike, shown: PathLike) -> BinaryIO:
    """Opens a file for buffered writes; errors name `shown`, even those raised on closing."""
    return io.BufferedWriter(_Output(path, shown))


class _Output(io.FileIO):
    """A new file, all of whose errors name the path that it will have."""

    def __init__(self, path: PathLike, target: PathLike):
        with naming(target):
            super().__init__(path, "w")
        self._target = target

    def write(self, data) -> int:
        with naming(self._target):
            return os.write(self.fileno(), data)


@contextlib.contextmanager
def naming(path: PathLike) -> Iterator[None]:
    """Adds `path` to errors of the operating system; errors of failed writes name no file."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from None


def sync_and_rename(new: PathLike, target: PathLike) -> None:
    """Renames a file or a folder when the disk has all of its content; errors name `target`."""
    target = Path(target)
    with naming(target):
        sync(new)
        os.replace(new, target)
        _sync_one(target.parent)


def replace_folder(new: PathLike, target: PathLike) -> None:
    """Gives the folder `new` in a `scratch_folder` the name `target`; an older one is removed.

    The new content reaches the disk first. If the renaming fails, the older folder gets its name
    back. A kill between the two renamings leaves it in the scratch folder, which the next one for
    this target removes.
    """
    new, target = Path(new), Path(target)
    old = new.with_name("old")
    with naming(target):
        sync(new)
        try:
            if target.exists():
                os.replace(target, old)
            os.replace(new, target)
        except BaseException:
            if old.exists() and not target.exists():
                os.replace(old, target)
            raise
        _sync_one(target.parent)


def sync(path: PathLike) -> None:
    """Waits until the disk has a file, or a folder and all that is in it."""
    for entry in (*Path(path).rglob("*"), path):
        _sync_one(entry)


def _sync_one(path: PathLike) -> None:
    try:
        with naming(path):
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise


def write_array(path: PathLike, array) -> None:
    """Writes an array as a `.npy` file, atomically and without a copy in memory."""
    import numpy as np  # most commands' help needs no NumPy

    array = np.ascontiguousarray(array)
    with open_atomically(path) as file:  # `np.save` does not say which of its writes failed
        header = np.lib.format.header_data_from_array_1_0(array)
        np.lib.format.write_array_header_1_0(file, header)
        file.write(array.data)


def write_arrays(path: PathLike, **arrays) -> None:
    """Writes arrays as a compressed `.npz` file, atomically."""
    import numpy as np  # most commands' help needs no NumPy

    content = io.BytesIO()  # on a full disk, closing a zip file raises a second error
    np.savez_compressed(content, **arrays)
    write_atomically(path, content.getvalue())


def copy_file(source: PathLike, target: PathLike) -> None:
    """Copies the content of a file, atomically."""
    with open(source, "rb") as file, open_atomically(target) as copy:
        shutil.copyfileobj(file, copy, 1 << 20)


def temporary_prefix(target: PathLike) -> str:
    """Returns the prefix of a temporary name for `target`: this machine's name and process' number.

    Removes the temporary files that killed processes of this machine left behind.
    """
    target = Path(target)
    for leftover in target.parent.glob(f".{glob.escape(target.name)}.tmp-{_machine()}-*"):
        process = leftover.name.rsplit("-", 2)[1]
        if process.isdecimal() and not _lives(int(process)):
            _remove(leftover)
    return f".{target.name}{_temporary_mark()}"


def _temporary_mark() -> str:
    return f".tmp-{_machine()}-{os.getpid()}-"


def _machine() -> str:
    return re.sub(r"[^\w-]", "", platform.node())[:32]


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # the process runs for another user
        pass
    return True


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):  # removed by another process, or not permitted
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def write_json(path: PathLike, value) -> None:
    """Writes `value` as indented JSON, atomically."""
    write_atomically(path, to_json(value))


def to_json(value) -> bytes:
    """Returns `value` as indented JSON."""
    return f"{json.dumps(value, indent=2, ensure_ascii=False)}\n".encode()


def make_parent(target: Path) -> None:
    """Makes the folder of an output; raises UserError if that, or a file in it, is impossible."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=target.parent).close()
    except OSError as error:
        raise UserError(f"{target.parent} cannot be written ({error.strerror}).") from None


@contextlib.contextmanager
def scratch_folder(target: PathLike) -> Iterator[Path]:
    """Yields a temporary folder beside `target`, in which to write it before it is renamed.

    What cannot be removed at the end, such as files that a network's file system keeps open, stays
    until the next command. Raises UserError if the parent folder of `target` is not writable.
    """
    target = Path(target)
    make_parent(target)
    scratch = tempfile.mkdtemp(dir=target.parent, prefix=temporary_prefix(target))
    try:
        yield Path(scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
