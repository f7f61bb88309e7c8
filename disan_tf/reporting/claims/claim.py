"""A claim of a paper, our finding on it, and the rule that makes a verdict of the finding."""

from dataclasses import dataclass
from typing import NamedTuple, Optional, Protocol

from disan_tf.reporting.differences import Answers, Interval

SUPPORTED, NOT_SUPPORTED = "supported", "not supported"
UNDECIDED, NOT_TESTED = "undecided", "not tested"
VERDICTS = (SUPPORTED, NOT_SUPPORTED, UNDECIDED, NOT_TESTED)
NO_COST = 0.003  # the gain of hard attention in ReSAN's Table 2, as an accuracy


class Records(NamedTuple):
    """Everything recorded.

    Attributes:
      results: see `disan_tf.reporting.result_files.read_results`.
      predictions: see `disan_tf.reporting.result_files.read_predictions`.
      benchmarks: name of a file of `benchmarks/` -> its content.
    """

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
      decisive: whether the interval covers all that the rule asks for.
      share: the share of the official training examples that our models saw.
      seeds: the number of seeds of each model.
      dev: our difference on dev, as it is printed.
      protocol: how the first model was trained.
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
    decisive: bool = False
    share: str = ""
    seeds: str = ""
    dev: str = ""
    protocol: str = ""
    unequal: str = ""
    missing: str = ""
    runs: tuple[str, ...] = ()


class Evidence(Protocol):
    """A way to test a claim on records."""

    def find(self, records: Records) -> Finding:
        """Returns the figures of the records."""


@dataclass(frozen=True)
class Claim:
    """A paper's claim.

    Attributes:
      text: the claim as a sentence.
      place: its place in the paper, such as "Table 1, Sec. 5.1".
      evidence: the comparison that tests it.
      remark: deviations from the paper's protocol that a config does not show.
      margin: how far below 0 a difference may lie, for claims that something costs no accuracy.
      headline: whether the front page quotes its figures; one claim of each paper.
    """

    text: str
    place: str
    evidence: Evidence
    remark: str = ""
    margin: float = 0.0
    headline: bool = False


def judge(finding: Finding, margin: float = 0.0) -> str:
    """Returns the verdict on a finding; the ledger's page states the same rule.

    Args:
      finding: the figures.
      margin: see `Claim`.
    """
    if finding.missing:
        return NOT_TESTED
    if finding.unequal or finding.interval is None or not finding.decisive:
        return UNDECIDED
    if finding.interval.low > -margin:
        return SUPPORTED
    if finding.interval.high < -margin:
        return NOT_SUPPORTED
    return UNDECIDED


def agrees(finding: Finding, margin: float = 0.0) -> Optional[bool]:
    """Returns whether our difference has the paper's sign; None without a difference."""
    if finding.missing or finding.value is None:
        return None
    return finding.value > -margin
