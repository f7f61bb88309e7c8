"""Weights of a model in an HDF5 file: written where there is room, read after they are checked."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import tensorflow as tf

from disan_tf.common.errors import UserError

REMEDY = "restore it or train the model again"
_OVERHEAD = 1 << 20  # bytes of a file beside its numbers, at most


def write_weights(model: tf.keras.Model, path: Path) -> None:
    """Writes the weights of a model.

    HDF5 ends the process where a write fails, or tells nobody: the room is taken first, and the
    file is read again, for others may have filled the disk in between.

    Raises:
      OSError: there is no room.
      UserError: the file does not hold what was written.
    """
    size = sum(weight.shape.num_elements() * weight.dtype.size for weight in model.weights)
    _take_room(path, size + _OVERHEAD)
    model.save_weights(path)
    if not _holds(model, path):
        path.unlink()
        raise UserError(
            f"{path} could not be written whole, perhaps because the disk was full for a while; "
            "free some space, or choose another folder."
        )


def _take_room(path: Path, size: int) -> None:
    """Raises OSError unless a file of so many bytes can be written."""
    try:
        with open(path, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, size)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None
    path.unlink()


def _holds(model: tf.keras.Model, path: Path) -> bool:
    """Whether the arrays of a file are the weights of a model."""
    try:
        with h5py.File(path) as file:
            there = Counter(hash(item[()].tobytes()) for item in _datasets(file))
    except (OSError, RuntimeError, KeyError, ValueError):
        return False
    return there == Counter(hash(weight.numpy().tobytes()) for weight in model.weights)


def halve(path: Path) -> None:
    """Rewrites a file of weights with all matrices as float16, compressed.

    They are rounded to the eight significant bits that products in bfloat16 read: the other three
    would be a fifth of the file.
    """
    whole = path.with_name(f"{path.name}.float32")
    path.rename(whole)

    def copy(name, item):
        if isinstance(item, h5py.Group):
            copied = target.require_group(name)
        elif item.ndim == 2 and item.dtype == np.float32:
            content = _round(item[()].astype(np.float16))
            copied = target.create_dataset(name, data=content, compression="gzip", shuffle=True)
        else:
            copied = target.create_dataset(name, data=item[()])
        copied.attrs.update(item.attrs)

    with h5py.File(whole) as source, h5py.File(path, "w") as target:
        target.attrs.update(source.attrs)
        source.visititems(copy)
    whole.unlink()


def _round(array: np.ndarray) -> np.ndarray:
    """Rounds float16 to eight significant bits, and to the even one of two neighbours."""
    bits = array.view(np.uint16)
    return (bits + 3 + (bits >> 3 & 1) & 0xFFF8).view(np.float16)


def read_weights(model: tf.keras.Model, path: Path) -> None:
    """Gives a model the weights of a file.

    Raises:
      UserError: the file is no HDF5, refers to other files, has other weights than the model, or
        one that is not finite.
    """
    try:
        with h5py.File(path) as file:
            _check_shapes(model, list(_datasets(file)))
        with np.errstate(over="ignore"):  # what is not finite then is refused below
            model.load_weights(path)
    except (OSError, ValueError, KeyError, RuntimeError, TypeError, AttributeError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        sentence = f"{path} does not hold the weights of the model ({reason}); {REMEDY}."
        raise UserError(sentence) from None
    for weight in model.weights:
        if weight.dtype.is_floating and not np.all(np.isfinite(weight)):
            raise UserError(f"{path} has weights that are not finite ({weight.name}); {REMEDY}.")


def _datasets(group: h5py.Group) -> Iterator[h5py.Dataset]:
    """All arrays of a file; raises ValueError for those that are elsewhere."""
    for name in group:
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            raise ValueError(f"{group.name}/{name} is a link")
        item = group[name]
        if isinstance(item, h5py.Group):
            yield from _datasets(item)
        elif item.external or item.is_virtual:
            raise ValueError(f"{item.name} is in another file")
        else:
            yield item


def _check_shapes(model: tf.keras.Model, datasets: list[h5py.Dataset]) -> None:
    """Raises ValueError unless there is an array for each weight, of its shape and kind."""
    there = Counter((item.shape, item.dtype.kind) for item in datasets)
    wanted = Counter(
        (tuple(weight.shape), np.dtype(weight.dtype.as_numpy_dtype).kind)
        for weight in model.weights
    )
    for (shape, kind), count in (wanted - there).items():
        raise ValueError(f"it lacks {count} arrays {shape} of kind {kind}")
    for (shape, kind), count in (there - wanted).items():
        raise ValueError(f"it has {count} arrays {shape} of kind {kind} too many")
