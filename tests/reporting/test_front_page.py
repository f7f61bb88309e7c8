"""Our best figures beside those of the papers."""

import shutil

import pytest

from disan_tf.common.errors import UserError
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.reporting.front_page import (
    ROWS,
    front_page_table,
    ledger_sentence,
    update_pages,
)
from disan_tf.reporting.paper_tables.all_tables import TABLES
from tests.support.runs.training import load_config

ROOT = CHECKPOINTS.parent
MARKS = ("<!-- results: begin -->\n", "<!-- results: end -->\n")
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


@pytest.mark.parametrize("row", ROWS, ids=lambda row: ", ".join(row[:2]))
def test_every_row_names_models_of_its_table_and_a_figure(row):
    table, corpus, *models = row
    assert models and set(models) <= {row.model for row in TABLES[table].rows}
    theirs, ours, *_ = _line({}, TABLES[table].paper, corpus)
    assert theirs and ours == "not run"


def test_the_rows_are_few_and_every_paper_has_one():
    assert len(ROWS) <= 8
    assert {TABLES[table].paper for table, *_ in ROWS} == {it.paper for it in TABLES.values()}


def test_the_sentence_on_the_ledger_counts_verdicts(tmp_path):
    verdicts = ["supported", "undecided", "not tested", "undecided", "not supported", "undecided"]
    (tmp_path / "claims.csv").write_text("\n".join(["verdict", *verdicts]))
    text = ledger_sentence(tmp_path / "claims.csv")
    assert text.startswith("1 of 6 claims are supported, 1 are not, 3 are undecided")
    assert "1 are not tested" in text


def test_a_run_stands_beside_the_paper_with_the_data_that_it_saw():
    assert _line({"mine": _run("disan_snli")}, "DiSAN", "SNLI") == [
        "85.62",
        "75.00",
        "20.0 %",
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


@pytest.fixture
def repository(tmp_path):
    """A front page whose results are outdated, a recorded result, and a ledger."""
    result = next((CHECKPOINTS / "results").glob("disan_sst*.json"))
    (tmp_path / "checkpoints/results").mkdir(parents=True)
    shutil.copy(result, tmp_path / "checkpoints/results/mine.json")
    (tmp_path / "checkpoints/claims.csv").write_text("verdict\nsupported\n")
    (tmp_path / "README.md").write_text(
        "before\nearlier\nafter\n".replace("earlier\n", "earlier\n".join(MARKS))
    )
    return tmp_path


def test_what_stands_between_the_marks_is_replaced_and_nothing_else(repository):
    update_pages(repository)
    text = (repository / "README.md").read_text()
    assert text.startswith(f"before\n{MARKS[0]}") and text.endswith(f"{MARKS[1]}after\n")
    assert "earlier" not in text and "| [DiSAN](checkpoints/tables/" in text
    assert "1 of 1 claims are supported" in text


@pytest.mark.parametrize("mark", MARKS)
def test_a_front_page_without_a_mark_is_refused_and_not_changed(repository, mark):
    path = repository / "README.md"
    before = path.read_text().replace(mark, "")
    path.write_text(before)
    with pytest.raises(UserError, match="README.md lacks the lines .*results: begin"):
        update_pages(repository)
    assert path.read_text() == before


def test_the_front_page_shows_what_is_recorded(tmp_path):
    (tmp_path / "checkpoints").mkdir()
    shutil.copytree(CHECKPOINTS / "results", tmp_path / "checkpoints/results")
    shutil.copy(CHECKPOINTS / "claims.csv", tmp_path / "checkpoints")
    shutil.copy(ROOT / "README.md", tmp_path)
    update_pages(tmp_path)
    assert (tmp_path / "README.md").read_text("utf-8") == (ROOT / "README.md").read_text("utf-8")
