"""The origin of a result: code, command and data."""

import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.installation import VERSION
from disan_tf.common.machine import describe_machine
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.input_pipeline.corpus_format import Keys

_PATH_FLAGS = ("data_dir", "workdir", "prepared_dir", "output")  # differ between machines


def describe_origin(corpus: PreparedCorpus) -> dict:
    """Returns the versions, machine, commit, command and data of a training, for `run.json`."""
    return {
        "versions": {
            "disan_tf": VERSION,
            "python": sys.version.split()[0],
            "tensorflow": tf.__version__,
            "numpy": np.__version__,
        },
        "machine": describe_machine(),
        "commit": _commit(),
        "command": command_line(sys.argv),
        "corpus": corpus.directory.name,
        "inputs": corpus.manifest[Keys.INPUTS],
        "data": data_summary(corpus.manifest),
    }


def _commit() -> Optional[str]:
    """Returns the code's commit, or None outside a git checkout."""
    command = ["git", "-C", str(Path(__file__).resolve().parent), "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def command_line(arguments: Sequence[str]) -> Optional[str]:
    """Returns the command of a run without its machine's paths; None for another program.

    Example:
      >>> command_line(["/a/run.py", "--config=/a/configs/demo.py:tiny", "--workdir", "/b"])
      'python run.py --config=configs/demo.py:tiny'
    """
    program, *rest = arguments
    if PurePath(program).name not in ("run.py", "disan-tf"):
        return None
    joined: list[str] = []  # `--name value` as `--name=value`
    for argument in rest:
        if argument.startswith("-") or not joined:
            joined.append(argument)
        else:
            joined[-1] += f"={argument}"
    kept = []
    for argument in joined:
        name, _, value = argument.lstrip("-").partition("=")
        if name == "config":
            path = PurePath(value)
            kept.append(f"--config={f'configs/{path.name}' if path.is_absolute() else value}")
        elif name == "init_from":
            kept.append(f"--init_from={portable_name(value)}")
        elif name not in _PATH_FLAGS:
            kept.append(argument)
    return shlex.join(["python", "run.py", *kept])


def portable_name(model: str) -> str:
    """Returns the name of a model without the folders of an absolute path."""
    path = PurePath(model)
    return path.name if path.is_absolute() else model


def data_summary(manifest: dict) -> dict:
    """Returns a result's record of its prepared corpus, from the corpus' manifest.

    Returns:
      "splits" (name -> number of examples), "training_examples" (kept), "training_read" and
      "official_training_examples" (in the whole corpus), both in "unit", and
      "training_tokens_covered", the share of training tokens with a word vector.
    """
    splits = {name: split["examples"] for name, split in manifest[Keys.SPLITS].items()}
    counts, unit = manifest[Keys.COUNTS]["train"], manifest[Keys.UNIT]
    return {
        "splits": splits,
        "training_examples": splits["train"],
        "unit": unit,
        "training_read": counts[unit],
        "official_training_examples": counts["expected"],
        "training_tokens_covered": manifest[Keys.VECTORS]["training_tokens_covered"],
    }
