"""The origin of a result: the command that repeats the run, and its data."""

import shlex
from collections.abc import Sequence
from pathlib import PurePath
from typing import Optional

from disan_tf.input_pipeline.format import Keys

_PATH_FLAGS = ("data_dir", "workdir", "prepared_dir", "output")  # differ between machines


def command_line(arguments: Sequence[str]) -> Optional[str]:
    """Returns the command of a run without its machine's paths; None for another program.

    Args:
      arguments: `sys.argv`.

    Example:
      >>> command_line(["/a/run.py", "--config=/a/configs/demo.py:tiny", "--workdir", "/b"])
      'python run.py --config=configs/demo.py:tiny'
    """
    program, *rest = arguments
    if PurePath(program).name not in ("run.py", "disan-tf"):
        return None
    kept = []
    for argument in _joined(rest):
        name, _, value = argument.lstrip("-").partition("=")
        if name == "config":
            kept.append(f"--config={_relative(value)}")
        elif name == "init_from":
            kept.append(f"--init_from={portable_name(value)}")
        elif name not in _PATH_FLAGS:
            kept.append(argument)
    return shlex.join(["python", "run.py", *kept])


def portable_name(model: str) -> str:
    """Returns the name of a model without the folders of an absolute path."""
    path = PurePath(model)
    return path.name if path.is_absolute() else model


def _joined(arguments):
    """Joins `--name value` to `--name=value`."""
    joined = []
    for argument in arguments:
        if argument.startswith("-") or not joined:
            joined.append(argument)
        else:
            joined[-1] += f"={argument}"
    return joined


def _relative(config_file: str) -> str:
    path = PurePath(config_file)
    return f"configs/{path.name}" if path.is_absolute() else config_file


def data_summary(manifest: dict) -> dict:
    """Returns a result's record of its prepared corpus.

    Args:
      manifest: the manifest of the prepared corpus.

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
