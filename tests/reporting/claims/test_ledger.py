"""The papers' claims name rows in which the first model leads; the checked-in ledger is current."""

import pytest

from disan_tf.common.errors import UserError
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.reporting.claims.evidence import LOWER_IS_BETTER, Rows
from disan_tf.reporting.claims.ledger import (
    Claim,
    assess_claims,
    read_claims,
    read_records,
    render_claims,
)
from disan_tf.reporting.papers import read_section
from disan_tf.reporting.result_files import read_predictions, read_results


def test_the_checked_in_ledger_is_what_the_report_writes():
    results = read_results(CHECKPOINTS / "results")
    predictions = read_predictions(CHECKPOINTS / "predictions")
    ledger = assess_claims(read_records(results, predictions, CHECKPOINTS / "benchmarks"))
    for name, text in render_claims(ledger).items():
        assert (CHECKPOINTS / name).read_text("utf-8") == text, f"run --mode=report for {name}"


def test_the_first_row_leads_in_the_paper():
    for claim in (claim for claims in read_claims().values() for claim in claims):
        evidence = claim.evidence
        if type(evidence) is Rows and all(evidence.figures):
            ours, other = (float(figure.split()[0]) for figure in evidence.figures)
            lower = evidence.score.key in LOWER_IS_BETTER
            assert (other > ours if lower else ours > other) or claim.no_cost, claim.text


def test_no_paper_has_a_claim_twice():
    for claims in read_claims().values():
        assert len({claim.text for claim in claims}) == len(claims)


@pytest.mark.parametrize(
    "evidence, reason",
    [
        ("{kind: rows, table: t, models: [a, b]}", "no table t with a model a"),
        ("{kind: rows, table: disan_table_2, models: [DiSAN, b]}", "no table disan_table_2 with a"),
        ("{kind: rows, table: disan_table_2, models: [DiSAN]}", "needs two models and a column of"),
        (
            "{kind: parameters, table: disan_table_2, models: [DiSAN, DiSAN], column: loss}",
            "needs two models and a column of",
        ),
        ("{kind: untested, paper: p, missing: m, table: disan_table_2}", "with a model"),
        (
            "{kind: benchmark, paper: p, file: f, first: a, second: b, kernels: [C++]}",
            "kernels must name",
        ),
        ("{kind: rumour}", "claims.evidence.kind must be one of"),
    ],
)
def test_a_wrong_reference_is_refused_with_its_line(tmp_path, evidence, reason):
    text = f"claims:\n  - text: It leads.\n    place: Table 1\n    evidence: {evidence}\n"
    (tmp_path / "disan.yaml").write_text(text)
    with pytest.raises(UserError, match=f"disan.yaml, line 4: .*{reason}"):
        read_section("disan", "claims", tuple[Claim, ...], tmp_path)
