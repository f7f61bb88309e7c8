"""`checkpoints/deviations.md`: settings in which our runs differ from the papers.

The rows stand in `checkpoints/papers/*.yaml`; our values come from configs and recorded results.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Callable, Literal

from ml_collections import ConfigDict

from disan_tf.common.tables import markdown_table
from disan_tf.study.papers import read_of_all
from disan_tf.study.results import describe_examples, describe_members

PAGE = "deviations.md"
_INTRODUCTION = """# Where our runs differ from the papers

Each table lists the settings of one paper in which our configs or recorded runs differ, or which
the paper leaves open. "Our default" is the value in [configs](../configs/README.md); "as run" the
value in the configs of the [results](results), with the names of the runs where they differ.
`python run.py --mode=report` writes this page; the rows are defined in [papers](papers).
"""
_NAMED = 3  # most runs that a cell names if others have another value
_MEASURES = {"": None, "examples": describe_examples, "members": describe_members}


@dataclass(frozen=True)
class Setting:
    """A setting in which our runs differ from a paper, or which it leaves open."""

    setting: str  # its name
    configs: tuple[str, ...]  # the configs whose defaults and runs stand in the row
    paper: str  # the paper's value, and where it stands
    why: str  # why our runs differ, and the effect that this may have
    option: str = ""  # the setting's place in a config, such as "train.batch_size"
    default: str = ""  # the value of our configs, if no option has it
    as_run: str = ""  # of our runs, if no option has it; "" = `default`, or `measure` finds it
    # What a result says where its config does not: the share of training examples, or the seeds
    # and folds behind a mean.
    measure: Literal["", "examples", "members"] = ""
    absent: str = ""  # the value of configs without the option; "" = they are left out

    def __post_init__(self):
        if not self.option and not self.default:
            raise ValueError("needs an option or a default")

    def default_text(self, defaults: Mapping[str, Mapping]) -> str:
        """Returns the value in our configs, with names where values differ."""
        if not self.option:
            return self.default
        return _join({name: self._value(defaults[name]) for name in self.configs}, _quote, "")

    def run_text(self, results: Mapping[str, dict]) -> str:
        """Returns the values of the recorded runs, with their names where values differ."""
        if not self.option and not self.measure:
            return self.as_run or self.default
        runs = {name: run for name, run in results.items() if run["config"]["name"] in self.configs}
        find = _MEASURES[self.measure] or (lambda run: self._value(run["config"]))
        return _join({name: find(run) for name, run in runs.items()}, _name_runs, "no run yet")

    def _value(self, config: Mapping) -> str:
        """Returns a config's value as text; "" = the config is left out."""
        value = config
        for key in self.option.split("."):
            if not isinstance(value, Mapping) or key not in value:
                return self.absent
            value = value[key]
        return format_value(value)


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
    counts = Counter(filter(None, values.values()))
    if len(counts) < 2:
        return next(iter(counts), nothing)
    holders = {text: [name for name in values if values[name] == text] for text in counts}
    return "; ".join(f"{text}: {describe(holders[text])}" for text, _ in counts.most_common())


def _name_runs(names: Sequence[str]) -> str:
    """Returns the names of a few runs, or the number of many with the names folded away."""
    folded = f"<details><summary>{len(names)} runs</summary>{_quote(names)}</details>"
    return _quote(names) if len(names) <= _NAMED else folded


def _quote(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


@cache
def read_settings() -> dict[str, tuple[Setting, ...]]:
    """Reads the rows of all papers, by the papers' names."""
    return read_of_all("deviations", tuple[Setting, ...])


def render_settings(results: Mapping[str, dict], load_config: Callable[[str], ConfigDict]) -> str:
    """Renders a table for each paper, from `read_results` and a function that loads a config."""
    names = {name for rows in read_settings().values() for row in rows for name in row.configs}
    defaults = {name: load_config(name).to_dict() for name in names}
    parts = [_INTRODUCTION]
    titles = "setting", "the paper", "our default", "as run", "why, and what it may change"
    for paper, rows in read_settings().items():
        cells = (
            (row.setting, row.paper, row.default_text(defaults), row.run_text(results), row.why)
            for row in rows
        )
        lines = [dict(zip(titles, row)) for row in cells]
        parts.append(f"## {paper}\n\n{markdown_table(lines)}")
    return "\n".join(parts)


def link_to_settings(paper: str) -> str:
    """Returns the sentence with which a page in `tables/` links to a paper's settings."""
    return f"[Where our runs differ from the paper](../{PAGE}#{paper.lower()})"
