"""Writes and reads a model's weights in an HDF5 file, and checks what it reads.

A file has one of the `PRECISIONS`, and the model that reads it has float32 weights. In a file of
float16, matrices are float16 with the eight significant bits that products in bfloat16 read (the
other three bits would be a fifth of the file). In a file of int8, matrices are int8 with scales,
see `disan_tf.common.int8_arrays`. A table of word vectors has a scale for each row; any other
matrix, such as the kernel of a convolution, has a scale for each output. Arrays of one dimension
are float32 in all files.
"""

import functools
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Optional

import h5py
import numpy as np
import tensorflow as tf

from disan_tf.common.checks import join_choices
from disan_tf.common.errors import UserError
from disan_tf.common.hdf5 import datasets
from disan_tf.common.int8_arrays import SCALES, encode, read_array, scales_of
from disan_tf.layers.embedding.words import WordEmbedding

PRECISIONS = ("float32", "float16", "int8")
REMEDY = "restore it or train the model again"
# Largest codes of int8 arrays. Fewer codes compress to less space. The fixed words, which are rare
# in texts, need less precision.
_TRAINED_CODES, _FIXED_CODES, _MATRIX_CODES = 127, 20, 127


def weights_as_hdf5(model: tf.keras.Model, precision: str = "float32") -> bytes:
    """Returns the content of an HDF5 file with a model's weights, under Keras 2's names.

    The file is built in memory, because HDF5 ends the process if a write to the disk fails.
    `precision` is one of `PRECISIONS`.
    """
    if precision not in PRECISIONS:
        raise ValueError(f"precision={precision!r} must be {join_choices(PRECISIONS)}.")
    content, tables = io.BytesIO(), {}
    with h5py.File(content, "w") as file:
        for layer, place in _places(model):
            group, arrays = file.require_group(place), {}
            layer.save_own_variables(arrays)
            for name, array in arrays.items():
                array = np.asarray(array)
                is_narrow = array.dtype == tf.bfloat16.as_numpy_dtype  # which HDF5 does not know
                group[name] = array.astype(np.float32) if is_narrow else array
            if isinstance(layer, WordEmbedding):
                tables.update({f"{place}/0": _TRAINED_CODES, f"{place}/1": _FIXED_CODES})
    if precision == "float32":
        return content.getvalue()
    return _packed(content, tables if precision == "int8" else None).getvalue()


def _packed(content: io.BytesIO, tables: Optional[dict[str, int]]) -> io.BytesIO:
    """Copies the content of a file of weights with all matrices as int8 or float16.

    `tables` has the largest code of each table of word vectors by name; None stores float16.
    """
    packed = io.BytesIO()

    def copy(name, item):
        if isinstance(item, h5py.Group):
            copied = target.require_group(name)
        elif item.ndim < 2 or item.dtype != np.float32:
            copied = target.create_dataset(name, data=item[()])
        elif tables is None:
            copied = _store_floats(target, name, _round(item[()].astype(np.float16)))
        else:
            axis = (1,) if item.name in tables else tuple(range(item.ndim - 1))
            codes, scales = encode(item[()], tables.get(item.name, _MATRIX_CODES), axis)
            copied = _store_codes(target, name, codes)
            _store_floats(target, scales_of(name), scales)
        copied.attrs.update(item.attrs)

    newer = ("v110", "v110")  # of HDF5; older groups would take .2 MB more
    with h5py.File(content) as source, h5py.File(packed, "w", libver=newer) as target:
        target.attrs.update(source.attrs)
        source.visititems(copy)
    return packed


def _store_floats(file: h5py.File, name: str, array: np.ndarray) -> h5py.Dataset:
    """Stores an array of floats, compressed unless it is empty."""
    layout = {"compression": "gzip", "shuffle": True} if array.size else {}
    return file.create_dataset(name, data=array, **layout)


def _store_codes(file: h5py.File, name: str, codes: np.ndarray) -> h5py.Dataset:
    """Stores int8, deflated without a search for repetitions.

    HDF5's own deflate finds short ones by chance, and fixed vectors then take 7 % more space.
    """
    if not codes.size:
        return file.create_dataset(name, data=codes)
    layout = {"chunks": codes.shape, "compression": "gzip"}
    stored = file.create_dataset(name, codes.shape, codes.dtype, **layout)
    deflate = zlib.compressobj(strategy=zlib.Z_HUFFMAN_ONLY)
    content = deflate.compress(codes.tobytes()) + deflate.flush()
    stored.id.write_direct_chunk((0,) * codes.ndim, content)
    return stored


def _round(array: np.ndarray) -> np.ndarray:
    """Rounds float16 to eight significant bits, ties to even."""
    bits = array.view(np.uint16)
    return (bits + 3 + (bits >> 3 & 1) & 0xFFF8).view(np.float16)


