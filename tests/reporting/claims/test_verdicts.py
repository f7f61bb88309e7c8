"""The rule of the ledger, from small results: each verdict, and what prevents one."""

import copy

import numpy as np
import pytest

from disan_tf.reporting.claims.all_claims import Entry
from disan_tf.reporting.claims.claim import (
    NOT_SUPPORTED,
    NOT_TESTED,
    SUPPORTED,
    UNDECIDED,
    Claim,
    Finding,
    Records,
    judge,
)
from disan_tf.reporting.claims.conditions import describe_protocol
from disan_tf.reporting.claims.other_evidence import Benchmark, Parameters, Quoted, SameWeights
from disan_tf.reporting.claims.page import render_claims, render_sentences
from disan_tf.reporting.claims.rows import Rows
from disan_tf.reporting.differences import Answers, Interval
from tests.support.runs.finished import DATA, config_of

EXAMPLES = 1000
LABELS = np.zeros(EXAMPLES, np.uint8)
ROWS = Rows("disan_table_2", "DiSAN", "Bi-LSTM with s2t self-attention")


def _answers(share):
    """Predictions of which exactly this share is correct."""
    return Answers((np.arange(EXAMPLES) >= share * EXAMPLES).astype(np.uint8), LABELS)


def _series(encoder, shares, **train):
    """A result with one member for each share of correct test examples."""
    members = [{"seed": seed, "steps": 30} for seed, _ in enumerate(shares, start=1)]
    scores = {split: {"accuracy": float(np.mean(shares))} for split in ("dev", "test")}
    config = config_of(encoder=encoder)
    config["train"].update(train)
    return {
        "config": config,
        "members": members,
        "mean": scores,
        "data": DATA,
        "parameters": 1000,
        "best_epoch": 2.0,
    }


def _records(ours, others, **train):
    results = {"ours": _series("disan", ours), "others": _series("bi_lstm", others, **train)}
    kept = {"ours": [*map(_answers, ours)], "others": [*map(_answers, others)]}
    return Records(results, kept, {})


def _verdict(*shares, **train):
    return judge(ROWS.find(_records(*shares, **train)))


def test_a_clear_lead_of_three_seeds_is_supported():
    assert _verdict((0.60, 0.61, 0.62), (0.50, 0.51, 0.52)) == SUPPORTED


def test_a_clear_lead_of_the_other_model_is_not_supported():
    assert _verdict((0.50, 0.51, 0.52), (0.60, 0.61, 0.62)) == NOT_SUPPORTED


def test_a_lead_within_the_variation_over_seeds_is_undecided():
    assert _verdict((0.50, 0.60, 0.70), (0.49, 0.59, 0.69)) == UNDECIDED


@pytest.mark.parametrize("ours, others", [((0.6,), (0.5, 0.5)), ((0.6, 0.6), (0.5,))])
def test_one_seed_on_either_side_is_undecided_and_the_cell_says_so(ours, others):
    finding = ROWS.find(_records(ours, others))
    assert finding.interval.low > 0 and finding.covers == "one seed: examples only"
    assert judge(finding) == UNDECIDED


def test_different_conditions_are_undecided_and_named():
    finding = ROWS.find(_records((0.60, 0.61), (0.50, 0.51), steps=60))
    assert finding.unequal == "30 and 60 steps" and judge(finding) == UNDECIDED
    finding = ROWS.find(_records((0.60, 0.61), (0.50, 0.51), batch_size=4))
    assert finding.unequal == "train.batch_size 2 and 4" and judge(finding) == UNDECIDED


def test_padded_vectors_are_described():
    result = _series("disan", (0.5,))
    assert describe_protocol(result).startswith("300-dimensional vectors for 68.3 % of the tokens,")
    result["config"]["data"]["vector_dim"] = 100
    words = "100-dimensional vectors for 68.3 % of the tokens, padded to 300 dimensions, best after"
    assert describe_protocol(result).startswith(words)


def test_padded_runs_that_are_not_compared_have_their_scores():
    records = _records((0.60, 0.61), (0.50, 0.51))
    padded = copy.deepcopy(_series("bi_lstm", (0.55, 0.55)))
    padded["config"]["data"]["vector_dim"] = 100
    finding = ROWS.find(records._replace(results={**records.results, "padded": padded}))
    assert finding.runs == ("ours", "others")
    words = "Bi-LSTM with s2t self-attention with vectors padded to 300 dimensions: 55.00"
    assert finding.protocol.endswith(words)
    assert "padded" not in ROWS.find(records).protocol
    alone = records._replace(results={"ours": records.results["ours"], "padded": padded})
    assert "padded" not in ROWS.find(alone).protocol


def test_without_predictions_there_is_no_interval_and_no_decision():
    records = _records((0.60, 0.61), (0.50, 0.51))
    finding = ROWS.find(records._replace(predictions={}))
    assert finding.interval is None and finding.covers == "no interval: predictions were not kept"
    assert judge(finding) == UNDECIDED and finding.gain == "+10.00"


