"""The config that work directories, bundles and results record: its schema and older versions."""

import json
from pathlib import Path

from ml_collections import ConfigDict

from disan_tf.common.errors import UserError
from disan_tf.common.files import check_format, read_json
from disan_tf.common.options import flatten
from disan_tf.common.schema import check_schema

FORMAT = 2  # of `config.json` and `run.json`
VERSION_REMEDY = "use the version that wrote it, or train again"
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
# Removed options of older versions, with the only value that files may still have.
REMOVED = {"embedding.mix_l2": 0.0, "encoder.own_parameters": False}


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


def is_same_experiment(config: dict, other: dict) -> bool:
    """Returns whether two configs of `read_config` differ at most in seed, fold and devices."""
    ours, theirs = ({**ADDED, **flatten(tree)} for tree in (config, other))
    free = {"seed", "data.fold", *_MAY_CHANGE}
    if all(it.get("data.seed") == it.get("seed") for it in (ours, theirs)):
        free.add("data.seed")  # the configs set it to the seed
    return all(ours.get(key) == theirs.get(key) for key in (ours.keys() | theirs.keys()) - free)


def forbidden_changes(recorded: dict, config: dict) -> list[str]:
    """Describes the options of a config with which a training may not resume.

    Args:
      recorded: the config of the training, from `read_config`.
      config: the config of the command that resumes it.
    """
    wanted = flatten(json.loads(json.dumps(config)))  # tuples become lists
    added = {key: value for key, value in ADDED.items() if key in wanted}
    held = {**added, **flatten(recorded)}
    return [
        f"{key} ({held.get(key)!r} there, {wanted.get(key)!r} here)"
        for key in sorted(held.keys() | wanted.keys())
        if not _may_resume(key, held.get(key), wanted.get(key))
    ]


def _may_resume(key, recorded, wanted) -> bool:
    """Returns whether a training may resume with `wanted` for `key` in place of `recorded`."""
    if recorded == wanted or key in _MAY_CHANGE:
        return True
    if key not in _MAY_GROW or not isinstance(recorded, int):  # None if the file lacks it
        return False
    if not wanted:  # patience of 0 or None never ends; 0 steps leave the length to the epochs
        return key == "train.patience"
    return wanted > recorded > 0
