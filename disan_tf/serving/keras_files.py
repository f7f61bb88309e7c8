"""Loads `.keras` files of strangers: Keras sees only a copy whose content was checked."""

import functools
import inspect
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Union

import h5py
import numpy as np
import tensorflow as tf

import disan_tf.serving.fine_tuning.text_classifier  # noqa: F401, registers all our classes
from disan_tf.common.errors import UserError
from disan_tf.common.files import LONGEST_JSON, decode_json
from disan_tf.common.hdf5 import datasets
from disan_tf.common.keras_version import is_keras_3
from disan_tf.common.schema import check_schema
from disan_tf.models.factory import memory_limit
from disan_tf.runs.weight_files import check_finite

REMEDY = "restore the file, or ask its author for a preset (TextClassifier.save_to_preset)"
_JSON, _WEIGHTS = ("metadata.json", "config.json"), "model.weights.h5"
_SCHEMA = {"module": str, "class_name": str, "config": dict}
_OURS = "disan_tf"  # the modules of our classes may change between versions
# fmt: off
_LAYERS = (
    "Activation", "Add", "Average", "AveragePooling1D", "BatchNormalization", "Bidirectional",
    "Concatenate", "Conv1D", "Dense", "Dot", "Dropout", "ELU", "Embedding", "Flatten", "GRU",
    "GaussianNoise", "GlobalAveragePooling1D", "GlobalMaxPooling1D", "InputLayer", "LSTM",
    "LayerNormalization", "LeakyReLU", "Masking", "MaxPooling1D", "Maximum", "Minimum",
    "Multiply", "PReLU", "Permute", "ReLU", "RepeatVector", "Reshape", "SimpleRNN", "Softmax",
    "SpatialDropout1D", "Subtract", "TimeDistributed",
)
_PARTS = (
    "constraints", "initializers", "losses", "metrics", "optimizers", "optimizers.schedules",
    "regularizers", *(() if is_keras_3() else ("optimizers.experimental",)),
)
# fmt: on
_OTHERS = {
    ("keras", "DTypePolicy", None),
    ("keras", "Sequential", None),
    ("keras.mixed_precision", "Policy", None),
    (None, "__keras_tensor__", None),
    (None, "__tuple__", None),
}


def load_keras(path: Union[str, Path]) -> tf.keras.Model:
    """Loads a `.keras` file, even an untrusted one: imports nothing and runs none of its code.

    The model may consist of this package's layers, encoders and models, `TextClassifier`, and
    Keras' common layers, initializers, regularizers, losses, metrics and optimizers. The same major
    version of Keras must have written the file. The model is compiled if it was saved so.

    Raises:
      UserError: the file cannot be opened, is damaged, or names any other class or function; or its
        weights are not finite, are in other files, or do not match the model.
    """
    path = Path(path)
    with tempfile.TemporaryDirectory() as folder:
        weights, checked = Path(folder) / _WEIGHTS, Path(folder) / "model.keras"
        texts = _unpack(path, weights)
        metadata, config = (decode_json(texts[name], f"{path}: {name}", REMEDY) for name in _JSON)
        check_schema(f"{path}: metadata.json", metadata, dict, REMEDY)
        check_schema(f"{path}: config.json", config, _SCHEMA, REMEDY)
        _check_classes(path, config)
        size = _check_arrays(path, weights)
        with zipfile.ZipFile(checked, "w") as file:
            for name, text in texts.items():
                file.writestr(name, text)
            file.write(weights, _WEIGHTS)
        # Twice the file's size, and a megabyte for unsaved states such as metrics.
        with memory_limit(1, ("file", 2 * size + (1 << 20))):
            try:
                model = tf.keras.models.load_model(checked, safe_mode=True)
            except Exception as error:  # any, since a config has arguments of Keras' own code
                reason = " ".join(str(error).split())[:200] or type(error).__name__
                raise UserError(f"{path} describes no model ({reason}); {REMEDY}.") from None
    check_finite(model, path, REMEDY)
    return model


def _unpack(path: Path, weights: Path) -> dict[str, bytes]:
    """Writes the weights of a file to `weights`, and returns its texts by name.

    Keras does not compress. Since no member may be compressed, none is larger than the file.
    """
    try:
        opened = path.open("rb")
    except OSError as error:
        raise UserError(f"{path} cannot be opened ({error.strerror}); check the path.") from None
    try:
        with opened, zipfile.ZipFile(opened) as file:
            members = file.infolist()
            if sorted(member.filename for member in members) != sorted([*_JSON, _WEIGHTS]):
                names = f"{', '.join(_JSON)} and {_WEIGHTS}"
                raise UserError(f"{path} must have the members {names} alone; {REMEDY}.")
            if any(member.compress_type != zipfile.ZIP_STORED for member in members):
                raise UserError(
                    f"{path} has compressed members, which Keras never writes; {REMEDY}."
                )
            with file.open(_WEIGHTS) as source, weights.open("wb") as target:
                shutil.copyfileobj(source, target)
            texts = {}
            for name in _JSON:
                with file.open(name) as member:
                    texts[name] = member.read(LONGEST_JSON + 1)
            return texts
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError) as error:
        raise UserError(f"{path} is no .keras file, or is damaged ({error}); {REMEDY}.") from None


