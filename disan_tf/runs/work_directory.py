"""The `config.json` and `run.json` of a work directory, which tie the folder to one training."""

import json
import math
import shlex
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Optional

from ml_collections import ConfigDict

from disan_tf.common.errors import UserError
from disan_tf.common.files import check_format, read_json, write_json
from disan_tf.common.options import flatten
from disan_tf.input_pipeline.format import Keys
from disan_tf.runs.machine import MACHINE

FORMAT = 2  # of `config.json` and `run.json`
VERSION_REMEDY = "use the version that wrote it, or train again"
# The schema of "init_from" in `run.json` and in results: the model with which a training began.
START = {"name": str, "sha256": str, "words": int, "words_found": int, "head": bool}
# The schema of `run.json`.
RUN = {
    "versions": dict,
    "machine?": MACHINE,
    "commit": (str, type(None)),
    "command": (str, type(None)),
    "parameters": int,
    "epoch_steps?": int,
    "inputs": {str: {"sha256": str}},
    "data": {"splits": {str: int}},
    "init_from?": START,
}
# A training may resume with more steps or patience, or on other devices, compiled for them. Any
# other change makes another experiment, also fewer steps: the folder may hold a model from a later
# step.
_MAY_GROW = {"train.steps", "train.epochs", "train.patience"}
_PATH_FLAGS = ("data_dir", "workdir", "prepared_dir", "output")  # differ between machines
_MAY_CHANGE = {"train.distribution", "train.jit_compile"}
# Options that older versions lack, with the value that has the same effect; some only of configs
# whose corpus takes them.
ADDED = {
    "train.clip_norm": 0.0,
    "train.optimizer": "adadelta",
    "train.batch_norm_batches": 0,
    "data.subset": "",
    "train.epochs": 0,
    "train.moving_average_warm_up": False,
    "train.class_weights": "",
    "train.criterion": "",
    "task.calibrate": False,
}


def claim(workdir: Path, config) -> None:
    """Writes `config.json`, unless a different one exists; see `check_same_config`."""
    check_same_config(workdir, config)
    write_json(workdir / "config.json", {"format": FORMAT, **config.to_dict()})


def check_same_config(workdir: Path, config) -> None:
    """Raises UserError unless a work directory is new or has the same config."""
    if not (Path(workdir) / "config.json").exists():
        return
    wanted = flatten(json.loads(json.dumps(config.to_dict())))  # tuples become lists
    added = {key: value for key, value in ADDED.items() if key in wanted}
    recorded = {**added, **flatten(read_config(workdir))}
    differing = [
        f"{key} ({recorded.get(key)!r} there, {wanted.get(key)!r} here)"
        for key in sorted(recorded.keys() | wanted.keys())
        if not _goes_on(key, recorded.get(key), wanted.get(key))
    ]
    if differing:
        raise UserError(
            f"{workdir} holds a training of another config: {', '.join(differing)}; choose "
            "another --workdir or the same values."
        )


def is_same_experiment(config: dict, other: dict) -> bool:
    """Returns whether two configs of `read_config` differ at most in seed and devices."""
    ours, theirs = ({**ADDED, **flatten(tree)} for tree in (config, other))
    free = {"seed", *_MAY_CHANGE}
    return all(ours.get(key) == theirs.get(key) for key in (ours.keys() | theirs.keys()) - free)


def read_start(workdir: Path) -> Optional[dict]:
    """Returns the record of the model that initialised a training; None = random weights."""
    path = Path(workdir) / "run.json"
    run = read_json(path, "choose another --workdir", RUN) if path.exists() else {}
    return run.get("init_from")


def check_same_start(workdir: Path, name: Optional[str]) -> None:
    """Checks that a work directory is new, or that its training began with the same model.

    `name` is the name of the model of `--init_from`; None = random weights. Raises UserError if the
    training began with another model, or without one.
    """
    if not (Path(workdir) / "run.json").exists():
        return
    recorded = read_start(workdir)
    if (recorded and recorded["name"]) == name:
        return
    began = f"with {recorded['name']}" if recorded else "without --init_from"
    remedy = f"give --init_from={recorded['name']}" if recorded else "leave it out"
    raise UserError(
        f"{workdir} holds a training that began {began}; {remedy}, or choose another --workdir."
    )


def _goes_on(key, recorded, wanted) -> bool:
    """Returns whether a training may resume with `wanted` for `key` in place of `recorded`."""
    if recorded == wanted or key in _MAY_CHANGE:
        return True
    if key not in _MAY_GROW or not isinstance(recorded, int):  # None if the file lacks it
        return False
    return (wanted or math.inf) > recorded > 0  # 0 or None patience never ends


def read_config(workdir: Path) -> dict:
    """Returns the config of a work directory; UserError if it is damaged or of another format."""
    path = Path(workdir) / "config.json"
    config = read_json(path, "choose another --workdir")
    check_format(path, config, FORMAT, VERSION_REMEDY)
    check_names(path, config, "choose another --workdir")
    return {name: value for name, value in config.items() if name != "format"}


def check_names(path, config, remedy: str) -> None:
    """Raises UserError for a name in a config, at any depth, that `ConfigDict` cannot hold."""
    is_object = isinstance(config, dict)
    for name in config if is_object else ():
        if not name.isidentifier() or hasattr(ConfigDict, name):
            raise UserError(f"{path}: the config has the name {name[:80]!r}; {remedy}.")
    for value in config.values() if is_object else config:
        if isinstance(value, (dict, list)):
            check_names(path, value, remedy)


def command_line(arguments: Sequence[str]) -> Optional[str]:
    """Returns the command of a run without its machine's paths; None for another program.

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
