"""The text of `--help`, built from the modes' functions and the flags."""

import inspect
import textwrap
from collections.abc import Mapping, Sequence
from typing import Callable

from absl import flags

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
_WIDTH = 100


def help_text(modes: Mapping[str, Callable], own_flags: Sequence[flags.Flag], command: str) -> str:
    """Returns the help: each mode with its needs, three examples, and the flags grouped by mode.

    Args:
      modes: name -> function, whose parameters are named as its flags; parameters without a
        default are needed.
      own_flags: the flags of the command line, --mode among them.
      command: what a user types before the flags.
    """
    defaults = {flag.name: flag.default for flag in own_flags}
    groups: dict[tuple, list[flags.Flag]] = {}
    for flag in own_flags:
        takers = tuple(name for name, mode in modes.items() if flag.name in parameters_of(mode))
        if takers:
            groups.setdefault(takers, []).append(flag)
    lines = [
        _SUMMARY,
        f"  {command} --mode=MODE --config=FILE[:VARIANT] [--config.SECTION.NAME=VALUE ...]",
        f"Modes (without --mode: {defaults['mode']}), and the flags that each needs:",
    ]
    for name, mode in modes.items():
        lines += [_entry(name, inspect.getdoc(mode).partition("\n")[0])]
        lines += [_entry("", f"needs {needs}")] if (needs := _needs(mode, defaults)) else []
    lines += ["Examples:", *(f"  {command} {example}" for example in EXAMPLES)]
    lines += ["", "Flags, by the modes that take them:"]
    for takers, group in sorted(groups.items(), key=lambda item: -len(item[0])):
        lines += ["", f"{', '.join(takers)}:"]
        lines += [_entry(f"--{flag.name}", _describe(flag), 19) for flag in group]
    lines += [
        "",
        "--allow_module imports an encoder; --debug shows logs; --helpfull lists all; --version.",
    ]
    return "\n".join(lines)


def welcome(command: str) -> str:
    """Returns the text that a command without flags prints: what the package does, first steps.

    Args:
      command: what a user types before the flags.
    """
    width = max(len(flags) for flags, _ in _FIRST_STEPS)
    steps = [f"  {command} {flags:{width}}  {what}" for flags, what in _FIRST_STEPS]
    return "\n".join([_SUMMARY, "", *steps])


def parameters_of(mode: Callable) -> list[str]:
    """Returns the flags that a mode takes: its parameters' names and their `STAND_INS`."""
    names = list(inspect.signature(mode).parameters)
    return names + [STAND_INS[name] for name in names if name in STAND_INS]


def _needs(mode, defaults) -> str:
    """Returns the flags that a mode needs; a stand-in may replace several."""
    parameters = inspect.signature(mode).parameters.values()
    needed = [
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty and defaults[parameter.name] is None
    ]
    replaced = [name for name in needed if name in STAND_INS]
    others = [f"--{name}" for name in needed if name not in STAND_INS]
    for stand_in in dict.fromkeys(STAND_INS[name] for name in replaced):
        if stand_in not in needed:
            names = [f"--{name}" for name in replaced if STAND_INS[name] == stand_in]
            others.append(f"--{stand_in} (or {' and '.join(names)})")
    return ", ".join(others)


def _describe(flag) -> str:
    """Returns the help text of a flag and its default."""
    return f"{flag.help} Default: {flag.default}." if flag.default not in (None, []) else flag.help


def _entry(name: str, text: str, width: int = 11) -> str:
    return textwrap.fill(
        text, _WIDTH, initial_indent=f"  {name:{width}}", subsequent_indent=" " * (width + 2)
    )
