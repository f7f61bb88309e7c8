"""The papers' tables with our runs beside them."""

import csv
import io

import numpy as np
import pytest

from disan_tf.metrics.differences import Predictions, difference
from disan_tf.study.papers import TABLES
from disan_tf.study.report import summarise
from disan_tf.study.results import Records
from disan_tf.study.tables import render_tables
from tests.support.runs.finished import config_of, write_run, write_selections, write_series
from tests.support.runs.training import load_config

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


def test_a_row_without_a_run_says_so_and_a_remaining_run_has_its_hours():
    tables = render_tables(Records({}))
    assert "| DiSAN, CR | not run | 84.8 (2.0) |" in tables["disan_table_5.md"]
    command = "python run.py --config=configs/disan_cr.py --folds=all"
    assert f"- DiSAN, CR: `{command}`.\n" in tables["disan_table_5.md"]
    for name, table in TABLES.items():
        assert f"](../deviations.md#{table.paper.lower()})" in tables[f"{name}.md"]
        for run in table.remaining:
            assert f"- {run.hours} hours: `{run.run}`.\n" in tables[f"{name}.md"]


def test_a_run_stands_beside_the_paper(recorded):
    run = recorded(config_of("snli"))
    run["train"] = {"accuracy": 0.75}
    tables = _tables(run)
    row = "| 2.35m | 1,000 | 587 | 50.00 | 91.08 | 75.00 | 85.62 | 47.50 | 49.00 |"
    assert f"| DiSAN | mine | seed 3 {SEEN} {row}" in tables["disan_table_1.md"]
    line = _line(tables["disan_table_1.csv"])
    assert (line["test, paper"], line["test, ours"]) == ("85.62", "47.50")
    assert line["test, best score of the curve (optimistic)"] == "49.00"
    assert line["command"] == "python run.py --config=configs/disan_sst.py"


def test_a_series_has_its_deviation_in_parentheses(recorded):
    tables = _tables(recorded(config_of("trec", classes=6), (0.4, 0.5, 0.6)))
    assert "| 94.2 (0.1) | 50.0 (10.0) | 53.0 (6.1) |" in tables["disan_table_5.md"]
    line = _line(tables["disan_table_5.csv"])
    assert (line["test, ours"], line["test, ours, standard deviation"]) == ("50.0", "10.0")


def test_relatedness_has_three_scores(recorded):
    run = recorded(config_of("sick"))
    del run["best_on_test"]
    run["dev"] = run["test"] = {"pearson": 0.8661, "spearman": 0.8112, "mse": 0.3303}
    text = _tables(run)["disan_table_4.md"]
    assert "| .8695 (.0012) | 0.8661 | .8139 (.0012) | 0.8112 | .2879 (.0036) | 0.3303 |" in text


def test_runs_with_other_vectors_stand_apart(recorded):
    wide = recorded(config_of("snli"))
    narrow = recorded(config_of("snli", "additive", embedding_dim=100), (0.4, 0.5, 0.6))
    text = render_tables(Records({"wide": wide, "narrow": narrow}))["disan_table_1.md"]
    narrow, wide = text.partition("## With glove/some.txt, 300 dimensions\n")[::2]
    assert "## With glove/some.txt, 100 dimensions\n" in narrow
    assert "additive attention | narrow |" in narrow and "| wide |" not in narrow
    table, _, remarks = wide.partition("![")
    assert "| DiSAN | wide |" in table and "| narrow |" not in table
    assert "| not run |" in narrow and "| not run |" not in table
    assert ", [narrow](" in remarks and ", [wide](" in remarks


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
    predictions = {"a_single": [_predictions_of(0.9)], "single": [_predictions_of(0.9)]}
    predictions.update(
        lstm=[_predictions_of(0.3)], series=[_predictions_of(0.4), _predictions_of(0.5)]
    )
    return Records(results, predictions)


def _differences(records):
    column = "test, difference to DiSAN (95 % interval)"
    lines = _lines(render_tables(records)["disan_table_2.csv"])
    return {line["run"]: line[column] for line in lines if line["run"] in records.results}


def test_a_run_is_compared_with_the_main_models_run_of_most_members(records):
    found = difference(records.predictions["lstm"], records.predictions["series"], "accuracy")
    low, high = (f"{100 * bound:+.2f}" for bound in found[1:])
    shown = _differences(records)
    assert shown.pop("lstm") == f"-15.00 ({low} to {high}; one seed: examples only)"
    assert {*shown.values()} == {""}


@pytest.mark.parametrize(("part", "option"), [("data", "level"), ("train", "examples")])
def test_runs_on_other_data_are_not_compared(records, part, option):
    records.results["lstm"]["config"][part][option] = 10
    assert _differences(records)["lstm"] == "no run of DiSAN on these data"


def test_a_difference_without_predictions_says_so(records):
    assert _differences(Records(records.results))["lstm"] == "no predictions recorded"
    assert "difference" not in _tables(records.results["single"])["disan_table_5.md"]


# ReSAN


def _config(variant="", name="resan_snli"):
    """A config of 30 steps, as `runs.finished` has it."""
    config = load_config(name, variant)
    config.train.steps = 30
    return config.to_dict()


def test_resan_stands_in_tables_1_2_and_4_with_the_tokens_it_selects(tmp_path):
    run = summarise(write_selections(write_run(tmp_path, _config()), 0.4), {})
    tables = _tables(run)
    names = [name for name, text in tables.items() if name.endswith(".md") and "| mine |" in text]
    assert names == ["resan_table_1.md", "resan_table_2.md", "resan_table_4.md"]
    text = tables["resan_table_1.md"]
    assert text.startswith("# Table 1 of the ReSAN paper: SNLI\n")
    row = "| 3.1m | 1,000 | 622 | 5.5 | 50.00 | 92.6 | 86.3 | 47.50 | 49.00 | 0.40 | 0.20 |"
    assert f"| ReSAN | mine | seed 1 {SEEN} {row}" in text
    assert "| selected heads | selected dependents |\n" in text


def test_a_series_has_the_mean_of_what_its_members_selected(tmp_path):
    write_series(tmp_path, _config(name="resan_sick"))
    for seed, heads in enumerate((0.25, 0.5, 0.75), start=1):
        write_selections(tmp_path / f"seed-{seed}", heads)
    tables = _tables(summarise(tmp_path, {}))
    assert tables["resan_table_3.md"].count(" | 0.50 (0.25) | 0.25 (0.12) |\n") == 1
    line = _line(tables["resan_table_3.csv"])
    assert line["selected heads"] == "0.50" and line["Pearson's r, paper"] == ".8720 (.0014)"
    assert line["selected dependents, standard deviation"] == "0.12"


def test_shares_that_no_evaluation_recorded_say_so_and_soft_attention_has_none(recorded):
    line = _line(_tables(recorded(_config(name="resan_sick")))["resan_table_3.csv"])
    assert line["selected heads"] == line["selected dependents"] == "not recorded"
    tables = _tables(recorded(_config("bi_gru")))
    assert "| Bi-GRU | mine |" in tables["resan_table_1.md"]
    assert "selected" not in tables["resan_table_1.md"]
    assert "selected" not in tables["disan_table_1.csv"]
