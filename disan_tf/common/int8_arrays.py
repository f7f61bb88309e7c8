"""Arrays in HDF5 files as int8 codes and scales.

The dataset `/<name>` contains codes <int8>, and `/scales/<name>` contains scales <float32>. The
array is their product. Codes and scales have the same rank; in each dimension, the size of the
scales is the size of the codes or 1.
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

    All numbers along `axis` share a scale: their largest absolute value divided by `largest`,
    rounded upwards to eight significant bits, because codes of eight bits gain nothing from more.
    """
    largest_numbers = np.abs(array).max(axis, keepdims=True, initial=0.0)
    scales = _round_up(largest_numbers.astype(np.float32) / np.float32(largest))
    codes = np.rint(array / np.where(scales > 0.0, scales, 1.0))
    return codes.astype(np.int8), scales


def _round_up(numbers: np.ndarray) -> np.ndarray:
    """Rounds float32 that are not negative upwards to eight significant bits."""
    return (numbers.view(np.uint32) + 0xFFFF & 0xFFFF0000).view(np.float32)


def read_array(file: h5py.File, name: str) -> np.ndarray:
    """Reads an array, and multiplies codes by their scales.

    Raises ValueError if the scales of codes are missing, have a wrong shape or type, or are
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