def test_a_missing_run_is_named_and_not_tested():
    records = _records((0.60, 0.61), (0.50, 0.51))
    del records.results["others"]
    finding = ROWS.find(records)
    assert judge(finding) == NOT_TESTED
    assert finding.missing == "Bi-LSTM with s2t self-attention: not run"


def test_a_stand_in_cannot_be_supported():
    rows = Rows(ROWS.table, ROWS.ours, ROWS.other, stand_in="another model")
    assert judge(rows.find(_records((0.60, 0.61), (0.50, 0.51)))) == UNDECIDED


@pytest.mark.parametrize(
    "low, high, verdict",
    [
        (-0.002, 0.001, SUPPORTED),
        (-0.009, -0.004, NOT_SUPPORTED),
        (-0.004, -0.001, UNDECIDED),
    ],
)
def test_a_claim_of_no_cost_has_a_margin(low, high, verdict):
    finding = Finding("", value=0.0, interval=Interval(0.0, low, high), decisive=True)
    assert judge(finding, margin=0.003) == verdict


def test_runs_are_chosen_by_conditions_and_not_by_scores():
    records = _records((0.50, 0.51), (0.60, 0.61))
    better = copy.deepcopy(records.results["ours"])
    better["config"]["train"]["batch_size"] = 4
    better["mean"]["test"]["accuracy"] = 0.9
    records.results["better"] = better
    assert ROWS.find(records).runs == ("ours", "others")
    more = copy.deepcopy(records.results["ours"])
    more["members"].append({"seed": 3, "steps": 30})
    records.results["more"] = more
    assert ROWS.find(records).runs == ("more", "others")


def test_a_claim_without_a_comparison_shows_the_run_with_most_examples_then_vectors_then_seeds():
    records = _records((0.50,), (0.40,))
    quoted = Quoted(ROWS.table, ROWS.ours, "a model of another paper", "51.2")

    def add(name, shares, covered, examples=0):
        run = _series("disan", shares)
        run["data"] = {**DATA, "training_tokens_covered": covered}
        run["config"]["train"]["examples"] = examples
        records.results[name] = run

    add("fewer examples", (0.70, 0.71), 1.0, DATA["training_read"] // 2)
    assert quoted.find(records).ours == "50.00"
    add("more vectors", (0.30,), 0.98)
    assert quoted.find(records).ours == "30.00"
    add("more seeds", (0.20, 0.20), 0.98)
    assert quoted.find(records).ours == "20.00"
    assert judge(quoted.find(records)) == NOT_TESTED


def test_fewer_parameters_are_supported_and_more_are_not():
    records = _records((0.5,), (0.5,))
    evidence = Parameters("disan_table_1", "DiSAN", "Bi-LSTM with s2t self-attention")
    for run in records.results.values():
        run["config"] = {**run["config"], "name": "disan_snli"}
        run["config"]["data"] = {"corpus": "snli", "embedding_dim": 300, "vectors": ""}
    records.results["ours"]["parameters"] = 900
    assert judge(evidence.find(records)) == SUPPORTED
    records.results["ours"]["parameters"] = 1100
    assert judge(evidence.find(records)) == NOT_SUPPORTED


@pytest.mark.parametrize(
    "ours, verdict",
    [((10, 9, 11), SUPPORTED), ((30, 29, 31), NOT_SUPPORTED), ((20, 15, 25), UNDECIDED)],
)
def test_times_are_judged_by_their_ranges(ours, verdict):
    keys = ("median_ms", "min_ms", "max_ms")
    times = {"a": dict(zip(keys, ours)), "b": dict(zip(keys, (21, 19, 22)))}
    records = Records({}, {}, {"file": {"machine": {"processor": "P", "threads": 2}, **times}})
    assert judge(Benchmark("", "file", ("a",), ("b",)).find(records)) == verdict
    assert judge(Benchmark("", "gone", ("a",), ("b",)).find(records)) == NOT_TESTED


def test_the_same_weights_without_runs_are_not_tested():
    assert judge(SameWeights("").find(Records({}, {}, {}))) == NOT_TESTED


def test_the_page_counts_verdicts_and_intervals():
    records = _records((0.60, 0.61, 0.62), (0.50, 0.51, 0.52))
    claim = Claim("It leads.", "Table 2", ROWS, "a remark", headline=True)
    finding = ROWS.find(records)
    files = render_claims({"DiSAN": [Entry(claim, finding, judge(finding))]})
    assert "| DiSAN | 1 | 1 | 0 | 0 | 0 |" in files["claims.md"]
    assert "1 intervals are over seeds and examples" in files["claims.md"]
    assert "best after 2 epochs; a remark | supported |" in files["claims.md"]
    assert "ours others" in files["claims.csv"]
    sentence = render_sentences({"DiSAN": [Entry(claim, finding, judge(finding))]})
    assert sentence.startswith(
        "- **DiSAN**. Of 1 claims 1 are supported (It leads), 0 not supported"
    )
    assert '"It leads" is supported: +10.00 (' in sentence
