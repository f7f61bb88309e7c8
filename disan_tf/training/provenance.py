"""Where a run comes from: the command that repeats it, and the data that it saw."""

import shlex
from collections.abc import Sequence
from pathlib import PurePath
from typing import Optional

from disan_tf.input_pipeline.format import Keys

_PATH_FLAGS = ("data_dir", "workdir", "prepared_dir", "output")  # they differ between machines


def command_line(arguments: Sequence[str]) -> Optional[str]:
    """The command of `sys.argv` without the paths of this machine; None for other programs.

        ["/a/run.py", "--config=/a/configs/demo.py:tiny", "--workdir", "/b"]
        -> "python run.py --config=configs/demo.py:tiny"

    Args:
      arguments: the program and its arguments.
    """
    program, *rest = arguments
    if PurePath(program).name != "run.py":
        return None
    kept = []
    for argument in _joined(rest):
        name, _, value = argument.lstrip("-").partition("=")
        if name == "config":
            kept.append(f"--config={_relative(value)}")
        elif name not in _PATH_FLAGS:
            kept.append(argument)
    return shlex.join(["python", "run.py", *kept])


def _joined(arguments):
    """`--name value` as `--name=value`."""
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


def data_facts(manifest: dict) -> dict:
    """What a reader of a result wants to know of its prepared corpus.

    Returns:
      "splits" (name -> examples), "training_examples" (kept), "training_read" and
      "official_training_examples" (of the whole corpus), both in "unit", and
      "training_tokens_covered", the share of training tokens with a vector.
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
