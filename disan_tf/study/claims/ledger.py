"""The ledger of the papers' claims with computed verdicts, as Markdown and CSV."""

from collections import Counter
from dataclasses import dataclass
from itertools import product
from typing import Literal, NamedTuple, Union

from disan_tf.common.tables import csv_table, markdown_table
from disan_tf.metrics.differences import ALL, BORROWED, EXAMPLES_ONLY
from disan_tf.study.claims.evidence import (
    Benchmark,
    Lengths,
    Measured,
    Parameters,
    Recall,
    Selection,
    Untested,
)
from disan_tf.study.claims.rows import Finding, Rows
from disan_tf.study.papers import read_of_all
from disan_tf.study.results import Records

SUPPORTED, NOT_SUPPORTED = "supported", "not supported"
LARGER = "supported; lead larger than the paper's"
UNDECIDED, NOT_TESTED = "undecided", "not tested"
VERDICTS = (SUPPORTED, LARGER, NOT_SUPPORTED, UNDECIDED, NOT_TESTED)
NO_COST = 0.003  # the gain of hard attention in ReSAN's Table 2, as an accuracy
_INTRODUCTION = """# The five papers' claims, and what our runs say about them

Accuracies are test accuracies (%). The model that leads in the paper comes first.
A claim is supported if the 95 % interval of our difference lies on the paper's side of 0, and not
supported if it lies on the other side. It is undecided otherwise, or if the interval covers only
examples. If the interval of our lead lies wholly above the paper's lead, the verdict says so: our
weaker model may be narrower than the paper's or trained worse, or fewer training examples may widen
the lead. [The rules](../disan_tf/study/claims/README.md) say which intervals and conditions count.
"At equal steps" and "when patience (or the steps) ended" warn that the weaker model may catch up:
in the last third of its steps, its dev score gains at least half of the lead's lower limit, or this
gain is not known. Even a flat curve may be no optimum. [claims.csv](claims.csv) has the gain, and
the conditions, seeds and runs of each line. Lines that begin with "Ours" are not claims of a paper,
and the next table does not count them.
Published scores of models that we did not train count as constants without variance. Our scores
are not comparable with them.
`python run.py --mode=report` writes both files from the recorded results.
"""
_BY_CHANCE = "expected under the null hypothesis"
_KINDS = ("accuracy", "speed or size")


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, or ours that follows from one."""

    text: str  # a sentence
    place: str  # in the paper, such as "Table 1, Sec. 5.1"
    # What tests the claim.
    evidence: Union[Rows, Parameters, Recall, Lengths, Selection, Benchmark, Measured, Untested]
    qualification: str = ""  # differences from the paper's protocol that a config does not show
    about: Literal[_KINDS] = "accuracy"  # also selections of tokens
    no_cost: bool = False  # whether it says that something costs no accuracy, see `NO_COST`
    ours: bool = False  # whether the paper does not make it


class Entry(NamedTuple):
    """A claim and our finding on it."""

    claim: Claim
    finding: Finding

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`; `claims/README.md` states the same rule."""
        interval, limit = self.finding.interval, -NO_COST if self.claim.no_cost else 0.0
        if self.finding.missing:
            return NOT_TESTED
        if self.finding.unequal or interval is None or self.finding.covers == EXAMPLES_ONLY:
            return UNDECIDED
        if interval.low > limit:
            lead = None if self.claim.no_cost else self.finding.lead
            return SUPPORTED if lead is None or interval.low <= lead else LARGER
        return NOT_SUPPORTED if interval.high < limit else UNDECIDED

    @property
    def reason(self) -> str:
        """The condition that a verdict holds under, or why it is undecided; "" = no remark."""
        if self.verdict == NOT_TESTED:
            return self.finding.reason
        if self.verdict != UNDECIDED:
            return self.finding.scope
        if self.finding.unequal:
            return "different conditions"
        if self.finding.interval is None:
            return self.finding.reason or "no interval"
        return "one seed" if self.finding.covers == EXAMPLES_ONLY else ""


Ledger = dict[str, list[Entry]]  # paper -> the entries of its claims


