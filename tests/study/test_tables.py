"""The papers' tables with our runs beside them."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from disan_tf.metrics.differences import Predictions, difference
from disan_tf.study.papers import TABLES
from disan_tf.study.report import summarise
from disan_tf.study.results import Records
from disan_tf.study.tables import render_tables, results_table
from tests.support.runs.finished import MACHINE, config_of, write_run

SEEN = "| 900 of 8,544 trees (10.5 %) | 68.3 %"
SPEEDS = {"disan": {"epoch_seconds": 137.0}, "additive": {"epoch_seconds": 50.0}}
BENCHMARKS = {"disan_encoders": {"encoders": {"encoders": SPEEDS}}}


def _tables(run, name="mine", **records):
    return render_tables(Records({name: run}, **records))


def _lines(text):
    return list(csv.DictReader(io.StringIO(text)))


def _line(text, name="mine"):
    (line,) = (line for line in _lines(text) if line["run"] == name)
    return line


def test_a_remark_has_the_row_that_reproduces_the_run_and_two_lines_at_most(tmp_path):
    (tmp_path / "note.txt").write_text("Some vectors\nare missing. " * 20)
    run = summarise(write_run(tmp_path, config_of()), {})
    tables = _tables(run, "disan_sst_glove_100d")
    (remark,) = (line for line in tables["disan_table_2.md"].splitlines() if line[:8] == "- DiSAN,")
    assert "_100d.json): `--mode=reproduce --row=disan/sst`. Some vectors are missing." in remark
    assert remark.endswith(" ...") and len(remark.partition("`. ")[2]) <= 160
    line = _line(tables["disan_table_2.csv"], "disan_sst_glove_100d")
    assert line["row"] == "disan/sst" and len(line["note"]) > 500
    run["note"] = "Few vectors."
    text = _tables(run)["disan_table_2.md"]
    assert "- DiSAN, [mine](../results/mine.json): Few vectors.\n" in text


def test_times_of_encoders_on_the_papers_vectors_stand_beside_no_narrower_ones(recorded):
    runs = {
        str(dim): recorded(config_of("snli", "additive", embedding_dim=dim)) for dim in (100, 300)
    }
    lines = render_tables(Records(runs, benchmarks=BENCHMARKS))["disan_table_1.csv"]
    column = "seconds per epoch of the whole corpus, ours"
    assert [_line(lines, name)[column] for name in ("100", "300")] == ["", "50"]


def test_an_empty_cell_of_a_recorded_run_says_why(recorded):
    run = recorded(config_of("snli"))
    evaluated = {**run, "train": {"accuracy": 0.75}}
    plain = {key: value for key, value in run.items() if key != "best_on_test"}
    other = recorded(config_of("snli", "source2token"))
    runs = {"evaluated": evaluated, "plain": plain, "other": other}
    tables = render_tables(Records(runs, benchmarks=BENCHMARKS))
    text = tables["disan_table_1.md"]
    row = "| 2.35m | 1,000 | 587 | 137 | 50.00 | 91.08 | not evaluated | 85.62 | 47.50 |"
    assert f"| DiSAN | plain | seed 3 {SEEN} {row} not watched |" in text
    assert f"| other | seed 3 {SEEN} | 0.54m | 1,000 | 261 | not measured |" in text
    assert "137 | 50.00 | 91.08 | 75.00 | 85.62 | 47.50 | 49.00 |" in text
    assert not any("not evaluated" in line for line in text.splitlines() if "not run" in line)
    assert _line(tables["disan_table_1.csv"], "plain")["train, ours"] == ""


def test_trials_do_not_hide_that_a_model_was_not_run(recorded):
    text = _tables(recorded(config_of(rebalance=True)))["disan_table_2.md"]
    assert "| DiSAN | mine | seed 3 |" in text and "| DiSAN | not run |" in text


# Differences to the paper's own model


def _predictions_of(share):
    labels = np.zeros(200, np.uint8)
    return Predictions((np.arange(200) >= share * 200).astype(np.uint8), labels)


@pytest.fixture
def records(recorded):
    """A series of DiSAN, single runs of it, and a run of its Bi-LSTM, with predictions."""
    results = {
        "a_single": recorded(),
        "lstm": recorded(config_of(encoder="bi_lstm")),
        "series": recorded(tests=(0.4, 0.5)),
        "single": recorded(),
    }
    shares = {"a_single": 0.9, "single": 0.9, "lstm": 0.3}
    for name, share in shares.items():
        results[name]["test"]["accuracy"] = share
    predictions = {name: [_predictions_of(share)] for name, share in shares.items()}
    predictions["series"] = [_predictions_of(0.4), _predictions_of(0.5)]
    return Records(results, predictions)


def _differences(records):
    column = "test, difference to DiSAN (95 % interval)"
    lines = _lines(render_tables(records)["disan_table_2.csv"])
    return {line["run"]: line[column] for line in lines if line["run"] in records.results}


def test_a_run_is_compared_with_the_main_models_run_of_most_seeds(records):
    lone, series = records.predictions["lstm"], records.predictions["series"]
    found, _ = difference(lone, series, "accuracy", series)
    low, high = (f"{100 * bound:+.2f}" for bound in found[1:])
    shown = _differences(records)
    assert shown.pop("lstm") == f"-15.00 ({low} to {high}; examples and another model's seeds)"
    assert {*shown.values()} == {""}
    table = render_tables(records)["disan_table_2.csv"]
    assert _line(table, "lstm")["compared run"] == "series"
    records.results["lstm"]["config"]["dtype"] = "mixed_bfloat16"
    table = render_tables(records)["disan_table_2.csv"]
    assert _line(table, "lstm")["compared run"] == "series, other conditions"


def test_an_option_in_which_the_papers_models_differ_is_no_other_condition(records, monkeypatch):
    for run in records.results.values():
        run["config"]["embedding"]["trainable"] = True
    records.results["lstm"]["config"]["embedding"]["trainable"] = False
    table = render_tables(records)["disan_table_2.csv"]
    assert _line(table, "lstm")["compared run"] == "series, other conditions"
    apart = replace(TABLES["disan_table_2"], apart=("embedding.trainable",))
    monkeypatch.setitem(TABLES, "disan_table_2", apart)
    table = render_tables(records)["disan_table_2.csv"]
    assert _line(table, "lstm")["compared run"] == "series"


def test_a_run_is_compared_under_the_same_conditions_where_there_is_such_a_run(records):
    for name in ("lstm", "single"):
        records.results[name]["config"]["dtype"] = "mixed_bfloat16"
    records.results["lstm"]["config"]["data"]["unescaped"] = False  # which the others lack
    assert _differences(records)["lstm"].startswith("-60.00 (")
    text = render_tables(records)["disan_table_2.md"]
    assert 'The column "compared run" names the run of DiSAN' in text


@pytest.mark.parametrize(("part", "option"), [("data", "level"), ("train", "examples")])
def test_runs_on_other_data_are_not_compared(records, part, option):
    records.results["lstm"]["config"][part][option] = 10
    assert _differences(records)["lstm"] == "no run of DiSAN on these data"


def test_a_difference_without_predictions_says_so(records):
    assert _differences(Records(records.results))["lstm"] == "no predictions recorded"
    assert "difference" not in _tables(records.results["single"])["disan_table_5.md"]


def test_the_difference_to_the_paper_stands_beside_runs_on_all_training_examples(records):
    text = render_tables(records)["disan_table_2.md"]
    assert "difference to the paper" not in text and "as a constant" not in text
    series = records.results["series"]
    series["data"]["training_read"] = series["data"]["training_examples"] = 8544
    tables = render_tables(records)
    assert "the paper's score as a constant" in tables["disan_table_2.md"]
    line = _line(tables["disan_table_2.csv"], "series")
    assert line["test, difference to the paper (95 % interval)"].startswith("-6.72 (-1")  # of 51.72
    assert (
        _line(tables["disan_table_2.csv"], "lstm")["test, difference to the paper (95 % interval)"]
        == ""
    )


def test_a_gpu_stands_before_its_processor(recorded):
    run = recorded(machine={**MACHINE, "gpu": "Some GPU"})
    assert "| Some GPU beside Some CPU, 2 of 4 |" in results_table({"run": run})["results.md"]
