"""TensorBoard's event files: what a killed training will measure again is removed."""

import os
from collections.abc import Iterator
from pathlib import Path

import tensorflow as tf

EVENT_FILES = "events.out.tfevents.*"


def drop_later_events(directory: Path, last_step: int) -> None:
    """Removes what stands in event files at and below a directory beyond a step.

    Args:
      directory: of TensorBoard's logs; it need not exist.
      last_step: of the checkpoint from which the training goes on; 0, where there is none, leaves
        no event file.
    """
    for leftover in Path(directory).rglob(".rewritten-*"):  # of a killed process
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
    """The events of a file; what a kill has cut off is left out."""
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
    os.replace(temporary, path)