def assess_claims(records: Records) -> Ledger:
    """Assesses all claims on records."""
    return {
        paper: [Entry(claim, claim.evidence.find(records)) for claim in claims]
        for paper, claims in read_of_all("claims", tuple[Claim, ...]).items()
    }


def render_claims(ledger: Ledger) -> dict[str, str]:
    """Renders the ledger: file name -> text."""
    parts, lines = [_INTRODUCTION, _summary(ledger)], []
    for paper, entries in ledger.items():
        parts.append(f"## {paper}\n\n{markdown_table(list(map(_row, entries)))}")
        lines += [_line(paper, entry) for entry in entries]
    return {"claims.md": "\n".join(parts), "claims.csv": csv_table(lines)}


def _summary(ledger: Ledger) -> str:
    """Renders the verdicts of each paper, and how many intervals exclude 0 by chance."""
    entries = [entry for part in ledger.values() for entry in part]
    lines, all_counts = [], _counts(entries)
    kinds = [kind for kind in product(_KINDS, VERDICTS) if all_counts[kind]]
    for paper, part in [*ledger.items(), ("all", entries)]:
        counts = _counts(part)
        lines.append({"paper": paper, **{": ".join(kind): counts[kind] for kind in kinds}})
    rows = []
    names = {ALL: ALL, BORROWED: BORROWED, EXAMPLES_ONLY: "examples only (one seed)"}
    for covers, name in names.items():
        tested = [entry.finding for entry in entries if entry.verdict != NOT_TESTED]
        found = [finding.interval for finding in tested if finding.covers == covers]
        excluding = sum(interval.low > 0 or interval.high < 0 for interval in found)
        chance = f"{0.05 * len(found):.1f}"
        columns = "interval covers", "intervals", "intervals that exclude 0", _BY_CHANCE
        rows.append(dict(zip(columns, (name, len(found), excluding, chance))))
    decided = [entry for entry in entries if entry.verdict not in (UNDECIDED, NOT_TESTED)]
    lent = sum(entry.finding.covers == BORROWED for entry in decided)
    text = (
        f"{lent} of the {len(decided)} supported and not supported lines, ours included, use the "
        "spread of another model's seeds for a model with one seed."
    )
    return f"{markdown_table(lines)}\n{markdown_table(rows)}\n{text}\n"


def _counts(entries) -> Counter:
    """Counts the papers' claims by what they are about and verdict."""
    return Counter((e.claim.about, e.verdict) for e in entries if not e.claim.ours)


def _row(entry: Entry) -> dict[str, str]:
    """Returns column -> cell of the page."""
    claim, finding = entry
    margin = f"the margin of {-100 * NO_COST:.1f} points is post hoc" if claim.no_cost else ""
    mark = {UNDECIDED: ": ", NOT_TESTED: "; ", LARGER: "; "}.get(entry.verdict, " ")
    return {
        "claim": f"{'Ours: ' * claim.ours}{claim.text}",
        "the paper": finding.paper,
        "ours": finding.ours,
        "difference (95 % interval)": finding.gain,
        "verdict": mark.join(filter(None, [entry.verdict, entry.reason])),
        "remarks": "; ".join(filter(None, [*finding.remarks, claim.qualification, margin])),
    }


def _line(paper: str, entry: Entry) -> dict[str, str]:
    """Returns column -> cell of the CSV."""
    claim, finding = entry
    _, low, high = finding.interval or (None, None, None)
    numbers = {"in the paper's direction": finding.value, "low": low, "high": high}
    return {
        "paper": paper,
        **_row(entry),
        "verdict": entry.verdict,
        "reason": entry.reason,
        "made by": "us" if claim.ours else "the paper",
        "about": claim.about,
        "place": claim.place,
        **{key: "" if part is None else f"{part:.6f}" for key, part in numbers.items()},
        "limit": f"{-NO_COST} (post hoc)" if claim.no_cost else "0",
        "interval over": finding.covers,
        "on dev": finding.dev,
        "gain on dev in the last third": finding.gain_on_dev,
        "training data": finding.share,
        "seeds": finding.seeds,
        "different conditions": finding.unequal,
        "protocol": finding.protocol,
        "missing": finding.missing,
        "runs": " ".join(finding.runs),
    }
