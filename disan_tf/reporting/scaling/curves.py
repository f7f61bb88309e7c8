"""Curves: recorded results of one model trained on different numbers of examples."""

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import NamedTuple, Optional

import numpy as np

from disan_tf.reporting.differences import Answers
from disan_tf.reporting.paper_tables.all_tables import find_row, paper_headline
from disan_tf.reporting.results import training_examples

FEWEST_SIZES = 4  # three determine a law's three constants, and one tests it
WHOLE = {"snli": 549_367}  # training pairs with a gold label (Bowman et al. 2015)
# The length of training and the measurements may differ between sizes.
_OF_A_RUN = ("examples", "steps", "patience", "evaluate_every", "checkpoint_every", "log_every")


class Member(NamedTuple):
    """One trained model.

    Attributes:
      error: the share of wrong predictions on the test examples.
      answers: its predictions for them; None = not kept.
    """

    error: float
    answers: Optional[Answers]


class Point(NamedTuple):
    """The models trained on one number of examples, one for each seed."""

    examples: int
    members: tuple[Member, ...]

    @property
    def error(self) -> float:
        """The mean over the members."""
        return float(np.mean([member.error for member in self.members]))

    @property
    def deviation(self) -> Optional[float]:
        """The standard deviation over the members; None for a single member."""
        errors = [member.error for member in self.members]
        return float(np.std(errors, ddof=1)) if len(errors) > 1 else None


class Curve(NamedTuple):
    """A model on a corpus.

    Attributes:
      model: its name in the paper, or its encoder's name.
      corpus, unit: names such as "SNLI" and "pairs".
      points: its points, sorted by number of examples.
      whole: the official corpus' number of training examples.
      paper: the paper's test accuracy in per cent, trained on the whole corpus; "" = none.
      runs: the names of the results.
    """

    model: str
    corpus: str
    unit: str
    points: tuple[Point, ...]
    whole: int
    paper: str
    runs: tuple[str, ...]


def find_curves(
    results: Mapping[str, dict], predictions: Mapping[str, Sequence[Answers]]
) -> list[Curve]:
    """Finds the models trained on at least two numbers of examples, and alike in all else.

    Args:
      results: see `disan_tf.reporting.result_files.read_results`.
      predictions: see `disan_tf.reporting.result_files.read_predictions`.
    """
    groups: dict[str, dict[str, dict]] = {}
    for name, run in results.items():
        if next(_errors(run), None) is not None:
            groups.setdefault(_shared_config(run["config"]), {})[name] = run
    curves = (_curve(runs, predictions) for runs in groups.values())
    return sorted(
        (curve for curve in curves if len(curve.points) > 1),
        key=lambda curve: (curve.corpus, curve.model, curve.runs),
    )


def _curve(runs: Mapping[str, dict], predictions) -> Curve:
    by_size: dict[int, list[Member]] = {}
    for name, run in runs.items():
        by_size.setdefault(training_examples(run), []).extend(_members(run, predictions.get(name)))
    run = next(iter(runs.values()))
    config, place = run["config"], find_row(run["config"])
    return Curve(
        place[1].model if place else config["encoder"]["name"],
        config["data"]["corpus"].upper(),
        run["data"]["unit"],
        tuple(Point(size, tuple(members)) for size, members in sorted(by_size.items())),
        WHOLE.get(config["data"]["corpus"])
        or run["data"]["official_training_examples"]
        or max(by_size),
        paper_headline(config),
        tuple(runs),
    )


def _members(run: dict, answers: Optional[Sequence[Answers]]) -> Iterator[Member]:
    if answers is None:
        yield from (Member(error, None) for error in _errors(run))
    else:
        for member in answers:
            yield Member(float(np.mean(member.predictions != member.labels)), member)


def _errors(run: dict) -> Iterator[float]:
    """Yields each member's test error; nothing where the score is not an accuracy."""
    scores = [member["scores"] for member in run["members"]] if "members" in run else [run]
    for member in scores:
        accuracy = member.get("test", {}).get("accuracy")
        if accuracy is not None:
            yield 1.0 - accuracy


def _shared_config(config: dict) -> str:
    """Returns the part of a config that all runs of a curve share."""
    config = deepcopy(config)
    for section, names in (
        (config, ("seed", "evaluate")),
        (config["data"], ("seed",)),
        (config["train"], _OF_A_RUN),
    ):
        for name in names:
            section.pop(name, None)
    return json.dumps(config, sort_keys=True)
