"""The text of `--help`, the lists of models and configs, and the commands after a training."""

import importlib
import inspect
import shlex
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Callable

from absl import flags

from disan_tf.common.errors import escape
from disan_tf.common.installation import command, config_names, import_configs
from disan_tf.serving.presets import Preset

HELP_FLAGS = ("--help", "-help", "--helpshort", "-helpshort", "-h", "-?")
_SUMMARY = "Trains, scores and serves the sentence encoders of five papers."
_FIRST_STEPS = (  # flags, what they do
    ("--help", "lists modes and flags"),
    ("--mode=models", "lists the trained models"),
    ("--mode=configs", "lists the experiments"),
    ("--mode=predict --checkpoint=demo --input=lines.txt", "labels lines of text"),
)
EXAMPLES = (
    "--config=disan_sst --data_dir=data --workdir=runs/disan_sst",
    "--mode=evaluate --data_dir=data --workdir=runs/disan_sst",
    "--mode=predict --checkpoint=demo --input=lines.txt",
)
# Flags that can be replaced by another one, so that a work directory is named once.
STAND_INS = {"checkpoint": "workdir", "prepared_dir": "workdir"}
_INPUTS = {"classification": "one text", "nli": "two texts", "relatedness": "two texts"}
_SCORES = {"accuracy": "accuracy {:.2%}", "pearson": "Pearson's r {:.4f}"}
_LAST_FLAGS = """--allow_module imports an encoder; --jit_cache keeps what XLA compiles for GPUs;
--debug shows logs; --helpfull, --version."""
_WIDTH = 100
_INDENT = " " * 4


def help_text(modes: Mapping[str, Callable], defined_flags: Sequence[flags.Flag]) -> str:
    """Returns the help: each mode with its needs, three examples, and the flags grouped by mode.

    A mode's parameters are named as its flags; parameters without a default are needed.
    """
    defaults = {flag.name: flag.default for flag in defined_flags}
    groups: dict[tuple, list[flags.Flag]] = {}
    for flag in defined_flags:
        takers = tuple(name for name, mode in modes.items() if flag.name in parameters_of(mode))
        if takers:
            groups.setdefault(takers, []).append(flag)
    lines = [
        _SUMMARY,
        f"  {command()} --mode=MODE --config=FILE[:VARIANT] [--config.SECTION.NAME=VALUE ...]",
        f"Modes (without --mode: {defaults['mode']}), and the flags that each needs:",
    ]
    for name, mode in modes.items():
        lines += [_entry(name, inspect.getdoc(mode).partition("\n")[0])]
        lines += [_entry("", f"needs {needs}")] if (needs := _needs(mode, defaults)) else []
    lines += ["Examples:", *(f"  {command()} {example}" for example in EXAMPLES)]
    lines += ["", "Flags, by the modes that take them:"]
    for takers, group in sorted(groups.items(), key=lambda item: -len(item[0])):
        lines += ["", f"{', '.join(takers)}:"]
        for flag in group:
            default = f" Default: {flag.default}." if flag.default not in (None, []) else ""
            lines.append(_entry(f"--{flag.name}", f"{flag.help}{default}", 21))
    lines += [_LAST_FLAGS]
    return "\n".join(lines)


def welcome() -> str:
    """Returns the text that a command without flags prints: what the package does, first steps."""
    width = max(len(flags) for flags, _ in _FIRST_STEPS)
    steps = [f"  {command()} {flags:{width}}  {what}" for flags, what in _FIRST_STEPS]
    return "\n".join([_SUMMARY, "", *steps])


def parameters_of(mode: Callable) -> list[str]:
    """Returns the flags that a mode takes: its parameters' names and their `STAND_INS`."""
    names = list(inspect.signature(mode).parameters)
    return names + [STAND_INS[name] for name in names if name in STAND_INS]


def _needs(mode, defaults) -> str:
    """Returns the flags that a mode needs; a stand-in may replace several."""
    needed = [
        parameter.name
        for parameter in inspect.signature(mode).parameters.values()
        if parameter.default is parameter.empty and defaults[parameter.name] is None
    ]
    others = [f"--{name}" for name in needed if name not in STAND_INS]
    for stand_in in dict.fromkeys(STAND_INS[name] for name in needed if name in STAND_INS):
        if stand_in not in needed:
            names = [f"--{name}" for name in needed if STAND_INS.get(name) == stand_in]
            others.append(f"--{stand_in} (or {' and '.join(names)})")
    return ", ".join(others)


def _entry(name: str, text: str, width: int = 11) -> str:
    return textwrap.fill(
        text, _WIDTH, initial_indent=f"  {name:{width}}", subsequent_indent=" " * (width + 2)
    )


def list_models(presets: Sequence[Preset]) -> str:
    """Returns a line for each released model, with its name, inputs, outputs and test score."""
    rows = [
        (preset.name, _task(preset), _SCORES[preset.metric].format(preset.score))
        for preset in presets
    ]
    names, tasks, _ = (max(map(len, column)) for column in zip(*rows))
    lines = [f"{name:{names}}  {task:{tasks}}  {score}" for name, task, score in rows]
    example = f"{command()} --mode=predict --checkpoint={presets[0].name} --input=lines.txt"
    return "\n".join([*lines, "", f"Scores are of the test sets. To use a model: {example}"])


def list_configs() -> str:
    """Returns a line for each config of the package, and its variants below it."""
    import_configs()
    lines = []
    for name in config_names():
        try:
            module = importlib.import_module(f"configs.{name}")
            summary = (module.__doc__ or "").strip().partition("\n")[0].rstrip(".")
            variants = ", ".join(module.VARIANTS)
        except Exception as error:  # a config is Python and can raise anything
            reason = escape(f"{type(error).__name__}: {error}")
            summary, variants = f"this config cannot be used ({reason})", ""
        lines.append(f"{name}: {summary or 'no docstring'}")
        lines += textwrap.wrap(variants, _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT)
    example = f"{command()} --config=disan_sst:bi_lstm --data_dir=data --workdir=runs/disan_sst"
    return "\n".join([*lines, "", f"To train a variant: {example}"])


def _task(preset: Preset) -> str:
    outputs = ", ".join(preset.classes)
    if preset.metric == "pearson":
        outputs = f"a score from {preset.classes[0]} to {preset.classes[-1]}"
    return f"{_INPUTS[preset.task]} -> {outputs}"


def next_steps(workdir, data_dir, prepared_dir, predicts: bool) -> str:
    """Returns lines: how to score the trained model, to use it if it predicts, and to export it."""
    work = f"--workdir={shlex.quote(str(workdir))}"
    data, prepared = f"--data_dir={shlex.quote(str(data_dir))}", ""
    if Path(prepared_dir) != Path(workdir) / "prepared":
        prepared = f" --prepared_dir={shlex.quote(str(prepared_dir))}"
    use = f"use it:    {command()} --mode=predict {work} --input=lines.txt\n" if predicts else ""
    return (
        f"score it:  {command()} --mode=evaluate {work} {data}{prepared}\n{use}"
        f"export it: {command()} --mode=export {work}{prepared}"
    )
