"""Arrays in HDF5 files as int8 codes and scales.

The array `/<name>` is the product of the codes `/<name>` <int8> and of the scales `/scales/<name>`
<float32>, which have the same rank, and in each dimension the codes' size or 1.
"""

import h5py
import numpy as np

SCALES = "/scales/"
_LARGEST_SCALE = np.finfo(np.float32).max / 128  # so that products are finite


def scales_of(name: str) -> str:
    """Returns the name of the scales that belong to the codes `name`."""
    return SCALES + name.lstrip("/")


def encode(array: np.ndarray, largest: int, axis: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Returns the codes, from -largest to largest, and the scales of an array of floats.

    All numbers along `axis` share a scale, at which the largest of them has the code `largest`.
    Scales have eight significant bits and are rounded upwards: more bits would add nothing.
    """
    largest_numbers = np.abs(array).max(axis, keepdims=True, initial=0.0)
    scales = _round_up(largest_numbers.astype(np.float32) / np.float32(largest))
    codes = np.rint(array / np.where(scales > 0.0, scales, 1.0))
    return codes.astype(np.int8), scales


def _round_up(numbers: np.ndarray) -> np.ndarray:
    """Rounds positive float32 to eight significant bits, upwards."""
    return (numbers.view(np.uint32) + 0xFFFF & 0xFFFF0000).view(np.float32)


def read_array(file: h5py.File, name: str) -> np.ndarray:
    """Reads an array; codes are multiplied by their scales.

    Raises ValueError for codes whose scales are missing, have another shape or type, or are
    negative, too large or not finite.
    """
    stored = file[name]
    if stored.dtype != np.int8:
        return stored[()]
    scales = file.get(scales_of(name))
    if not isinstance(scales, h5py.Dataset) or scales.dtype != np.float32:
        raise ValueError(f"{name} is int8 and has no scales of type float32")
    fits = [size in (1, whole) for size, whole in zip(scales.shape, stored.shape)]
    if len(scales.shape) != len(stored.shape) or not all(fits):
        raise ValueError(f"{name} has the shape {stored.shape}, and scales {scales.shape}")
    factors = scales[()]
    if not np.all((factors >= 0.0) & (factors <= _LARGEST_SCALE)):
        raise ValueError(f"{name} has scales that are negative, too large or not finite")
    return stored[()] * factors
