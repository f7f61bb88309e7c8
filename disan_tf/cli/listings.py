"""Lists of models, configs and completions, and the commands that follow a training."""

import importlib
import shlex
import textwrap
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from absl import flags

from disan_tf.common.errors import escape
from disan_tf.common.installation import CHECKPOINTS, command, config_names, import_configs
from disan_tf.serving.release.released import Preset

_WIDTH = 100
_INDENT = " " * 4
_INPUTS = {"classification": "one text", "nli": "two texts", "relatedness": "two texts"}
_SCORES = {"accuracy": "accuracy {:.2%}", "pearson": "Pearson's r {:.4f}"}


def list_models(presets: Sequence[Preset], command: str) -> str:
    """Returns a line for each released model, with its name, task and test score.

    Args:
      presets: the released models.
      command: what a user types before the flags.
    """
    rows = [(preset.name, _task(preset), _score(preset)) for preset in presets]
    names, tasks, _ = (max(map(len, column)) for column in zip(*rows))
    lines = [f"{name:{names}}  {task:{tasks}}  {score}" for name, task, score in rows]
    example = f"{command} --mode=predict --checkpoint={presets[0].name} --input=lines.txt"
    return "\n".join([*lines, "", f"Scores are of the test sets. To use a model: {example}"])


def list_configs(command: str) -> str:
    """Returns a line for each config of the package, and its variants below it.

    Args:
      command: what a user types before the flags.
    """
    lines = []
    for name in config_names():
        try:
            module = _module(name)
            summary = (module.__doc__ or "").strip().partition("\n")[0].rstrip(".")
            variants = ", ".join(module.VARIANTS)
        except Exception as error:  # a config is Python and can raise anything
            reason = escape(f"{type(error).__name__}: {error}")
            summary, variants = f"this config cannot be used ({reason})", ""
        lines.append(f"{name}: {summary or 'no docstring'}")
        lines += textwrap.wrap(variants, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)
    example = f"{command} --config=disan_sst:bi_lstm --data_dir=data --workdir=runs/disan_sst"
    return "\n".join([*lines, "", f"To train a variant: {example}"])


def variants_of(name: str) -> list[str]:
    """Returns the variants of a config of the package."""
    return list(_module(name).VARIANTS)


def _module(name: str) -> ModuleType:
    import_configs()
    return importlib.import_module(f"configs.{name}")


def _task(preset: Preset) -> str:
    """Describes a model's inputs and outputs."""
    if preset.metric == "pearson":
        outputs = f"a score from {preset.classes[0]} to {preset.classes[-1]}"
    else:
        outputs = ", ".join(preset.classes)
    return f"{_INPUTS[preset.task]} -> {outputs}"


def _score(preset: Preset) -> str:
    return _SCORES[preset.metric].format(preset.score)


FLAG = "--complete"
_BREAKS = "=:"  # bash completes the part of a word behind the last of these


def complete(line: str, defined_flags: Sequence[flags.Flag]) -> list[str]:
    """Returns the completions of a command line's last word; [] = let the shell complete files.

    Args:
      line: the command line up to the cursor.
      defined_flags: the flags of the command line.
    """
    word = line.rpartition(" ")[2]
    name, equals, value = word.partition("=")
    if not equals:
        known = [f"--{flag.name}{'' if flag.boolean else '='}" for flag in defined_flags]
    else:
        known = [f"{name}={known}" for known in _values(name.lstrip("-"), value, defined_flags)]
    cut = max(map(word.rfind, _BREAKS)) + 1
    return [item[cut:] for item in known if item.startswith(word)]


def _values(name: str, value: str, defined_flags: Sequence[flags.Flag]) -> list[str]:
    """Returns the known values of a flag, of which `value` is the beginning of one."""
    if name == "config":
        config, colon, _ = value.partition(":")
        if colon and config in config_names():
            return [f"{config}:{variant}" for variant in variants_of(config)]
        return config_names()
    if name in ("checkpoint", "init_from"):
        return sorted(path.parent.name for path in CHECKPOINTS.glob("*/model.json"))
    parsers = {flag.name: flag.parser for flag in defined_flags}
    return list(getattr(parsers.get(name), "enum_values", None) or ())


def next_steps(workdir, data_dir, prepared_dir) -> str:
    """Returns three lines: how to score the trained model, to use it and to export it."""
    work = f"--workdir={shlex.quote(str(workdir))}"
    data = f"--data_dir={shlex.quote(str(data_dir))}"
    if Path(prepared_dir) != Path(workdir) / "prepared":
        data += f" --prepared_dir={shlex.quote(str(prepared_dir))}"
    return "\n".join(
        [
            f"score it:  {command()} --mode=evaluate {work} {data}",
            f"use it:    {command()} --mode=predict {work} --input=lines.txt",
            f"export it: {command()} --mode=export {work}",
        ]
    )
