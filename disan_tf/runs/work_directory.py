"""The `config.json` and `run.json` of a work directory, which tie the folder to one training."""

import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Optional

import numpy as np
import tensorflow as tf
from ml_collections import ConfigDict

from disan_tf.common.errors import UserError
from disan_tf.common.files import PathLike, check_format, read_json, write_json
from disan_tf.common.installation import VERSION
from disan_tf.common.machine import MACHINE, describe_machine, load
from disan_tf.common.options import flatten
from disan_tf.common.schema import check_schema
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.input_pipeline.corpus_format import Keys

FORMAT = 2  # of `config.json` and `run.json`
VERSION_REMEDY = "use the version that wrote it, or train again"
# The schema of "init_from" in `run.json` and in results: the model with which a training began.
START = {"name": str, "sha256": str, "words": int, "words_found": int, "head": bool}
_OPTIONAL = {"subset?": str, "vector_dim?": int, "fold?": int, "folds?": int}
# The schema of the options that are read before a config becomes a `Config`.
CONFIG = {
    "name": str,
    "seed": int,
    "data": {"corpus": str, "embedding_dim": int, "vectors": str, **_OPTIONAL},
    "embedding": {"name": str},
    "encoder": {"name": str},
    "train": {"batch_size": int, "examples?": int, "criterion?": str},
}
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
    "tokenizer_version?": int,
    "init_from?": START,
}
# A training may resume with more steps or patience, or on other devices, compiled for them. Any
# other change makes another experiment, also fewer steps: the folder may hold a model from a later
# step.
_MAY_GROW = {"train.steps", "train.epochs", "train.patience"}
_MAY_CHANGE = {"train.distribution", "train.jit_compile"}
# Options that older versions lack, with the value that has the same effect. Only some corpora take
# all of them.
ADDED = {
    "train.clip_norm": 0.0,
    "train.optimizer": "adadelta",
    "train.batch_norm_batches": 0,
    "data.subset": "",
    "data.unescaped": False,
    "train.epochs": 0,
    "train.moving_average_warm_up": False,
    "train.class_weights": "",
    "train.criterion": "",
    "task.calibrate": False,
}
AUTO = "auto"  # --init_from: the training part decides which model a training begins with
# Removed options of older versions, with the only value that files may still have.
REMOVED = {"embedding.mix_l2": 0.0, "encoder.own_parameters": False}
_PATH_FLAGS = ("data_dir", "workdir", "prepared_dir", "output")  # differ between machines


class WorkDirectory:
    """The folder of one training, which only the same training may use again.

    Only the process that owns the folder, see `disan_tf.common.process.owned`, may claim it.

    Args:
      path: the folder.
      config: the config of the training, which has `to_dict`.

    Attributes:
      path, config: the arguments.
      checkpoints, best, metrics, tensorboard: the paths to which a training writes.
    """

    def __init__(self, path: PathLike, config):
        self.path, self.config = Path(path), config
        self.checkpoints, self.best = self.path / "checkpoints", self.path / "best"
        self.metrics, self.tensorboard = self.path / "metrics.jsonl", self.path / "tensorboard"

    def check(self, start: Optional[str] = None) -> None:
        """Raises UserError unless the folder is new or holds the same training.

        `start` is the name of the model of `--init_from`; None = random weights.
        """
        check_start(self.path, start)
        if not (self.path / "config.json").exists():
            return
        wanted = flatten(json.loads(json.dumps(self.config.to_dict())))  # tuples become lists
        added = {key: value for key, value in ADDED.items() if key in wanted}
        recorded = {**added, **flatten(read_config(self.path))}
        differing = [
            f"{key} ({recorded.get(key)!r} there, {wanted.get(key)!r} here)"
            for key in sorted(recorded.keys() | wanted.keys())
            if not _goes_on(key, recorded.get(key), wanted.get(key))
        ]
        if differing:
            raise UserError(
                f"{self.path} holds a training of another config: {', '.join(differing)}; choose "
                "another --workdir or the same values."
            )

    def claim(self, corpus: Optional[PreparedCorpus] = None) -> None:
        """Writes `config.json`, which `check` has compared with an older one.

        Raises UserError if the data or the biLM of a resumed training differ from the `corpus`.
        """
        path = self.path / "run.json"
        if corpus is not None and path.exists() and any(self.checkpoints.glob("*")):
            run = read_json(path, "choose another --workdir", RUN)
            check_format(path, run, FORMAT, VERSION_REMEDY)
            inputs = corpus.manifest[Keys.INPUTS], run["inputs"]
            same = set.intersection(*({it["sha256"] for it in files.values()} for files in inputs))
            changed = {
                name for files in inputs for name, it in files.items() if it["sha256"] not in same
            }
            if changed:
                raise UserError(
                    f"{self.path} holds a training on other contents of "
                    f"{', '.join(sorted(changed))}; restore them, or choose another --workdir."
                )
        write_json(self.path / "config.json", {"format": FORMAT, **self.config.to_dict()})

    def describe(
        self, parameters: int, epoch_steps: int, corpus: PreparedCorpus, start: Optional[dict]
    ) -> None:
        """Writes `run.json`: versions, machine, commit, command and data, and these arguments.

        Args:
          parameters: the number of the model's parameters.
          epoch_steps: the number of steps in an epoch.
          corpus: the prepared corpus.
          start: the record of the model with which the training begins; None in a resumed training,
            or for random weights.
        """
        if any(self.checkpoints.glob("*")):
            start = start or read_start(self.path)
        command = ["git", "-C", str(Path(__file__).resolve().parent), "rev-parse", "HEAD"]
        options = {"capture_output": True, "text": True, "check": True}
        try:
            commit = subprocess.run(command, **options).stdout.strip()
        except (OSError, subprocess.CalledProcessError):  # outside of a git checkout
            commit = None
        run = {
            "format": FORMAT,
            "versions": {
                "disan_tf": VERSION,
                "python": sys.version.split()[0],
                "tensorflow": tf.__version__,
                "numpy": np.__version__,
            },
            "machine": describe_machine(),
            "commit": commit,
            "command": command_line(sys.argv),
            "corpus": corpus.directory.name,
            "inputs": corpus.manifest[Keys.INPUTS],
            "data": data_summary(corpus.manifest),
            "tokenizer_version": corpus.manifest[Keys.TOKENIZER]["version"],
            "parameters": parameters,
            "epoch_steps": epoch_steps,
        }
        write_json(self.path / "run.json", {**run, **({"init_from": start} if start else {})})

    def record_load(self) -> None:
        """Adds the load at the training's end to `run.json`."""
        path = self.path / "run.json"
        run = read_json(path, "choose another --workdir", RUN)
        write_json(path, {**run, "machine": {**run["machine"], "load_after": load()}})


