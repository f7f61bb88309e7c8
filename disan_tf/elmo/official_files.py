"""The official files of a biLM: `options.json`, the arguments of `BiLM`, and `weights.hdf5`."""

import io
from pathlib import Path

import h5py
import numpy as np

from disan_tf.common.atomic import write_atomically, write_json
from disan_tf.common.checks import MAX_LAYERS
from disan_tf.common.errors import UserError
from disan_tf.common.files import read_json
from disan_tf.common.hdf5 import datasets
from disan_tf.common.options import MAX_UNITS
from disan_tf.common.paths import PathLike
from disan_tf.elmo.bilm import BiLM, cell_name, official_tensors
from disan_tf.elmo.token_encoder import ACTIVATIONS
from disan_tf.text.characters import BYTE_CHARACTERS, LONGEST_WORD

# The section and key of each `BiLM` argument in the file, and the official code's default;
# ... = required.
_PLACES = {
    "units": ("lstm", "projection_dim", ...),
    "cells": ("lstm", "dim", ...),
    "layers": ("lstm", "n_layers", 1),
    "cell_clip": ("lstm", "cell_clip", None),
    "projection_clip": ("lstm", "proj_clip", None),
    "skip_connections": ("lstm", "use_skip_connections", False),
    "filters": ("char_cnn", "filters", ...),
    "highways": ("char_cnn", "n_highway", None),
    "activation": ("char_cnn", "activation", ...),
    "word_length": ("char_cnn", "max_characters_per_token", ...),
}
_OR_NONE = ("cell_clip", "projection_clip", "highways")  # null in the file is 0 in `BiLM`
_WHOLE = ("units", "cells", "layers", "highways", "word_length")
_LEAST = {"highways": 0, "word_length": 3}  # lowest values; 1 for other whole numbers
_MOST = {"layers": MAX_LAYERS, "highways": MAX_LAYERS, "word_length": LONGEST_WORD}


def read_options(path: PathLike) -> dict:
    """Reads the arguments of the `BiLM` that a file describes.

    The file may have further values, for training. `n_characters`, if present, must be 261 or 262;
    the official release asks for 262 for use.

    Raises:
      UserError: the file is missing or no JSON, lacks a value, or has one that is not supported.
    """
    content = read_json(path, "restore the options file of the biLM")
    arguments = {name: _find(content, *place, path) for name, place in _PLACES.items()}
    arguments.update({name: 0 for name in _OR_NONE if arguments[name] is None})
    embedding = _find(content, "char_cnn", "embedding", ..., path)

    def check(name, is_right, wanted, value=...):
        if not is_right:
            value = arguments[name] if value is ... else value
            raise UserError(
                f"{path}: {_name(name)} is {value!r}, and must be {wanted}; name a file that fits."
            )

    check("char_cnn.embedding", isinstance(embedding, dict), 'an object with "dim"', embedding)
    arguments["character_dim"] = embedding.get("dim")
    for name in (*_WHOLE, "character_dim"):
        least = _LEAST.get(name, 1)
        is_enough = _is_whole(arguments[name]) and arguments[name] >= least
        check(name, is_enough, f"a whole number of at least {least}")
        most = _MOST.get(name, MAX_UNITS)
        check(name, arguments[name] <= most, f"at most {most:,}")
    known = BYTE_CHARACTERS, BYTE_CHARACTERS + 1
    characters = content["char_cnn"].get("n_characters", known[0])
    wanted = f"{known[0]} or {known[1]}"
    check("char_cnn.n_characters", characters in known, wanted, characters)
    check("activation", arguments["activation"] in ACTIVATIONS, " or ".join(ACTIVATIONS))
    filters, length = arguments["filters"], arguments["word_length"]
    are_pairs = isinstance(filters, list) and filters and all(map(_is_filter, filters))
    check("filters", are_pairs, "pairs of a width and a count, both above 0")
    check("filters", max(width for width, _ in filters) <= length, f"at most {length} wide")
    for name in ("cell_clip", "projection_clip"):
        clip = content["lstm"].get(_PLACES[name][1])
        is_number = isinstance(clip, (int, float)) and not isinstance(clip, bool)
        is_right = clip is None or (is_number and 0 < clip < float("inf"))
        check(name, is_right, "a number above 0, or null for no clip", clip)
    check("skip_connections", isinstance(arguments["skip_connections"], bool), "true or false")
    check("cells", arguments["cells"] >= arguments["units"], f"at least {_name('units')}")
    return arguments


def _find(content, part, key, absent, path):
    values = content.get(part)
    if not isinstance(values, dict) or (key not in values and absent is ...):
        raise UserError(
            f"{path} has no {part}.{key}; it must be the options.json of a biLM with characters."
        )
    return values.get(key, absent)


