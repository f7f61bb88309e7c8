"""Reads and writes the official `weights.hdf5` of a biLM."""

import io
from pathlib import Path

import h5py
import numpy as np

from disan_tf.common.errors import UserError
from disan_tf.common.files import PathLike, write_atomically, write_json
from disan_tf.elmo.bilm import BiLM
from disan_tf.elmo.official_tensors import cell_name, official_tensors
from disan_tf.elmo.options import official_options, read_options


def load_bilm(options_path: PathLike, weights_path: PathLike, dtype="float32") -> BiLM:
    """Loads a biLM from the two official files.

    Args:
      options_path: see `read_options`.
      weights_path: an HDF5 file. It may have further tensors of the official training, such as the
        softmax.
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
    """Assigns the tensors of a file; assigns none if one is missing or does not fit.

    Args:
      bilm: a built biLM.
      path: see `load_bilm`.
      options_path: name for the source of the shapes in error messages.

    Raises:
      UserError: see `load_bilm`.
    """
    path = Path(path)
    if not path.is_file():
        raise UserError(f"{path} is missing; name the weights.hdf5 of the biLM.")
    try:
        with h5py.File(path, "r") as file:
            values = {
                name: _read(file, name, weight, path, options_path)
                for name, weight in official_tensors(bilm).items()
            }
            _check_layers(file, bilm, path, options_path)
    except (OSError, RuntimeError, ValueError, TypeError, KeyError) as error:  # h5py's, of damage
        raise UserError(
            f"{path} cannot be read as HDF5 ({error}); it is damaged or cut short, fetch it again."
        ) from None
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
    write_json(Path(options_path), official_options(bilm))


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
    with np.errstate(over="ignore", invalid="ignore"):  # beyond float32 is infinite
        values = values.astype(np.float32)
    if not is_float or not np.isfinite(values).all():
        raise UserError(
            f"{path}: the tensor {name} has values that are not finite numbers; fetch it again."
        )
    return values


def _check_layers(file, bilm, path, options_path):
    """Raises UserError if the file has more layers: it would load, as a different model."""
    more = {
        cell_name(0, bilm.layers): f"lstm.n_layers of {bilm.layers}",
        f"CNN/W_cnn_{len(bilm.filters)}": f"{len(bilm.filters)} filters",
        f"CNN_high_{bilm.highways}": f"char_cnn.n_highway of {bilm.highways}",
    }
    for name, asked in more.items():
        if name in file:
            raise UserError(
                f"{path} has {name}, and {options_path} asks for {asked} alone; name the two files "
                "of one biLM."
            )
