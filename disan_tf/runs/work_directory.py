"""The `config.json` and `run.json` of a work directory, which tie the folder to one training."""

import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Optional

import numpy as np
import tensorflow as tf

from disan_tf.common.atomic import write_json
from disan_tf.common.errors import UserError
from disan_tf.common.files import check_format, read_json
from disan_tf.common.installation import VERSION
from disan_tf.common.machine import MACHINE, describe_machine, load
from disan_tf.common.paths import PathLike
from disan_tf.input_pipeline import PreparedCorpus
from disan_tf.input_pipeline.corpus_format import Keys
from disan_tf.runs.recorded_config import (
    FORMAT,
    VERSION_REMEDY,
    forbidden_changes,
    read_config,
)

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
    "tokenizer_version?": int,
    "init_from?": START,
}
AUTO = "auto"  # --init_from: the training part decides which model a training begins with
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
        differing = forbidden_changes(read_config(self.path), self.config.to_dict())
        if differing:
            raise UserError(
                f"{self.path} holds a training of another config: {', '.join(differing)}; choose "
                "another --workdir or the same values."
            )

    def claim(self) -> None:
        """Writes `config.json`, which `check` has compared with an older one."""
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


def check_origin(workdir: Path, corpus: PreparedCorpus, start: Optional[dict] = None) -> None:
    """Raises UserError if a work directory holds a trained model of another origin.

    The origin is the files of the corpus and of the biLM, and the model with which training began.
    `start` is the record of the model with which a new training begins. If the earlier training
    began with a model of that name, their digests must be equal.
    """
    path = workdir / "run.json"
    trained = (workdir / "best/model.json").exists() or any((workdir / "checkpoints").glob("*"))
    if not path.exists() or not trained:
        return
    run = read_json(path, "choose another --workdir", RUN)
    check_format(path, run, FORMAT, VERSION_REMEDY)
    if changed := changed_inputs(run["inputs"], corpus.manifest[Keys.INPUTS]):
        raise UserError(
            f"{workdir} holds a training on other data; these files were changed, added or "
            f"removed: {', '.join(sorted(changed))}; restore them, or choose another --workdir."
        )
    began = run.get("init_from", start)
    if start and began["name"] == start["name"] and began["sha256"] != start["sha256"]:
        raise UserError(
            f"{workdir} holds a training that began with another model, also named "
            f"{start['name']}; restore that model, or choose another --workdir."
        )


def changed_inputs(recorded: dict, current: dict) -> set[str]:
    """Returns the names of files that were changed, added or removed between two records of inputs.

    A renamed file does not count: its old name is gone, and a new name has its content.
    """
    before, after = (
        {name: file["sha256"] for name, file in inputs.items()} for inputs in (recorded, current)
    )
    gone, new = before.keys() - after.keys(), after.keys() - before.keys()
    renamed = {before[name] for name in gone} & {after[name] for name in new}
    changed = {name for name in before.keys() & after.keys() if before[name] != after[name]}
    changed |= {name for name in gone if before[name] not in renamed}
    return changed | {name for name in new if after[name] not in renamed}


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


def read_start(workdir: Path) -> Optional[dict]:
    """Returns the record of the model that initialised a training; None = random weights."""
    path = Path(workdir) / "run.json"
    run = read_json(path, "choose another --workdir", RUN) if path.exists() else {}
    return run.get("init_from")


def command_line(arguments: Sequence[str]) -> Optional[str]:
    """Returns the command of a run without its machine's paths; None for another program.

    Example:
      >>> command_line(["/a/run.py", "--config=/a/configs/disan_sst.py:tiny", "--workdir", "/b"])
      'python run.py --config=configs/disan_sst.py:tiny'
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
