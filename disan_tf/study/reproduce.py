"""The rows that `--mode=reproduce` trains or scores, the rules of its verdict, and their page."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, Optional

from disan_tf.common.checks import count, suggestion
from disan_tf.common.errors import UserError
from disan_tf.common.tables import markdown_table
from disan_tf.study.papers import TABLES, Row, Score, read_of_all
from disan_tf.study.results import (
    describe_members,
    mean,
    members_of,
    seeds_of,
    standard_deviation,
    training_examples,
)

OK, CLOSE, FAIL = "OK", "close", "FAIL"
LIMITS = {"accuracy": 0.02, "pearson": 0.01}  # of a tolerance
CLOSE_FACTOR = 1.5  # tolerances within which a difference is close
RELEASED_LIMITS = {"accuracy": 2, "pearson": 0.0005}  # examples, or a difference
_ROUNDING = 0.00005  # of the scores in `checkpoints/manifest.tsv`
_OTHER_DATA = 0.01  # share of the training examples that may be missing or more
_DOWNLOADS = {"cr": "polarity", "mpqa": "polarity", "subj": "polarity"}  # the others: their corpus
RULE = (
    "The tolerance is 2 s sqrt(1/n + 1/m) for n new and m recorded seeds, and at most 2 points of "
    "accuracy or .01 of r. s is the larger of the standard deviation over the recorded seeds (not "
    "over folds) and the standard error of a score on the N test examples, sqrt(p (1 - p) / N) for "
    "an accuracy p or (1 - r^2) / sqrt(N). A difference up to the tolerance is OK, up to 1.5 "
    "tolerances close, else FAIL. A run whose number of training examples differs from the "
    "recorded one by 1 % or more is FAIL."
)


@dataclass(frozen=True)
class Target:
    """A row, and the score that a reproduction must reach."""

    row: Row  # its model
    score: Score  # the score that is compared
    paper: str  # the paper's figure, or ""
    result: Optional[dict]  # the recorded result, see `result_files`; None = not run

    @property
    def seeds(self) -> list[int]:
        """The recorded seeds."""
        return seeds_of(self.result)

    @property
    def folds(self) -> int:
        """The number of folds, 0 = none."""
        return self.result["config"]["data"].get("folds", 0)

    @property
    def uncertainty(self) -> float:
        """The distance from the mean that one seed may have: s of `RULE`."""
        value = mean(self.result, "test", self.score.key)
        examples = self.result["data"]["splits"]["test"] * max(1, self.folds)
        if self.score.key == "accuracy":
            error = math.sqrt(value * (1 - value) / examples)
        else:
            error = (1 - value**2) / math.sqrt(examples)
        over_seeds = None if self.folds else standard_deviation(self.result, "test", self.score.key)
        return max(error, over_seeds or 0.0)

    def tolerance(self, seeds: int) -> float:
        """Returns the tolerance of the mean over a number of seeds, see `RULE`."""
        spread = math.sqrt(1 / seeds + 1 / len(self.seeds))
        return min(2 * self.uncertainty * spread, LIMITS[self.score.key])


class Verdict(NamedTuple):
    """A word, `OK`, `CLOSE` or `FAIL`, and the lines that explain it."""

    word: str
    lines: Sequence[str]

    def __str__(self) -> str:
        return "\n".join([*self.lines, self.word])


def read_targets(results: Mapping[str, dict]) -> dict[str, Target]:
    """Returns all rows by name, with recorded results: of the papers' tables, and the others."""
    targets: dict[str, Target] = {}
    for table in TABLES.values():
        for row in table.rows:
            figure = table.headline_figure(row)
            target = Target(row, table.headline, figure, results.get(row.recorded))
            targets.setdefault(row.name, target)
    for row in chain.from_iterable(read_of_all("rows", tuple[Row, ...]).values()):
        targets[row.name] = Target(row, Score("test", "test"), "", results.get(row.recorded))
    return targets


def find_target(targets: Mapping[str, Target], name: str) -> Target:
    """Returns a row by name.

    Raises:
      UserError: there is no such row, or it has no recorded result.
    """
    if name not in targets:
        raise UserError(
            f"--row={name} names no row; --mode=reproduce lists them{suggestion(name, targets)}"
        )
    if targets[name].result is None:
        raise UserError(
            f"--row={name} has no recorded result to compare with; train it with "
            f"{targets[name].row.command} --data_dir=data --workdir=runs/{targets[name].row.config}"
        )
    return targets[name]


