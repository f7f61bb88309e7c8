"""The papers' claims name rows that exist, and the checked-in ledger shows what is recorded."""

import pytest

from disan_tf.common.installation import CHECKPOINTS
from disan_tf.reporting.claims.all_claims import CLAIMS, assess_claims, read_records
from disan_tf.reporting.claims.claim import NOT_TESTED, UNDECIDED
from disan_tf.reporting.claims.other_evidence import Parameters, Quoted
from disan_tf.reporting.claims.page import render_claims
from disan_tf.reporting.claims.rows import Rows, column, find_row
from disan_tf.reporting.paper_tables.all_tables import TABLES
from disan_tf.reporting.result_files import read_predictions, read_results

ALL = [
    pytest.param(paper, claim, id=f"{paper}: {claim.text}")
    for paper, claims in CLAIMS.items()
    for claim in claims
]


@pytest.fixture(scope="module")
def ledger():
    results = read_results(CHECKPOINTS / "results")
    predictions = read_predictions(CHECKPOINTS / "predictions")
    return assess_claims(read_records(results, predictions, CHECKPOINTS / "benchmarks"))


def _finding(ledger, text):
    (entry,) = (e for entries in ledger.values() for e in entries if e.claim.text == text)
    return entry


@pytest.mark.parametrize("paper, claim", ALL)
def test_tables_rows_and_columns_exist(paper, claim):
    evidence = claim.evidence
    if isinstance(evidence, (Rows, Parameters, Quoted)):
        table = TABLES[evidence.table]
        assert table.paper == paper
        assert find_row(table, evidence.ours)
    if isinstance(evidence, (Rows, Parameters)):
        assert find_row(table, evidence.other)
    if isinstance(evidence, Rows):
        assert column(table, evidence.score) in table.scores


@pytest.mark.parametrize("paper, claim", ALL)
def test_the_first_row_leads_in_the_paper(paper, claim):
    evidence = claim.evidence
    if isinstance(evidence, Rows):
        table = TABLES[evidence.table]
        score = column(table, evidence.score)
        figures = [
            find_row(table, model).figures[table.scores.index(score)]
            for model in (evidence.ours, evidence.other)
        ]
        if all(figures):
            ours, other = (float(figure.split()[0]) for figure in figures)
            lower = score.key in ("mse", "loss")
            assert (other > ours if lower else ours > other) or claim.margin


def test_each_paper_has_one_headline_and_no_claim_twice():
    for claims in CLAIMS.values():
        assert sum(claim.headline for claim in claims) == 1
        assert len({claim.text for claim in claims}) == len(claims)


def test_the_checked_in_ledger_is_what_the_report_writes(ledger):
    for name, text in render_claims(ledger).items():
        assert (CHECKPOINTS / name).read_text("utf-8") == text, f"run --mode=report for {name}"


def test_selecting_costs_accuracy_in_all_six_models(ledger):
    _, finding, verdict = _finding(
        ledger, "The selected tokens suffice: selecting costs no accuracy with the same weights."
    )
    assert (finding.ours, finding.gain, verdict) == ("74.13 and 74.81", "-0.68", UNDECIDED)
    assert finding.covers.startswith("lower in 6 of 6 models; no interval:")


def test_resan_stands_below_disan_on_sick(ledger):
    _, finding, verdict = _finding(ledger, "ReSAN beats DiSAN on SICK, r.")
    assert finding.value < 0 and verdict == UNDECIDED


def test_the_official_elmo_is_named_as_missing(ledger):
    _, finding, verdict = _finding(ledger, "ELMo improves DiSAN on SST.")
    assert (finding.missing, verdict) == ("DiSAN + ELMo: not run", NOT_TESTED)
