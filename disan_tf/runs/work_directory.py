"""A work directory's `config.json`: to which training the directory belongs."""

import json
import math
from pathlib import Path

from disan_tf.common.errors import UserError
from disan_tf.common.files import check_format, read_json, write_json

FORMAT = 2  # of `config.json` and `run.json`
OTHER_VERSION = "use the version that wrote it, or train again"
# What `run.json` tells.
RUN = {
    "versions": dict,
    "commit": (str, type(None)),
    "command": (str, type(None)),
    "parameters": int,
    "inputs": {str: {"sha256": str}},
    "data": {"splits": {str: int}},
}
# A finished training may be asked for more, and go on with other devices; everything else makes
# another experiment, fewer steps too: the directory may hold a model of more.
_MAY_GROW = {"train.steps", "train.patience"}
_MAY_CHANGE = {"train.distribution"}
# Options that older versions lacked, with the value that has their effect.
_ADDED = {"train.clip_norm": 0.0}


def claim(workdir: Path, config) -> None:
    """Writes `config.json`, unless there is another one; see `refuse_other_config`."""
    refuse_other_config(workdir, config)
    write_json(workdir / "config.json", {"format": FORMAT, **config.to_dict()})


def refuse_other_config(workdir: Path, config) -> None:
    """Checks that a work directory is new, or that it has the same config.

    Raises:
      UserError: naming the values that differ; or see `read_config`.
    """
    if not (Path(workdir) / "config.json").exists():
        return
    recorded = {**_ADDED, **flatten(read_config(workdir))}
    wanted = flatten(json.loads(json.dumps(config.to_dict())))  # tuples become lists
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


def _goes_on(key, recorded, wanted) -> bool:
    """Whether a training may go on where the value of `key` was `recorded` and is `wanted` now."""
    if recorded == wanted or key in _MAY_CHANGE:
        return True
    if key not in _MAY_GROW or not isinstance(recorded, int):  # None where the file lacks it
        return False
    return (wanted or math.inf) > recorded > 0  # no patience never ends


def read_config(workdir: Path) -> dict:
    """The config of a work directory.

    Raises:
      UserError: it is damaged, or of another format.
    """
    path = Path(workdir) / "config.json"
    config = read_json(path, "choose another --workdir")
    check_format(path, config, FORMAT, OTHER_VERSION)
    return {name: value for name, value in config.items() if name != "format"}


def flatten(tree: dict, prefix: str = "") -> dict:
    """{"train": {"steps": 5}} -> {"train.steps": 5}."""
    flat = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            flat.update(flatten(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = value
    return flat
