"""All papers' claims, and our findings on them."""

from pathlib import Path
from typing import NamedTuple

from disan_tf.common.files import read_json
from disan_tf.reporting.claims.claim import Claim, Finding, Records, judge
from disan_tf.reporting.claims.disan import DISAN_CLAIMS
from disan_tf.reporting.claims.drcn import DRCN_CLAIMS
from disan_tf.reporting.claims.dsa import DSA_CLAIMS
from disan_tf.reporting.claims.elmo import ELMO_CLAIMS
from disan_tf.reporting.claims.resan import RESAN_CLAIMS
from disan_tf.reporting.differences import Answers

CLAIMS: dict[str, tuple[Claim, ...]] = {
    "DiSAN": DISAN_CLAIMS,
    "ReSAN": RESAN_CLAIMS,
    "DSA": DSA_CLAIMS,
    "DRCN": DRCN_CLAIMS,
    "ELMo-DiSAN": ELMO_CLAIMS,
}


class Entry(NamedTuple):
    """A claim, our finding on it, and the verdict."""

    claim: Claim
    finding: Finding
    verdict: str


Ledger = dict[str, list[Entry]]  # paper -> the entries of its claims


def assess_claims(records: Records) -> Ledger:
    """Assesses all claims on records."""
    return {paper: [_entry(claim, records) for claim in claims] for paper, claims in CLAIMS.items()}


def _entry(claim: Claim, records: Records) -> Entry:
    finding = claim.evidence.find(records)
    return Entry(claim, finding, judge(finding, claim.margin))


def read_records(
    results: dict[str, dict], predictions: dict[str, list[Answers]], benchmarks: Path
) -> Records:
    """Joins recorded results and predictions with a folder of benchmarks."""
    return Records(
        results,
        predictions,
        {
            path.stem: read_json(path, "restore it from the repository")
            for path in sorted(benchmarks.glob("*.json"))
        },
    )
