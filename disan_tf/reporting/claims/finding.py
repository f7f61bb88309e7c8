"""Our figures beside a paper's, and the rule that makes a verdict of them."""

from dataclasses import dataclass
from typing import NamedTuple, Optional

from disan_tf.reporting.differences import EXAMPLES_ONLY, Answers, Interval

SUPPORTED, NOT_SUPPORTED = "supported", "not supported"
UNDECIDED, NOT_TESTED = "undecided", "not tested"
VERDICTS = (SUPPORTED, NOT_SUPPORTED, UNDECIDED, NOT_TESTED)
NO_COST = 0.003  # the gain of hard attention in ReSAN's Table 2, as an accuracy


class Records(NamedTuple):
    """The recorded results and predictions by name, and benchmarks: name of a file -> content."""

    results: dict[str, dict]
    predictions: dict[str, list[Answers]]
    benchmarks: dict[str, dict]


@dataclass(frozen=True)
class Finding:
    """Our figures beside a paper's.

    Attributes:
      paper: the paper's figures.
      ours: our figures, the model that should lead first.
      gain: our difference or ratio as it is printed, with its interval; "" where there is none.
      value: the difference in the paper's direction, above 0 where it agrees; None = no figures.
      interval: its 95 % interval, in the same direction; None where there is none.
      covers: a description of the interval, or why there is none.
      scope: a condition that a verdict must name, such as "at equal steps".
      share, seeds: the share of the official training examples, and the seeds of each model.
      dev: our difference on dev, as it is printed.
      protocol: how the first model was trained, and other trainings of the two models.
      unequal: the conditions in which the two models' trainings differ.
      missing: the runs that are missing.
      runs: the names of the records that were compared.
    """

    paper: str
    ours: str = ""
    gain: str = ""
    value: Optional[float] = None
    interval: Optional[Interval] = None
    covers: str = ""
    scope: str = ""
    share: str = ""
    seeds: str = ""
    dev: str = ""
    protocol: str = ""
    unequal: str = ""
    missing: str = ""
    runs: tuple[str, ...] = ()


def judge(finding: Finding, no_cost: bool = False) -> str:
    """Returns the verdict on a finding; `claims/README.md` states the same rule.

    Args:
      finding: the figures.
      no_cost: whether the claim is that something costs no accuracy; it may cost `NO_COST`.
    """
    interval, limit = finding.interval, -NO_COST if no_cost else 0.0
    if finding.missing:
        return NOT_TESTED
    if finding.unequal or interval is None or finding.covers == EXAMPLES_ONLY:
        return UNDECIDED
    if interval.low > limit:
        return SUPPORTED
    return NOT_SUPPORTED if interval.high < limit else UNDECIDED