def _is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _is_filter(value):
    is_pair = isinstance(value, list) and len(value) == 2
    return is_pair and all(_is_whole(n) and n > 0 for n in value)


def _name(argument):
    """Returns the place of a `BiLM` argument in the file; other names are places already."""
    if argument == "character_dim":
        return "char_cnn.embedding.dim"
    return ".".join(_PLACES[argument][:2]) if argument in _PLACES else argument


def load_bilm(options_path: PathLike, weights_path: PathLike, dtype="float32") -> BiLM:
    """Loads a biLM from the two official files.

    Args:
      options_path: see `read_options`.
      weights_path: an HDF5 file, perhaps with further tensors of the official training.
      dtype: the Keras dtype policy.

    Raises:
      UserError: a file is missing or damaged, or the two do not fit; the message names the first
        tensor that does not fit, and both shapes.
    """
    bilm = BiLM(**read_options(options_path), name="bilm", dtype=dtype)
    bilm.build([None, None, bilm.word_length])
    load_weights(bilm, weights_path, options_path)
    return bilm


def load_weights(bilm: BiLM, path: PathLike, options_path: PathLike = "its options") -> None:
    """Assigns the tensors of a file to a built biLM; none if one is missing or does not fit.

    `options_path` names the source of the shapes in error messages; for errors see `load_bilm`.
    """
    path = Path(path)
    if not path.is_file():
        raise UserError(f"{path} is missing; name the weights.hdf5 of the biLM.")
    try:
        with h5py.File(path, "r") as file:
            list(datasets(file))  # refuses links to other files
            values = {
                name: _read(file, name, weight, path, options_path)
                for name, weight in official_tensors(bilm).items()
            }
            more = {  # layers that the options lack: the file would load, as a different model
                cell_name(0, bilm.layers): f"lstm.n_layers of {bilm.layers}",
                f"CNN/W_cnn_{len(bilm.filters)}": f"{len(bilm.filters)} filters",
                f"CNN_high_{bilm.highways}": f"char_cnn.n_highway of {bilm.highways}",
            }
            for name in filter(file.__contains__, more):
                raise UserError(
                    f"{path} has {name}, and {options_path} asks for {more[name]} alone; name the "
                    "two files of one biLM."
                )
    except (OSError, RuntimeError, ValueError, TypeError, KeyError) as error:  # h5py: damaged file
        raise UserError(f"{path} cannot be read as HDF5 ({error}); fetch it again.") from None
    for name, weight in official_tensors(bilm).items():
        weight.assign(values[name].reshape(weight.shape))


def save_bilm(bilm: BiLM, options_path: PathLike, weights_path: PathLike) -> None:
    """Writes the two official files; each appears when it is complete.

    HDF5 writes into memory, since it ends the process if a write to the disk fails.
    """
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        for name, weight in official_tensors(bilm).items():
            file.create_dataset(name, data=weight.numpy().reshape(_official_shape(name, weight)))
    write_atomically(weights_path, content.getvalue())
    embedding = {"embedding": {"dim": bilm.character_dim}, "n_characters": BYTE_CHARACTERS + 1}
    parts = {"lstm": {}, "char_cnn": {}}
    for name, (part, key, _) in _PLACES.items():
        value = getattr(bilm, name)
        parts[part][key] = (value or None) if name in _OR_NONE else value
    parts["char_cnn"].update(embedding)  # as the official code reads it outside training
    write_json(Path(options_path), parts)


def _official_shape(name, weight):
    """Returns a weight's official shape; convolutions have an additional height of 1."""
    return (1, *weight.shape) if name.startswith("CNN/W_") else tuple(weight.shape)


def _read(file, name, weight, path, options_path):
    wanted = _official_shape(name, weight)
    if not isinstance(file.get(name), h5py.Dataset):
        raise UserError(
            f"{path} has no tensor {name}, which {options_path} asks for with the shape "
            f"{list(wanted)}; name the two files of one biLM."
        )
    if file[name].shape != wanted:
        raise UserError(
            f"{path}: the tensor {name} has the shape {list(file[name].shape)}, and {options_path} "
            f"asks for {list(wanted)}; name the two files of one biLM."
        )
    values = file[name][...]
    is_float = values.dtype.kind == "f"
    with np.errstate(over="ignore", invalid="ignore"):  # too large for float32: infinite
        values = values.astype(np.float32)
    if not is_float or not np.isfinite(values).all():
        raise UserError(
            f"{path}: the tensor {name} has values that are not finite numbers; fetch it again."
        )
    return values