def judge(target: Target, run: dict) -> Verdict:
    """Compares a new run of a row, from `summarise_series`, with the recorded one."""
    score, seeds = target.score, seeds_of(run)
    value, recorded = (mean(part, "test", score.key) for part in (run, target.result))
    tolerance, difference = target.tolerance(len(seeds)), abs(value - recorded)
    word = FAIL  # also where a score is not a number
    if difference <= CLOSE_FACTOR * tolerance:
        word = OK if difference <= tolerance else CLOSE
    lines = [
        *_titles(target),
        f"  recorded  {score.show(target.result)}, {describe_members(target.result)}",
        f"  yours     {score.show(run)}, {describe_members(run)}; dev {score.show(run, 'dev')}",
        f"difference {score.show_difference(value - recorded)}, tolerance "
        f"{score.format(tolerance)} = 2 x {score.format(target.uncertainty)} x "
        f"sqrt(1/{len(seeds)} + 1/{len(target.seeds)}), at most {score.format(LIMITS[score.key])}",
    ]
    examples, expected = (training_examples(part) for part in (run, target.result))
    if abs(examples - expected) >= _OTHER_DATA * expected:
        word = FAIL
        lines.append(f"trained on {count(examples, 'example')}, the recorded run on {expected:,}")
    return Verdict(word, lines)


def judge_released(target: Target, released: float, scores: Mapping) -> Verdict:
    """Compares a released model's score on the official test split with its released score.

    Args:
      target: the row.
      released: the test score of `checkpoints/manifest.tsv`.
      scores: what `disan_tf.training.evaluation.evaluate_split` returned, with "examples".
    """
    score, limit = target.score, RELEASED_LIMITS[target.score.key]
    difference = scores[score.key] - released
    allowed, reason = limit, f"{limit} of r"
    if score.key == "accuracy":
        allowed, reason = limit / scores["examples"], f"{limit} examples"
    lines = [
        *_titles(target),
        f"  released  {released:.4f}",
        f"  yours     {scores[score.key]:.4f} on {scores['examples']:,} test examples",
        f"difference {difference:+.4f}, tolerance {allowed:.4f} ({reason})",
    ]
    return Verdict(OK if abs(difference) <= allowed + _ROUNDING else FAIL, lines)


def _titles(target: Target) -> list[str]:
    unit = "accuracy in per cent" if target.score.key == "accuracy" else "Pearson's r"
    title = f"{target.row.name}: {target.row.model}, {unit} on test"
    return [title, f"  paper     {target.paper or 'none'}"]


def render_rows(targets: Mapping[str, Target]) -> str:
    """Renders the rule and the rows, for `docs/reproduce.md`."""
    lines = [{**line, "row": f"`{line['row']}`"} for line in list_rows(targets)]
    return f"{RULE}\n\n{markdown_table(lines)}"


def list_rows(targets: Mapping[str, Target]) -> list[dict[str, str]]:
    """Returns a line for each row, for tables."""
    lines = []
    for target in targets.values():
        row, result = target.row, target.result
        line = {"row": row.name, "paper": target.paper, "ours": "not run"}
        line.update(dict.fromkeys(("tolerance", "seeds", "hours", "downloads"), ""))
        if result is not None:
            folds = f" x {target.folds} folds" if target.folds else ""
            minutes = sum(member["minutes"] for member in members_of(result))
            line["ours"] = target.score.show(result)
            line["tolerance"] = target.score.format(target.tolerance(len(target.seeds)))
            line["seeds"] = f"{len(target.seeds)}{folds}"
            line["hours"] = f"{minutes / 60:.1f}"
            line["downloads"] = ", ".join(_downloads(row, result["config"]["data"]))
        lines.append({**line, "released model": row.released})
    return lines


def _downloads(row: Row, data: dict) -> list[str]:
    """Returns the names of what `data_prep.download` must fetch, and other inputs."""
    if row.name == "demo":  # its corpus is written, not fetched
        return ["none"]
    names = [_DOWNLOADS.get(data["corpus"], data["corpus"])]
    if data["vectors"]:
        names.append(".".join(data["vectors"].rpartition("/")[2].split(".")[:2]))
    return [*names, *([f"{data['bilm']} (configs/bilm.py:small)"] if data.get("bilm") else [])]