def _check_classes(path: Path, config: dict) -> None:
    """Raises UserError for the first class or function, at any depth, that is not allowed."""
    keys = ("module", "class_name", "registered_name")
    for place, value in _objects(config):
        names = [value.get(key) for key in keys]
        if value.keys().isdisjoint(keys):
            continue
        is_text = all(isinstance(name, (str, type(None))) for name in names)
        module = _OURS if is_text and str(names[0]).startswith(f"{_OURS}.") else names[0]
        if not is_text or (module, *names[1:]) not in _allowed():
            named = ".".join(str(name)[:80] for name in names[:2] if name is not None)
            raise UserError(
                f"{path}: {place} names {named}, which load_keras does not allow; ask the author "
                "for a preset (TextClassifier.save_to_preset), and open the file with "
                "tf.keras.models.load_model only if you wrote it."
            )


def _objects(config: dict) -> Iterator[tuple[str, dict]]:
    """Yields all objects of a config, each with its place."""
    pending: list[tuple[str, Any]] = [("config.json", config)]
    while pending:
        place, value = pending.pop()
        if isinstance(value, dict):
            yield place, value
        items = value.items() if isinstance(value, dict) else enumerate(value)
        pending += [
            (f"{place[-80:]}.{key}", entry)
            for key, entry in items
            if isinstance(entry, (dict, list))
        ]


@functools.cache
def _allowed() -> frozenset[tuple]:
    """Returns the allowed classes: module, name and registered name, as Keras writes them."""
    ours = {  # Keras finds them by the last name alone
        (_OURS, kind.__name__, name)
        for name, kind in tf.keras.utils.get_custom_objects().items()
        if name.startswith("disan_tf>") and kind.__module__.startswith("disan_tf.")
    }
    x = tf.keras.Input([1])
    functional = type(tf.keras.Model(x, x))
    return frozenset(
        {
            *ours,
            (functional.__module__, functional.__name__, functional.__name__),
            *((f"keras.{part}", name, None) for part in _PARTS for name in _classes(part)),
            *(("keras.layers", name, None) for name in _LAYERS),
            *_OTHERS,
        }
    )


def _classes(part: str) -> Iterator[str]:
    """Yields the names of the classes in a module of Keras."""
    module = functools.reduce(getattr, part.split("."), tf.keras)
    return (name for name in dir(module) if inspect.isclass(getattr(module, name)))


def _is_bfloat16(item: h5py.Dataset) -> bool:
    """Returns whether an array holds bfloat16, which HDF5 knows as two bytes."""
    return item.dtype == np.dtype("V2")


def _floats(item: h5py.Dataset) -> np.ndarray:
    """Returns an array of floats in a type that NumPy knows."""
    if not _is_bfloat16(item):
        return item[()]
    return item[()].view(tf.bfloat16.as_numpy_dtype).astype(np.float32)


def _check_arrays(path: Path, weights: Path) -> int:
    """Returns the bytes of a file's arrays.

    Raises:
      UserError: it has links, arrays that the file does not hold, or numbers that are not finite.
    """
    try:
        with h5py.File(weights) as file:
            arrays = list(datasets(file))
            size = sum(item.nbytes for item in arrays)
            others = [item for item in arrays if item.dtype.kind not in "fiub"]
            if any(map(_is_bfloat16, others)) and not is_keras_3():
                raise ValueError("Keras 2 reads no bfloat16; save the model in float32")
            if not all(map(_is_bfloat16, others)):
                raise ValueError("it has arrays of other types than numbers")
            if size > weights.stat().st_size:
                raise ValueError(f"its arrays have {size:,} bytes, more than the file")
            for item in arrays:  # the optimizer's too
                if item.dtype.kind in "fV" and not np.all(np.isfinite(_floats(item))):
                    raise ValueError(f"{item.name} has weights that are not finite")
            return size
    except (OSError, ValueError, KeyError, RuntimeError, TypeError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise UserError(f"{path}: {_WEIGHTS} is damaged ({reason}); {REMEDY}.") from None