def check_start(workdir: Path, name: Optional[str]) -> None:
    """Raises UserError if the training in a work directory began with another model than this.

    `name` is the name of the model; None = random weights, `AUTO` = any of them.
    """
    if name == AUTO or not (workdir / "run.json").exists():
        return
    recorded = read_start(workdir)
    if (recorded and recorded["name"]) == name:
        return
    began = f"with {recorded['name']}" if recorded else "without --init_from"
    remedy = f"give --init_from={recorded['name']}" if recorded else "leave it out"
    raise UserError(
        f"{workdir} holds a training that began {began}; {remedy}, or choose another --workdir."
    )


def is_same_experiment(config: dict, other: dict) -> bool:
    """Returns whether two configs of `read_config` differ at most in seed, fold and devices."""
    ours, theirs = ({**ADDED, **flatten(tree)} for tree in (config, other))
    free = {"seed", "data.fold", *_MAY_CHANGE}
    if all(it.get("data.seed") == it.get("seed") for it in (ours, theirs)):
        free.add("data.seed")  # the configs set it to the seed
    return all(ours.get(key) == theirs.get(key) for key in (ours.keys() | theirs.keys()) - free)


def read_start(workdir: Path) -> Optional[dict]:
    """Returns the record of the model that initialised a training; None = random weights."""
    path = Path(workdir) / "run.json"
    run = read_json(path, "choose another --workdir", RUN) if path.exists() else {}
    return run.get("init_from")


def _goes_on(key, recorded, wanted) -> bool:
    """Returns whether a training may resume with `wanted` for `key` in place of `recorded`."""
    if recorded == wanted or key in _MAY_CHANGE:
        return True
    if key not in _MAY_GROW or not isinstance(recorded, int):  # None if the file lacks it
        return False
    if not wanted:  # patience of 0 or None never ends; 0 steps leave the length to the epochs
        return key == "train.patience"
    return wanted > recorded > 0


def read_config(workdir: Path) -> dict:
    """Returns the config of a work directory; UserError if it is damaged or of another format."""
    path = Path(workdir) / "config.json"
    config = read_json(path, "choose another --workdir")
    check_format(path, config, FORMAT, VERSION_REMEDY)
    del config["format"]
    check_schema(path, config, CONFIG, "choose another --workdir")
    return read_options(path, config, "choose another --workdir")


def read_options(path, config: dict, remedy: str) -> dict:
    """Returns the options in the config of a file, without the removed ones.

    Raises:
      UserError: a name that `ConfigDict` cannot hold, or another value than in `REMOVED`.
    """
    _check_names(path, config, remedy)
    for key, value in REMOVED.items():
        section, name = key.split(".")
        options = config.get(section)
        if not isinstance(options, dict) or name not in options:
            continue
        if options[name] != value:
            raise UserError(
                f"{path}: {key}={options[name]!r} is not supported any more, only {value!r}; "
                f"{VERSION_REMEDY}."
            )
        config = {**config, section: {n: v for n, v in options.items() if n != name}}
    return config


def _check_names(path, config, remedy: str) -> None:
    """Raises UserError for a name in a config, at any depth, that `ConfigDict` cannot hold."""
    is_object = isinstance(config, dict)
    for name in config if is_object else ():
        if not name.isidentifier() or hasattr(ConfigDict, name):
            raise UserError(f"{path}: the config has the name {name[:80]!r}; {remedy}.")
    for value in config.values() if is_object else config:
        if isinstance(value, (dict, list)):
            _check_names(path, value, remedy)


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
