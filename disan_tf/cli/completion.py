"""Completes flags and their values in a shell.

    complete -o default -o nospace -C 'disan-tf --complete' disan-tf

The shell runs the command after -C while a user types, with the line in COMP_LINE.
"""

from collections.abc import Sequence

from absl import flags

from disan_tf.cli.listings import variants_of
from disan_tf.common.installation import CHECKPOINTS, config_names

FLAG = "--complete"
_BREAKS = "=:"  # bash completes the part of a word behind the last of these


def complete(line: str, own_flags: Sequence[flags.Flag]) -> list[str]:
    """Returns the completions of a command line's last word; [] = let the shell complete files.

    Args:
      line: the command line up to the cursor.
      own_flags: the flags of the command line.
    """
    word = line.rpartition(" ")[2]
    name, equals, value = word.partition("=")
    if not equals:
        known = [f"--{flag.name}{'' if flag.boolean else '='}" for flag in own_flags]
    else:
        known = [f"{name}={known}" for known in _values(name.lstrip("-"), value, own_flags)]
    cut = max(map(word.rfind, _BREAKS)) + 1
    return [item[cut:] for item in known if item.startswith(word)]


def _values(name: str, value: str, own_flags: Sequence[flags.Flag]) -> list[str]:
    """Returns the known values of a flag, of which `value` is the beginning of one."""
    if name == "config":
        config, colon, _ = value.partition(":")
        if colon and config in config_names():
            return [f"{config}:{variant}" for variant in variants_of(config)]
        return config_names()
    if name in ("checkpoint", "init_from"):
        return sorted(path.parent.name for path in CHECKPOINTS.glob("*/model.json"))
    parsers = {flag.name: flag.parser for flag in own_flags}
    return list(getattr(parsers.get(name), "enum_values", None) or ())
