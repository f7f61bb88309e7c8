"""Our best figures beside those of the papers."""

from types import SimpleNamespace

import pytest

from disan_tf.common.installation import CHECKPOINTS
from disan_tf.study.claims.ledger import LARGER
from disan_tf.study.papers import TABLES
from disan_tf.study.report import front_page_table, ledger_sentence, repository_pages
from disan_tf.study.results import read_result
from tests.support.errors import user_error
from tests.support.runs.training import load_config

MARKS = {
    page: [f"<!-- {name}: {place} -->\n" for place in ("begin", "end")]
    for page, name in {"README.md": "results", "docs/reproduce.md": "rows"}.items()
}
DATA = {"official_training_examples": 200, "training_examples": 40, "training_read": 50}


def _run(name, variant="", dev=0.5, test=0.75, **changed):
    """As much of a recorded run as the table looks at."""
    config = load_config(name, variant).to_dict()
    scores = {"dev": {"accuracy": dev}, "test": {"accuracy": test}}
    return {"config": config, "data": DATA, **scores, **changed}


def _line(results, paper, corpus):
    """The cells that follow paper and corpus."""
    table = front_page_table(results).splitlines()
    lines = [line.removesuffix(" |").split(" | ") for line in table]
    (cells,) = (line[2:] for line in lines if f"[{paper}]" in line[0] and line[1] == corpus)
    return cells


def test_every_paper_has_a_row_of_models_of_its_table_and_a_figure():
    tables = [table for table in TABLES.values() if table.front_page]
    assert len(tables) <= 8
    assert {table.paper for table in tables} == {table.paper for table in TABLES.values()}
    for table in tables:
        assert {*table.front_page} <= {row.model for row in table.rows}
        theirs, ours, *_ = _line({}, table.paper, table.corpus)
        assert theirs and ours == "not run"


def test_the_sentence_on_the_ledger_counts_the_papers_verdicts():
    verdicts = ["supported", "undecided", "not tested", "undecided", "not supported", "undecided"]
    entries = [_entry(verdict) for verdict in (*verdicts, LARGER)]
    text = ledger_sentence({"one": entries[:2], "other": [*entries[2:], _entry("supported", True)]})
    assert text.endswith(
        "lists 7 claims: 1 supported (0 on speed or size), 1 supported with a lead larger than the "
        "paper's, 1 not supported, 3 undecided and 1 not tested."
    )
    speed = {"one": [_entry("supported"), _entry("supported", about="speed or size")]}
    assert "2 supported (1 on speed or size)" in ledger_sentence(speed)


def _entry(verdict, ours=False, about="accuracy"):
    return SimpleNamespace(verdict=verdict, claim=SimpleNamespace(ours=ours, about=about))


def test_of_several_runs_the_best_on_dev_counts_whatever_its_test_score():
    results = {
        "lucky": _run("disan_snli", dev=0.5, test=0.9),
        "chosen": _run("disan_snli", dev=0.6, test=0.7),
    }
    assert _line(results, "DiSAN", "SNLI") == ["85.62", "70.00 (one seed)", "20.0 %"]
    baseline = {"other": _run("disan_snli", "bi_lstm")}
    assert _line(baseline, "DiSAN", "SNLI")[1] == "not run"


def test_the_papers_figure_is_that_of_our_model_or_else_its_strongest():
    assert _line({}, "DSA", "SNLI")[0] == "87.4"
    assert _line({"mine": _run("dsa_snli")}, "DSA", "SNLI")[:2] == ["86.8", "75.00 (one seed)"]
    scores = {split: {"accuracy": 0.75} for split in ("dev", "test")}
    ours = _run("elmo_disan_sst", "both", mean=scores, members=[{}, {}])
    line = _line({"mine": ours}, "ELMo-DiSAN", "SST, five classes")
    assert line[:2] == ["54.25", "75.00, DiSAN + small biLM and GloVe"]


def test_the_score_of_a_tables_baseline_follows_ours():
    data = {**DATA, "training_tokens_covered": 1.0}
    results = {
        "ours": _run("elmo_disan_sst", "both"),
        "glove": _run("elmo_disan_sst", "glove", dev=0.9, test=0.8, data=data),
    }
    line = _line(results, "ELMo-DiSAN", "SST, five classes")
    ours = "75.00 (one seed), DiSAN + small biLM and GloVe; 80.00, DiSAN + GloVe"
    assert line[:2] == ["54.25", ours]


@pytest.fixture
def repository(tmp_path):
    """Two pages whose results are outdated."""
    (tmp_path / "docs").mkdir()
    for path, marks in MARKS.items():
        (tmp_path / path).write_text("before\n" + "earlier\n".join(marks) + "after\n")
    return tmp_path


def test_what_stands_between_the_marks_is_replaced_and_nothing_else(repository):
    path = next((CHECKPOINTS / "results").glob("disan_sst*.json"))
    ledger = {"one": [_entry("supported")]}
    pages = repository_pages({"mine": read_result(path)}, ledger, repository)
    texts = {name: pages[repository / name] for name in MARKS}
    for path, (begin, end) in MARKS.items():
        assert texts[path].startswith(f"before\n{begin}")
        assert texts[path].endswith(f"{end}after\n") and "earlier" not in texts[path]
    assert "| [DiSAN](checkpoints/tables/" in texts["README.md"]
    assert "lists 1 claims: 1 supported" in texts["README.md"]
    assert "disan/sick" in texts["docs/reproduce.md"]


@pytest.mark.parametrize("page, mark", [(page, MARKS[page][k]) for k, page in enumerate(MARKS)])
def test_pages_without_a_mark_are_refused(repository, page, mark):
    path = repository / page
    path.write_text(path.read_text().replace(mark, ""))
    message = user_error(repository_pages, {}, {}, repository)
    assert f"{path} lacks the lines <!-- " in message
