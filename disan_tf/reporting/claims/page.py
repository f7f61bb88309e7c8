"""The ledger of claims as Markdown and CSV, and a sentence for each paper."""

from collections import Counter
from collections.abc import Iterable

from disan_tf.common.tables import csv_table, markdown_table
from disan_tf.reporting.claims.all_claims import Entry, Ledger
from disan_tf.reporting.claims.claim import (
    NO_COST,
    NOT_SUPPORTED,
    NOT_TESTED,
    SUPPORTED,
    UNDECIDED,
    VERDICTS,
    agrees,
)
from disan_tf.reporting.differences import ALL, EXAMPLES_ONLY, Interval

_RULE = f"""# The five papers' claims, and what our runs say about them

`python run.py --mode=report` writes this page from the recorded results. [claims.csv](claims.csv)
has the same lines with the names of the runs. Accuracies are test accuracies in per cent,
differences are points; on SICK both are Pearson's r or the squared error. The model that leads in
the paper stands first, and a negative difference is opposite to the paper (except for losses and
squared errors, where it agrees).

## The rule

- **supported**: our difference has the paper's sign, and its 95 % interval over seeds and examples
  excludes 0.
- **not supported**: the interval excludes 0 on the other side.
- **undecided**: all other comparisons. This includes one seed on either side, no interval, and two
  models that were trained under different conditions.
- **not tested**: a run is missing, or the other model belongs to another paper and is not trained
  here.

If a claim says that something costs no accuracy, the limit is -{100 * NO_COST:.1f} points instead
of 0. This is the gain that the ReSAN paper reports for hard attention. It was set after these runs.

**Intervals.** Each of 2,000 resamples draws the seeds of each model and then the test examples, the
same for both models. The drawn seeds' deviation is scaled by sqrt(m / (m - 1)) for m seeds, because
few seeds vary too little among themselves. "One seed: examples only" draws the examples alone.
Parameter counts are exact. For a benchmark the range of its repetitions stands in for the interval.

**Runs.** If a model was trained several times, the compared runs are chosen by conditions, never by
scores: equal conditions, then most training examples, then most seeds, then kept predictions.
Conditions are data, vectors, precision, options of training and number of steps. A claim that is
not tested shows our run with most training examples, then tokens with vectors, then seeds.

**Left out** are statements on single sentences in pictures, which [figures](figures/README.md)
draws, and claims to be the state of the art beyond the best model that the paper names. A line that
begins with "Ours" is no claim of the paper, but follows from one.
"""
_SIGNS = {True: "paper's sign", False: "opposite sign", None: ""}


def render_claims(ledger: Ledger) -> dict[str, str]:
    """Renders the ledger: file name -> text."""
    parts = [_RULE, _summary(ledger)]
    for paper, entries in ledger.items():
        parts.append(f"## {paper}\n\n{markdown_table([_row(entry) for entry in entries])}")
    lines = [_line(paper, entry) for paper, entries in ledger.items() for entry in entries]
    return {"claims.md": "\n".join(parts), "claims.csv": csv_table(lines)}


def render_sentences(ledger: Ledger) -> str:
    """Renders one item for each paper, for the repository's README."""
    return "".join(f"- {_sentence(paper, entries)}\n" for paper, entries in ledger.items())


def _summary(ledger: Ledger) -> str:
    entries = [entry for part in ledger.values() for entry in part]
    lines = [
        {
            "paper": paper,
            "claims": len(part),
            **{verdict: _count(part, verdict) for verdict in VERDICTS},
        }
        for paper, part in [*ledger.items(), ("all", entries)]
    ]
    both, examples = (
        [entry.finding.interval for entry in entries if entry.finding.covers == covers]
        for covers in (ALL, EXAMPLES_ONLY)
    )
    return (
        f"## Verdicts\n\n{markdown_table(lines)}\n"
        f"{len(both) + len(examples)} comparisons have a bootstrap interval. {len(both)} intervals "
        "are over seeds and examples. If no two models differed, about 5 % of them, "
        f"{0.05 * len(both):.2f}, would exclude 0 by chance; observed: {_excluding(both)}. "
        f"{len(examples)} intervals are over examples alone. About {0.05 * len(examples):.1f} of "
        "them would exclude 0 by the chance of the examples, and more by the chance of the seed; "
        f"observed: {_excluding(examples)}. No interval is corrected for the number of "
        "comparisons.\n"
    )


