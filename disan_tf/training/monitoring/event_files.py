"""Keeps TensorBoard's files whole: without a lost event, and without events of repeated steps."""

import itertools
import os
import platform
import time
from collections.abc import Iterator
from pathlib import Path

import tensorflow as tf
from tensorboard.compat.proto.event_pb2 import Event

from disan_tf.common.files import sync_and_rename

EVENT_FILES = "events.out.tfevents.*"
_NUMBERS = itertools.count()  # of the files of this process


class EventWriter:
    """Writes a new event file; a failed write raises an error.

    The writers of `tf.summary` go on after a failed write, and lose whole events.

    Args:
      directory: the folder of the file; it is made.

    Raises:
      tf.errors.OpError: the file cannot be written; so do `write`, `flush` and `close`.
    """

    def __init__(self, directory: Path):
        directory.mkdir(parents=True, exist_ok=True)
        process = f"{platform.node()}.{os.getpid()}.{next(_NUMBERS)}.v2"
        path = directory / EVENT_FILES.replace("*", f"{int(time.time()):010d}.{process}")
        self._file = tf.io.TFRecordWriter(str(path))
        self.write(0, file_version="brain.Event:2")

    def write(self, step: int, **content) -> None:
        """Writes an event, such as `summary` or `graph_def`, see TensorBoard's `event.proto`."""
        event = Event(wall_time=time.time(), step=step, **content)
        self._file.write(event.SerializeToString())

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()


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


_FRAME = 16  # bytes around a record: its length and two checksums


def _records(path) -> Iterator[bytes]:
    """Yields the events of a file, without an incomplete last one."""
    try:
        yield from tf.data.TFRecordDataset(str(path)).as_numpy_iterator()
    except tf.errors.DataLossError:
        return


def _step(record: bytes) -> int:
    return Event.FromString(record).step


def _rewrite(path, records):
    temporary = path.with_name(f".rewritten-{path.name.rpartition('.')[2]}")
    with tf.io.TFRecordWriter(str(temporary)) as writer:
        for record in records:
            writer.write(record)
    sync_and_rename(temporary, path)
