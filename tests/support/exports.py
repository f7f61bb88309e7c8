"""Asks exported models in processes of their own, without our package."""

import os
import subprocess
import sys

import numpy as np

# argv holds the blocked modules, the needed ones, the SavedModel, and a folder of <name>.npz
# inputs, arrays by the signatures' names, that is left with <name>.<signature>.npz answers.
_PROBE = """
import glob, importlib, sys

class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in sys.argv[1].split(","):
            raise ImportError(name + " is blocked")

sys.meta_path.insert(0, Block())
for name in sys.argv[1].split(","):
    try:
        importlib.import_module(name)
    except ImportError:
        continue
    sys.exit(name + " was imported")
import numpy as np
import tensorflow as tf
for name in filter(None, sys.argv[2].split(",")):
    importlib.import_module(name)
loaded = tf.saved_model.load(sys.argv[3])
loaded = tf.saved_model.load(sys.argv[3])  # twice in one process works too
def constant(array):
    return tf.constant(array.tolist(), tf.string) if array.dtype.kind == "S" else tf.constant(array)
for path in glob.glob(sys.argv[4] + "/*.npz"):
    inputs = dict(np.load(path))
    for name, signature in loaded.signatures.items():
        wanted = signature.structured_input_signature[1]
        if not wanted.keys() <= inputs.keys():
            continue
        answers = signature(**{key: constant(inputs[key]) for key in wanted})
        answers = {key: value.numpy() for key, value in answers.items()}
        answers = {key: each.astype("S") if each.dtype == object else each
                   for key, each in answers.items()}
        np.savez(path[:-4] + "." + name + ".npz", **answers)
"""


def ask(path, inputs, folder, blocked, needed="") -> dict:
    """Answers of a process in an empty folder without our package.

    Args:
      path: of the SavedModel.
      inputs: name -> {input of a signature: array}.
      folder: for the arrays.
      blocked: modules that the process must not have, with commas between them.
      needed: modules that it imports.

    Returns:
      {(name, signature): answers}, for the signatures whose inputs are there.
    """
    for name, arrays in inputs.items():
        np.savez(folder / name, **arrays)
    arguments = [_PROBE, blocked, needed, str(path), str(folder)]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    process = subprocess.run(
        [sys.executable, "-I", "-c", *arguments],
        cwd=folder, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    answers = (each for each in folder.glob("*.npz") if "." in each.stem)
    return {tuple(each.stem.split(".")): dict(np.load(each)) for each in answers}


def decoded(array) -> list:
    """Strings of an array of UTF-8."""
    return np.char.decode(np.asarray(array).astype("S"), "utf-8").tolist()
