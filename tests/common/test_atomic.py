"""disan_tf/common/atomic.py: operations that fail, killed processes and losses of power."""

import errno
import itertools
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from disan_tf.common import atomic
from tests.measurements.failures.power import LOSSES, Disk, Operation


def _write_folder(path, text):
    with atomic.scratch_folder(path) as scratch:
        (scratch / "new").mkdir()
        atomic.write_atomically(scratch / "new/inner", text)
        atomic.replace_folder(scratch / "new", path)


def _copy(path, text):
    source = path.parent.with_name("source")
    source.write_text(text)
    atomic.copy_file(source, path)


WRITERS = {
    "bytes": atomic.write_atomically,
    "json": atomic.write_json,
    "array": lambda path, text: atomic.write_array(path, np.array([text])),
    "arrays": lambda path, text: atomic.write_arrays(path, text=np.array(text)),
    "together": lambda path, text: atomic.write_together(path.parent, {"a": text.encode()}),
    "copy": _copy,
    "folder": _write_folder,
}


@pytest.fixture(params=WRITERS)
def write(request):
    return WRITERS[request.param]


@pytest.fixture
def path(write, tmp_path):
    """What `write` writes, in a folder of its own."""
    (tmp_path / "disk").mkdir()
    write(tmp_path / "disk/a", "old")
    return tmp_path / "disk/a"


def _content(path: Path):
    if path.is_dir():
        return [_content(inner) for inner in path.iterdir()]
    return path.read_bytes() if path.exists() else None


def _fill_disk(handle, data, write=os.write):
    write(handle, data[:2])
    raise OSError(errno.ENOSPC, "No space left on device")


def _interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("function, failure", [("write", _fill_disk), ("replace", _interrupt)])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path, monkeypatch, function, failure
):
    path = tmp_path / "a.txt"
    path.write_text("old")
    monkeypatch.setattr(atomic.os, function, failure)
    with pytest.raises((OSError, KeyboardInterrupt)):
        atomic.write_atomically(path, "something new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_write_removes_temporary_files_of_killed_processes(tmp_path):
    ended = subprocess.Popen(["true"])
    ended.wait()
    path = tmp_path / "a.txt"
    machine = atomic.temporary_prefix(path).rsplit("-", 2)[0]
    gone, living = (f"{machine}-{process}-" for process in (ended.pid, os.getppid()))
    others = (gone.replace("a.txt", "b.txt"), gone.replace(".tmp-", ".tmp-elsewhere"))
    for name in (gone, living, *others):  # a file and a folder
        (tmp_path / name).touch()
        (tmp_path / f"{name}folder").mkdir()
        (tmp_path / f"{name}folder" / "content").touch()
    atomic.write_atomically(path, "new")
    assert {entry.name for entry in tmp_path.iterdir()} == {
        "a.txt",
        *(name + end for name in (living, *others) for end in ("", "folder")),
    }


def test_a_scratch_folder_is_removed_and_names_its_process(tmp_path):
    with atomic.scratch_folder(tmp_path / "a.txt") as scratch:
        assert f"-{os.getpid()}-" in scratch.name
        assert scratch.name.startswith(atomic.temporary_prefix(tmp_path / "a.txt"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
def test_a_failed_operation_names_the_path_and_leaves_the_old_or_the_new(
    write, path, error, monkeypatch
):
    old, seen = _content(path), []
    for number in itertools.count(1):
        with monkeypatch.context() as patch:
            _let_fail(patch, number, error)
            try:
                write(path, "the new text")
            except OSError as failure:
                inner = failure.filename.startswith(f"{path.parent}/.a.tmp-")
                assert failure.errno == error
                assert failure.filename == str(path) or (inner and path.is_dir())
            else:
                break
        seen.append(_content(path))
        assert [each for each in os.listdir(path.parent) if each != "a"] == []
    new = _content(path)
    assert old != new and all(each in (old, new) for each in seen) and number > 4


def test_a_file_that_cannot_be_synced_is_named(tmp_path, monkeypatch):
    (tmp_path / "a").touch()
    _let_fail(monkeypatch, 1, errno.EIO)
    with pytest.raises(OSError, match="Input/output error") as caught:
        atomic.sync(tmp_path)
    assert caught.value.filename == str(tmp_path / "a")


@pytest.mark.parametrize("error", [errno.EINVAL, errno.ENOTSUP])
def test_a_file_system_that_cannot_sync_folders_is_written(error, tmp_path, monkeypatch):
    _let_fail(monkeypatch, 4, error)  # after the write, the file's sync and the renaming
    atomic.write_atomically(tmp_path / "a", "text")
    assert (tmp_path / "a").read_text() == "text"


def _let_fail(patch, number: int, error: int) -> None:
    """Makes the operation of this number fail, the first of them 1."""
    done = itertools.count(1)

    def wrap(function):
        def call(*arguments):
            if next(done) == number:
                raise OSError(error, os.strerror(error))
            return function(*arguments)

        return call

    for name in ("write", "fsync", "replace"):
        patch.setattr(atomic.os, name, wrap(getattr(os, name)))


def test_a_loss_of_power_leaves_the_old_or_the_new(write, tmp_path, monkeypatch):
    path, operations = tmp_path / "disk/a", []
    path.parent.mkdir()
    _record(monkeypatch, operations)
    write(path, "old")
    old, begun = _content(path), len(operations)
    write(path, "the new text")
    new = _content(path)
    monkeypatch.undo()
    for count in range(begun, len(operations) + 1):
        for loss in LOSSES:
            Disk(path.parent, operations[:count]).restore(loss)
            whole = (old, new, None) if isinstance(new, list) else (old, new)
            assert _content(path) in whole, (loss, operations[count - 1])
    for loss in LOSSES:
        Disk(path.parent, operations).restore(loss)
        assert _content(path) == new


def _record(patch, operations: list) -> None:
    """Records what the atomic writer does, for `Disk`."""
    write, fsync, replace, mkdir, rename = os.write, os.fsync, os.replace, os.mkdir, os.rename

    def named(handle):
        return os.readlink(f"/proc/self/fd/{handle}")

    def record_write(handle, data):
        operations.append(Operation("open", named(handle)))
        operations.append(
            Operation("write", named(handle), "", os.lseek(handle, 0, 1), bytes(data))
        )
        return write(handle, data)

    def record_fsync(handle):
        operations.append(Operation("fsync", named(handle)))
        fsync(handle)

    def record_rename(source, target, function=replace):
        operations.append(Operation("rename", str(source), str(target)))
        function(source, target)

    def record_mkdir(folder, *arguments, **options):
        mkdir(folder, *arguments, **options)
        operations.append(Operation("mkdir", str(folder)))

    patch.setattr(os, "write", record_write)
    patch.setattr(os, "fsync", record_fsync)
    patch.setattr(os, "replace", record_rename)
    patch.setattr(os, "rename", lambda *paths: record_rename(*paths, function=rename))
    patch.setattr(os, "mkdir", record_mkdir)
