"""A setting in which our runs differ from a paper, and its values in configs and results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable, Optional

from disan_tf.reporting.results import describe_examples, describe_members

_MISSING = object()
_NAMED = 3  # most runs that a cell names if others have another value


@dataclass(frozen=True)
class Deviation:
    """A row of a paper's table of deviations.

    Attributes:
      setting: its name.
      configs: the names of the configs whose defaults and runs stand in the row.
      paper: the paper's value, and where it stands.
      why: why our runs differ, and the effect that this may have.
      option: the setting's place in a config, such as "train.batch_size"; "" = `default` and
        `as_run` are written by hand, or `of_run` finds the value.
      default: the value of our configs, if no option has it.
      as_run: the value of our runs, if no option has it.
      of_run: returns the value of a recorded result, where its config does not hold it.
      absent: the value of configs without the option; "" = such configs are left out.
    """

    setting: str
    configs: tuple[str, ...]
    paper: str
    why: str
    option: str = ""
    default: str = ""
    as_run: str = ""
    of_run: Optional[Callable[[dict], str]] = None
    absent: str = ""

    def default_text(self, defaults: Mapping[str, Mapping]) -> str:
        """Returns the value in our configs, with their names where values differ.

        Args:
          defaults: name of a config -> its default variant.
        """
        if self.default or not self.option:
            return self.default
        values = {name: self._value(defaults[name]) for name in self.configs}
        return _join(values, lambda names: ", ".join(f"`{name}`" for name in names), "")

    def run_text(self, results: Mapping[str, dict]) -> str:
        """Returns the values of the recorded runs, with their names where values differ."""
        if self.as_run:
            return self.as_run
        runs = {name: run for name, run in results.items() if run["config"]["name"] in self.configs}
        find = self.of_run or (lambda run: self._value(run["config"]))
        return _join({name: find(run) for name, run in runs.items()}, _name_runs, "no run yet")

    def _value(self, config: Mapping) -> str:
        """Returns a config's value as text; "" = the config is left out."""
        value = config
        for key in self.option.split("."):
            value = value.get(key, _MISSING) if isinstance(value, Mapping) else _MISSING
        return self.absent if value is _MISSING else format_value(value)


def format_value(value: Any) -> str:
    """Formats a config's value: 1,000 as "1,000", 5e-05 as "0.00005", "" as "none"."""
    if isinstance(value, (bool, type(None))):
        return f"`{value}`"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    if isinstance(value, (list, tuple)):
        return ", ".join(map(format_value, value)) or "none"
    return f"`{value}`" if value else "none"


def _join(values: Mapping[str, str], describe: Callable, nothing: str) -> str:
    """Joins values, the most frequent first; a value of several has its holders behind it."""
    groups = {}
    for name, text in values.items():
        if text:
            groups.setdefault(text, []).append(name)
    if not groups:
        return nothing
    if len(groups) == 1:
        return next(iter(groups))
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    return "; ".join(f"{text}: {describe(names)}" for text, names in ordered)


def _name_runs(names: Sequence[str]) -> str:
    """Returns the names of a few runs, or the number of many with the names folded away."""
    listed = ", ".join(f"`{name}`" for name in names)
    if len(names) <= _NAMED:
        return listed
    return f"<details><summary>{len(names)} runs</summary>{listed}</details>"


def of_examples(config: str, paper: str, why: str, **options) -> Deviation:
    """Returns the row of the share of training examples that the runs of a config read."""
    return Deviation(
        f"training examples of `{config}`",
        (config,),
        paper,
        why,
        default="all",
        of_run=describe_examples,
        **options,
    )


def of_trainings(configs: tuple[str, ...], paper: str, why: str) -> Deviation:
    """Returns the row of the number of trainings behind a mean."""
    return Deviation(
        "trainings behind a mean", configs, paper, why, default="`--seeds`", of_run=describe_members
    )
