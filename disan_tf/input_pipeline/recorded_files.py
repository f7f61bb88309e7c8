"""Files that a manifest records: sizes, SHA-256 digests, and dtypes and shapes of arrays.

Sizes, dtypes and shapes are compared before a file is mapped, at no cost. Digests cost a full
read; `--mode=doctor` compares them on demand.
"""

import math
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.lib import format as npy

from disan_tf.common.errors import UserError
from disan_tf.common.files import sha256
from disan_tf.input_pipeline.corpus_format import KINDS

_READERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_LONGEST_HEADER = 1000  # bytes; our arrays' headers have 128


class Header(NamedTuple):
    """The header of an `.npy` file, whose array goes from byte `offset` to the end."""

    dtype: np.dtype
    shape: tuple[int, ...]
    order: str
    offset: int
    bytes: int

    def __str__(self) -> str:
        return f"<{self.dtype.str[1:]}>{list(self.shape)} in {self.bytes:,} bytes"


def read_header(path: Path) -> Header:
    """Reads the header of an `.npy` file, and nothing else.

    Raises OSError if it cannot be opened, ValueError if it is no complete array of numbers or
    bytes.
    """
    if path.exists() and not path.is_file():
        raise ValueError("it is not a file")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            read = _READERS[npy.read_magic(file)]
            shape, is_fortran, dtype = read(file, max_header_size=_LONGEST_HEADER)
        except Exception as error:  # its parser of Python literals may raise any error
            kind = type(error).__name__
            raise ValueError(f"it does not begin as an array does: {kind}") from None
        header = Header(dtype, shape, "F" if is_fortran else "C", file.tell(), size)
    if dtype.hasobject or min(shape, default=0) < 0:
        raise ValueError(f"it holds {header}")
    if header.offset + dtype.itemsize * math.prod(shape) != size:
        raise ValueError(f"it is cut off or too long for {header}")
    return header


def _check_kind(path: Path, header: Header) -> None:
    """Raises ValueError unless an array has the dtype and the axes that its name implies."""
    dtypes, axes = KINDS[path.stem.rpartition(".")[2]]
    name = "bytes" if header.dtype.kind == "S" else header.dtype.name
    if name not in dtypes or len(header.shape) != axes or not header.dtype.isnative:
        raise ValueError(f"it holds {header}, not {' or '.join(dtypes)} with {axes} axes")


def record_files(paths: Iterable[Path]) -> dict[str, dict]:
    """Returns the records of files by name: bytes, sha256, and for arrays dtype and shape."""
    records = {}
    for path in paths:
        records[path.name] = {"bytes": path.stat().st_size, "sha256": sha256(path)}
        if path.suffix == ".npy":
            header = read_header(path)
            records[path.name].update(dtype=header.dtype.str, shape=list(header.shape))
    return records


def open_array(path: Path, records: dict, remedy: str) -> np.ndarray:
    """Opens a recorded array, memory-mapped.

    `records` are the folder's, see `record_files`; `remedy` is what to do about a damaged file. A
    file that is missing, damaged, or differs from its record is a UserError.
    """
    try:
        header, record = read_header(path), _record(records, path.name)
        recorded = tuple(record.get(key) for key in ("dtype", "shape", "bytes"))
        if recorded != (header.dtype.str, list(header.shape), header.bytes):
            raise ValueError(f"it holds {header}, which is not what was recorded")
        _check_kind(path, header)
        return np.memmap(path, header.dtype, "r", header.offset, header.shape, header.order)
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read ({error}); {remedy}.") from None


def check_size(path: Path, records: dict, remedy: str) -> Path:
    """Returns the path of a recorded file; UserError if it is missing or has another size."""
    try:
        size, recorded = path.stat().st_size, _record(records, path.name)["bytes"]
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read ({error}); {remedy}.") from None
    if size != recorded:
        raise UserError(f"{path} has {size:,} bytes instead of {recorded}; {remedy}.")
    return path


def damaged_files(folder: Path, records: dict) -> Iterator[str]:
    """Yields the names of recorded files that are missing or differ; reads all files."""
    for name, record in records.items():
        path = folder / name
        if not path.is_file() or sha256(path) != record["sha256"]:
            yield name


def _record(records: dict, name: str) -> dict:
    if name not in records:
        raise ValueError("the manifest does not record it")
    return records[name]
