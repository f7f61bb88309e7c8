"""Locks: one owner, who is named, and none of them outlives its process."""

import errno
import os
import subprocess
import sys
import threading

import pytest

from disan_tf.common import locks

HOLD = """
import sys, time
from disan_tf.common.locks import owned
with owned(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """A process that holds the lock of a folder."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_folder_has_one_owner_who_is_named(holder, tmp_path):
    message = f"is being written by process {holder.pid} on "
    with pytest.raises(locks.Owned, match=message), locks.owned(tmp_path):
        pass


def test_a_lock_ends_with_its_process_and_may_be_waited_for(holder, tmp_path):
    threading.Timer(0.5, holder.kill).start()
    with locks.owned(tmp_path, wait=True):
        assert holder.wait() < 0


def test_a_lock_is_free_after_its_block(tmp_path):
    for _ in range(2):
        with locks.owned(tmp_path / "new"):
            pass


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS])
def test_a_file_system_without_locks_is_warned_of(number, tmp_path, monkeypatch, capsys):
    def flock(file, how):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(locks.fcntl, "flock", flock)
    with locks.owned(tmp_path / "run"), locks.locked(tmp_path / "library.lock"):
        pass
    warned = capsys.readouterr().err.splitlines()
    assert [line.split(" cannot be locked")[0] for line in warned] == [
        f"warning: {tmp_path / name}" for name in ("run/.lock", "library.lock")
    ]
