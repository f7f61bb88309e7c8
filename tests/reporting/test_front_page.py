"""Our best figures beside those of the papers."""

import pytest

from disan_tf.reporting.paper_tables.all_tables import TABLES
from disan_tf.reporting.readme import CLAIMS, front_page_table
from tests.support.runs.training import load_config

DATA = {
    "official_training_examples": 200,
    "training_examples": 40,  # and 10 for dev
    "training_read": 50,
    "unit": "pairs",
    "training_tokens_covered": 0.9,
}


def _run(name, variant="", dev=0.5, test=0.75, **changed):
    """As much of a recorded run as the table looks at."""
    config = load_config(name, variant).to_dict()
    scores = {"dev": {"accuracy": dev}, "test": {"accuracy": test}}
    return {"config": config, "data": DATA, "best_epoch": 2.25, **scores, **changed}


def _line(results, paper, corpus):
    """The cells that follow paper and corpus."""
    table = front_page_table(results).splitlines()
    lines = [line.removesuffix(" |").split(" | ") for line in table]
    (cells,) = (line[2:] for line in lines if f"[{paper}]" in line[0] and line[1] == corpus)
    return cells


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: ", ".join(claim[:2]))
def test_every_claim_names_models_of_its_table_and_a_figure(claim):
    table, corpus, *models = claim
    assert models and set(models) <= {row.model for row in TABLES[table].rows}
    theirs, ours, *_ = _line({}, TABLES[table].paper, corpus)
    assert theirs and ours == "not run"


def test_every_table_stands_in_a_claim_but_resans_ablations():
    assert TABLES.keys() - {table for table, *_ in CLAIMS} == {"resan_table_2", "resan_table_4"}


def test_a_run_stands_beside_the_paper_with_the_data_that_it_saw():
    assert _line({"mine": _run("disan_snli")}, "DiSAN", "SNLI") == [
        "85.62",
        "75.00",
        "40 of 200 pairs (20.0 %)",
        "90.0 %",
        "2.2",
    ]


def test_of_several_runs_the_best_on_dev_counts_whatever_its_test_score():
    results = {
        "lucky": _run("disan_snli", dev=0.5, test=0.9),
        "chosen": _run("disan_snli", dev=0.6, test=0.7),
    }
    assert _line(results, "DiSAN", "SNLI")[1] == "70.00"


def test_a_baseline_does_not_count():
    assert _line({"other": _run("disan_snli", "bi_lstm")}, "DiSAN", "SNLI")[1] == "not run"


def test_the_papers_figure_is_that_of_our_model():
    assert _line({}, "DSA", "SNLI")[0] == "87.4"
    assert _line({"mine": _run("dsa_snli")}, "DSA", "SNLI")[:2] == ["86.8", "75.00"]


def test_a_model_of_ours_alone_is_named_beside_the_papers_strongest():
    line = _line({"mine": _run("elmo_disan_sst", "both")}, "ELMo-DiSAN", "SST, five classes")
    assert line[:2] == ["54.25", "75.00, DiSAN + small biLM and GloVe"]


def test_a_series_of_correlations_has_its_deviation():
    scores = {"dev": {"pearson": 0.8}, "test": {"pearson": 0.86851}}
    deviation = {"dev": {"pearson": 0.1}, "test": {"pearson": 0.001}}
    run = {**_run("disan_sick"), "members": [], "mean": scores, "standard_deviation": deviation}
    line = _line({"mine": run}, "DiSAN", "SICK")
    assert line[:2] == ["r .8695 (.0012)", "r 0.8685 (0.0010)"]