def read_weights(model: tf.keras.Model, path: Path) -> None:
    """Loads the weights of a model from a file.

    Raises UserError if the file is no HDF5, refers to other files, has other weights than the
    model, weights that are not finite, or scales that do not belong to its int8 arrays.
    """
    try:
        with h5py.File(path) as file:
            _check_shapes(model, datasets(file))
            with np.errstate(over="ignore"):  # numbers that overflow are rejected below
                for layer, place in _places(model):
                    arrays = {
                        name: read_array(file, f"{place}/{name}") for name in file.get(place, ())
                    }
                    layer.load_own_variables(arrays)
    except (OSError, ValueError, KeyError, RuntimeError, TypeError, AttributeError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        sentence = f"{path} does not hold the weights of the model ({reason}); {REMEDY}."
        raise UserError(sentence) from None
    check_finite(model, path, REMEDY)


def check_finite(model: tf.keras.Model, path: Path, remedy: str) -> None:
    """Raises UserError for weights from a file that are NaN or infinite; it ends with `remedy`."""
    for weight in model.weights:
        if _dtype(weight).is_floating and not np.all(np.isfinite(weight)):
            raise UserError(f"{path} has weights that are not finite ({weight.name}); {remedy}.")


def _places(layer, place: str = "", seen: Optional[set] = None) -> Iterator[tuple]:
    """Yields a layer and its sublayers, each with the group of a file that holds its weights.

    Keras 2 names a sublayer by the last attribute that has it. Keras 3's own `load_weights` looks
    in another order, and misses layers of several attributes.
    """
    seen = set() if seen is None else seen
    if id(layer) in seen:
        return
    seen.add(id(layer))
    yield layer, f"{place}/vars"
    for name in sorted({*dir(layer)} - _common_attributes(), reverse=True):
        part = getattr(layer, name, None)
        if isinstance(part, tf.keras.layers.Layer):
            yield from _places(part, f"{place}/{name}", seen)
        elif isinstance(part, (list, tuple, dict)):
            parts = part.values() if isinstance(part, dict) else part
            parts = [sublayer for sublayer in parts if isinstance(sublayer, tf.keras.layers.Layer)]
            new = [sublayer for sublayer in dict.fromkeys(parts) if id(sublayer) not in seen]
            for sublayer, kind in zip(new, _kinds(new)):
                yield from _places(sublayer, f"{place}/{name}/{kind}", seen)


@functools.cache
def _common_attributes() -> frozenset[str]:
    """Returns the attributes of every model, in which Keras keeps no sublayers."""
    return frozenset(dir(tf.keras.Model())) - {"layers"}


def _kinds(layers) -> Iterator[str]:
    """Yields the names of layers in a list: "linear", "linear_1", ..."""
    counts = Counter()
    for layer in layers:
        name = _snake_case(type(layer).__name__)
        yield f"{name}_{counts[name]}" if counts[name] else name
        counts[name] += 1


def _snake_case(name: str) -> str:
    """Returns the name of a class as Keras writes it: "DiSAN" -> "di_san"."""
    name = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub("([a-z])([A-Z])", r"\1_\2", name).lower()


def _numpy_kind(weight) -> str:
    return np.dtype(_dtype(weight).as_numpy_dtype).kind


def _check_shapes(model: tf.keras.Model, datasets: Iterable[h5py.Dataset]) -> None:
    """Raises ValueError unless the arrays match the weights in number, shape and kind.

    Arrays of int8 match floats. Each of them must have scales, and no other array may.
    """
    stored, scales, coded = Counter(), set(), set()
    for item in datasets:
        if item.name.startswith(SCALES):
            scales.add(item.name)
            continue
        if item.dtype == np.int8:
            coded.add(scales_of(item.name))
        stored[item.shape, "f" if item.dtype == np.int8 else item.dtype.kind] += 1
    for name in sorted(coded ^ scales):
        raise ValueError(f"{name} {'is missing' if name in coded else 'belongs to no int8 array'}")
    wanted = Counter(
        (tuple(weight.shape), "f" if _dtype(weight).is_floating else _numpy_kind(weight))
        for weight in model.weights
    )
    for (shape, kind), count in (wanted - stored).items():
        raise ValueError(f"it lacks {count} arrays {shape} of kind {kind}")
    for (shape, kind), count in (stored - wanted).items():
        raise ValueError(f"it has {count} arrays {shape} of kind {kind} too many")


def _dtype(weight) -> tf.DType:
    """Returns the dtype of a weight, which is a string in Keras 3."""
    return tf.as_dtype(weight.dtype)
