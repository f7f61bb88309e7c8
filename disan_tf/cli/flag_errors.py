"""Explains errors from absl, ml_collections and configs in one sentence."""

import contextlib
import functools
import os
import re
import shlex
import sys
import tempfile
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Optional

from absl import flags

from disan_tf.common.checks import join_choices, nearest, suggestion
from disan_tf.common.errors import UserError, shorten
from disan_tf.common.installation import config_names, version
from disan_tf.common.options import flatten

INTERNAL = os.EX_SOFTWARE  # exit status of an error in our code
_TYPES = {"int": "a whole number", "float": "a number", "bool": "true or false"}
_TUPLE = "a tuple, for example \"('test',)\""
_OVERRIDE = re.compile(r"--?(?:no)?config\.([^=]+)(?:=(.*))?", re.DOTALL)


def explain(error: Exception, argv: list[str], flag_values: flags.FlagValues) -> str:
    """Returns a sentence on an error in parsing flags or in loading or overriding a config."""
    path = _config_file(argv)
    if isinstance(error, flags.UnrecognizedFlagError):
        return _unknown_flag(error.flagname, path, flag_values)
    if path and not Path(path.partition(":")[0]).is_file():
        files = [str(file) for file in Path(path).parent.glob("*.py")] + config_names()
        return f"--config={path} does not exist{suggestion(path.partition(':')[0], files)}"
    if path:
        try:
            config = flag_values["config"].parser.parse(path)
        except Exception as error_of_config:  # a config is Python and can raise anything
            place = _place(error_of_config, path)
            return f"--config={path}{place}: {_message(error_of_config)}"
    wrong_override = path and _wrong_override(config, path, argv)
    if not wrong_override and isinstance(error, flags.IllegalFlagValueError):
        name, value = re.match(r"flag --([^=]+)=(.*?): ", str(error), re.DOTALL).groups()
        return f"--{name}={value} must be {_wanted(flag_values[name].parser, value)}"
    return wrong_override or _message(error)


def _unknown_flag(name: str, path: Optional[str], flag_values: flags.FlagValues) -> str:
    """Returns a sentence on an unknown flag, which may be misspelt or an option of the config."""
    if name.startswith("config."):
        return f"--{name} needs a config file before it: --config=FILE."
    options = {}
    if path:
        with contextlib.suppress(Exception):  # a config is Python and can raise anything
            options = flatten(flag_values["config"].parser.parse(path).to_dict())
    ending = f".{name.replace('-', '_')}"
    found = [option for option in options if f".{option}".endswith(ending)]
    meant = [f"--config.{option}" for option in sorted(found, key=len)]
    near = nearest(name, flag_values)
    meant += [f"--{near}"] if near else []
    return f"--{name} is not a flag" + (f"; did you mean {join_choices(meant)}?" if meant else ".")


def log_failure(error: Exception, workdir: Optional[str]) -> str:
    """Writes the traceback of an error in our code into a log; returns a sentence on both.

    The log is in `workdir` if that exists; otherwise, or if it cannot be written, in the folder for
    temporary files.
    """
    log = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    log = f"{version()}\n{shlex.join(sys.argv)}\n\n{log}"
    where = "run it with --debug to see the traceback"
    for folder in (workdir, None):
        with contextlib.suppress(OSError):
            if folder is None or Path(folder).is_dir():
                handle, path = tempfile.mkstemp(".log", "disan_tf-error-", folder)  # private
                with open(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
                    file.write(log)
                where = f"the traceback is in {path}"
                break
    return shorten(
        f"internal error, {type(error).__name__}: {_message(error)[:300]} Please report "
        f"it; {where}."
    )


def check_repetitions(argv: list[str]) -> None:
    """Raises UserError if a config option is given twice.

    ml_collections does so up to 0.1.1; later versions use the last value, or join tuples.
    """
    names = [override[1] for override in map(_OVERRIDE.match, argv) if override]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"--config.{name} is given twice; keep one of them.")


def check_shared(given: Mapping[str, object], config) -> None:
    """Raises UserError if two of the `given` options share a value, and set it differently."""
    actual = flatten(config.to_dict())
    for name, value in given.items():
        for other, wanted in given.items():
            if value != actual[name] == actual[other] == wanted:
                raise UserError(
                    f"--config.{name}={value} and --config.{other}={wanted} set the same option; "
                    "keep one of them."
                )


def check_tuples(argv: list[str], config) -> None:
    """Raises UserError if the value for a tuple option is no tuple.

    ml_collections rejects such a value up to 0.1.1; later versions turn it into one string.
    """
    for argument, following in zip(argv, [*argv[1:], ""]):
        override = _OVERRIDE.match(argument)
        if not override:
            continue
        text = following if override[2] is None else override[2]
        option = functools.reduce(lambda it, part: it[part], override[1].split("."), config)
        if isinstance(option, tuple) and not text.lstrip().startswith("("):
            raise UserError(f"--config.{override[1]}={text} must be {_TUPLE}.")


def _config_file(argv) -> Optional[str]:
    """Returns the value of --config, or None."""
    for argument, following in zip(argv, [*argv[1:], None]):
        name, _, value = argument.lstrip("-").partition("=")
        if name == "config" and argument.startswith("-"):
            return value or following
    return None


def _wanted(parser: flags.ArgumentParser, value: str) -> str:
    """Returns the end of a sentence on a rejected value: the values that a parser accepts."""
    if isinstance(parser, flags.EnumParser):
        return join_choices(parser.enum_values) + suggestion(value, parser.enum_values)
    least, most = (getattr(parser, f"{end}_bound", None) for end in ("lower", "upper"))
    limits = [] if least is None else [f"at least {least}"]
    limits += [] if most is None else [f"at most {most}"]
    within = f" of {' and '.join(limits)}" if limits else ""
    return f"{_TYPES.get(parser.flag_type(), _TUPLE)}{within}."


def _wrong_override(config, path, argv) -> Optional[str]:
    """Returns a sentence on the first `--config.SECTION.NAME=VALUE` without an option, or None."""
    for argument in argv:
        override = _OVERRIDE.match(argument)
        if not override:
            continue
        section = config
        for name in override[1].split("."):
            if not hasattr(section, "keys"):
                return f"{argument} is not an option of {path}; give it without .{name}."
            if name not in section:
                near = nearest(name, section)
                rest = f"did you mean {near}?" if near else f"choose {join_choices(section)}."
                return f"{argument} is not an option of {path}; {rest}"
            section = section[name]
        if hasattr(section, "keys"):
            return f"{argument} names a section; override its options, {', '.join(section)}."
    return None


def _place(error, path) -> str:
    """Returns ", line N" for the line of a config that raised an error; "" for a ValueError."""
    while error.__context__ is not None:
        error = error.__context__
    file = Path(path.partition(":")[0])
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename) == file
    ]
    return f", line {lines[-1]}" if lines and not isinstance(error, ValueError) else ""


def _message(error) -> str:
    """Returns an error's message as a sentence, without ml_collections' wrappers and tracebacks."""
    while error.args and isinstance(error.args[0], Exception):
        error = error.args[0]
    message = error.args[0] if isinstance(error, KeyError) and error.args else str(error)
    message = " ".join(str(message).rsplit("Error: ", 1)[-1].split())
    return message if message.endswith(("?", ".")) else f"{message}."
