"""Asks exported models in processes of their own, without our package."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

# argv[1] holds questions in JSON, see `Question`, one after the other; each folder has <name>.npz
# inputs, arrays by the signatures' names, and is left with <name>.<signature>.npz answers.
_PROBE = """
import glob, importlib, json, sys

class Block:
    names = ()

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.names:
            raise ImportError(name + " is blocked")

block = Block()
sys.meta_path.insert(0, block)

def answer(path, folder, blocked, needed):
    block.names = blocked
    for name in blocked:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
        sys.exit(name + " was imported")
    import numpy as np
    import tensorflow as tf
    for name in needed:
        importlib.import_module(name)
    loaded = tf.saved_model.load(path)
    loaded = tf.saved_model.load(path)  # twice in one process works too
    def constant(array):
        text = array.dtype.kind == "S"
        return tf.constant(array.tolist(), tf.string) if text else tf.constant(array)
    for file in glob.glob(folder + "/*.npz"):
        inputs = dict(np.load(file))
        for name, signature in loaded.signatures.items():
            wanted = signature.structured_input_signature[1]
            if not wanted.keys() <= inputs.keys():
                continue
            answers = signature(**{key: constant(inputs[key]) for key in wanted})
            answers = {key: value.numpy() for key, value in answers.items()}
            answers = {key: value.astype("S") if value.dtype == object else value
                       for key, value in answers.items()}
            np.savez(file[:-4] + "." + name + ".npz", **answers)

for question in json.loads(sys.argv[1]):
    answer(**question)
"""


class Question(NamedTuple):
    """What an exported model is asked.

    Attributes:
      path: of the SavedModel.
      inputs: name -> {input of a signature: array}.
      folder: for the arrays.
      blocked: modules that the process must not have.
      needed: modules that it imports.
    """

    path: Path
    inputs: dict
    folder: Path
    blocked: tuple
    needed: tuple = ()


def ask(*questions: Question) -> list[dict]:
    """Answers of one process in an empty folder without our package.

    Args:
      *questions: a module that one of them needs cannot be blocked by a later one.

    Returns:
      For each question {(name, signature): answers}, for the signatures whose inputs are there.
    """
    for question in questions:
        for name, arrays in question.inputs.items():
            np.savez(question.folder / name, **arrays)
    described = [
        {"path": str(it.path), "folder": str(it.folder), "blocked": it.blocked, "needed": it.needed}
        for it in questions
    ]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    process = subprocess.run(
        [sys.executable, "-I", "-c", _PROBE, json.dumps(described)],
        cwd=questions[0].folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    return [_answers(question.folder) for question in questions]


def ask_both(paths, of_text: dict, of_ids: dict, folder: Path) -> list[dict]:
    """Answers of a model of text, without our package, and of ids, without its text operations.

    Args:
      paths: of the SavedModel of text and of that of ids.
      of_text: name -> inputs of the first.
      of_ids: name -> inputs of the second.
      folder: for the arrays.
    """
    folders = [folder / name for name in ("text", "ids")]
    for each in folders:
        each.mkdir()
    # What the model of text needs cannot be blocked after it.
    without_text = Question(paths[1], of_ids, folders[1], ("tensorflow_text", "disan_tf"))
    with_text = Question(paths[0], of_text, folders[0], ("disan_tf",), ("tensorflow_text",))
    return ask(without_text, with_text)[::-1]


def _answers(folder):
    files = (file for file in folder.glob("*.npz") if "." in file.stem)
    return {tuple(file.stem.split(".")): dict(np.load(file)) for file in files}


def decoded(array) -> list:
    """Strings of an array of UTF-8."""
    return np.char.decode(np.asarray(array).astype("S"), "utf-8").tolist()
