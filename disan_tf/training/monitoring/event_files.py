"""Keeps TensorBoard's files whole: without a lost write, and without events of repeated steps."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import tensorflow as tf

from disan_tf.common.files import sync, sync_and_rename

EVENT_FILES = "events.out.tfevents.*"


def drop_later_events(directory: Path, last_step: int) -> None:
    """Removes events after a step from the event files in a directory and its subfolders.

    Args:
      directory: the folder of TensorBoard's logs; it need not exist.
      last_step: the step of the checkpoint from which the training resumes; 0 = there is none, and
        all event files are removed.
    """
    for leftover in Path(directory).rglob(".rewritten-*"):  # from a killed process
        leftover.unlink()
    for path in sorted(Path(directory).rglob(EVENT_FILES)):
        if not last_step:
            path.unlink()
            continue
        size = path.stat().st_size
        kept = [record for record in _records(path) if _step(record) <= last_step]
        if sum(len(record) + _FRAME for record in kept) < size:
            _rewrite(path, kept)


def sync_events(directory: Path) -> None:
    """Waits until the disk has all event files of a directory, if it exists, and its subfolders.

    Raises:
      OSError: a file lacks a part, since TensorFlow goes on after a failed write.
    """
    for path in Path(directory).rglob(EVENT_FILES):
        if _lacks_a_part(path):
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
    if Path(directory).exists():
        sync(directory)


def _lacks_a_part(path: Path) -> bool:
    """Returns whether the file does not end where its last record does, by the records' lengths."""
    size, end = path.stat().st_size, 0
    with open(path, "rb") as file:
        while end < size:
            file.seek(end)
            end += int.from_bytes(file.read(8), "little") + _FRAME
    return end != size


_FRAME = 16  # bytes around a record: its length and two checksums


def _records(path) -> Iterator[bytes]:
    """Yields the events of a file, without an incomplete last one."""
    try:
        yield from tf.data.TFRecordDataset(str(path)).as_numpy_iterator()
    except tf.errors.DataLossError:
        return


def _step(record: bytes) -> int:
    return tf.compat.v1.Event.FromString(record).step


def _rewrite(path, records):
    temporary = path.with_name(f".rewritten-{path.name.rpartition('.')[2]}")
    with tf.io.TFRecordWriter(str(temporary)) as writer:
        for record in records:
            writer.write(record)
    sync_and_rename(temporary, path)