def _excluding(intervals: Iterable[Interval]) -> int:
    return sum(interval.low > 0 or interval.high < 0 for interval in intervals)


def _count(entries: Iterable[Entry], verdict: str) -> int:
    return sum(entry.verdict == verdict for entry in entries)


def _row(entry: Entry) -> dict[str, str]:
    """Returns column -> cell of the page."""
    claim, finding, _ = entry
    return {
        "claim": claim.text,
        "place": claim.place,
        "the paper's figures": finding.paper,
        "ours": finding.ours,
        "difference (95 % interval)": finding.gain,
        "on dev": finding.dev,
        "interval over": finding.covers,
        "training data": finding.share,
        "seeds": finding.seeds,
        "conditions and protocol": _conditions(entry),
        "verdict": _verdict(entry),
    }


def _conditions(entry: Entry) -> str:
    unequal = entry.finding.unequal
    parts = (
        f"**different conditions**: {unequal}" if unequal else "",
        entry.finding.protocol,
        entry.claim.remark,
    )
    return "; ".join(filter(None, parts))


def _verdict(entry: Entry) -> str:
    claim, finding, verdict = entry
    if verdict == NOT_TESTED:
        return f"{verdict} ({finding.missing})"
    sign = _SIGNS[agrees(finding, claim.margin)] if verdict == UNDECIDED else ""
    return f"{verdict}, {sign}" if sign else verdict


def _line(paper: str, entry: Entry) -> dict[str, str]:
    """Returns column -> cell of the CSV."""
    claim, finding, verdict = entry
    bounds = finding.interval[1:] if finding.interval else ("", "")
    return {
        "paper": paper,
        **_row(entry),
        "verdict": verdict,
        "sign": _SIGNS[agrees(finding, claim.margin)],
        "low": bounds[0] and f"{bounds[0]:.6f}",
        "high": bounds[1] and f"{bounds[1]:.6f}",
        "missing": finding.missing,
        "runs": " ".join(finding.runs),
    }


def _sentence(paper: str, entries: list[Entry]) -> str:
    counts = Counter(entry.verdict for entry in entries)
    undecided = [entry for entry in entries if entry.verdict == UNDECIDED]
    signs = sum(agrees(entry.finding, entry.claim.margin) is True for entry in undecided)
    counted = (
        f"Of {len(entries)} claims {counts[SUPPORTED]} are supported{_texts(entries, SUPPORTED)}, "
        f"{counts[NOT_SUPPORTED]} not supported{_texts(entries, NOT_SUPPORTED)}, "
        f"{counts[UNDECIDED]} undecided ({signs} with the paper's sign) and "
        f"{counts[NOT_TESTED]} not tested"
    )
    quoted = "; ".join(_quote(entry) for entry in entries if entry.claim.headline)
    return f"**{paper}**. {counted}; {quoted}."


def _quote(entry: Entry) -> str:
    claim, finding, verdict = entry
    if finding.missing:
        found = finding.missing
    elif finding.interval and finding.gain.endswith(")"):
        found = f"{finding.gain[:-1]}; {finding.covers})"
    else:
        found = f"{finding.gain} ({finding.covers})"
    return f'"{claim.text.rstrip(".")}" is {verdict}: {found}'


def _texts(entries: list[Entry], verdict: str) -> str:
    """Returns the claims with a verdict in parentheses, "" if there is none."""
    texts = [entry.claim.text.rstrip(".") for entry in entries if entry.verdict == verdict]
    return f" ({'; '.join(texts)})" if texts else ""
