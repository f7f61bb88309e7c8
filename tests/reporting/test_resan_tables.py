"""The ReSAN paper's tables with ours beside them."""

import csv
import io

import pytest

from configs.papers.resan import RESAN_VARIANTS
from disan_tf.reporting.paper_tables import render_tables
from disan_tf.reporting.papers import TABLES, paper_figures
from disan_tf.reporting.report import summarise
from tests.support.runs.finished import write_run, write_selections, write_series
from tests.support.runs.training import load_config

# Variant -> figures on SNLI (test accuracy) and SICK (Pearson's r); others stand in no table.
FIGURES = {
    "": ("86.3", ".8720"),
    "without_unselected": ("86.1", ""),
    "without_dependency_restricted": ("85.6", ""),
    "without_hard_attention": ("86.0", ".8695"),  # on SICK there is no highway layer: DiSAN
    "without_soft_attention": ("83.4", ""),
    "without_attention": ("83.1", ""),
    "iterative": ("86.2", ""),
    "bi_lstm": ("85.0", ".8473"),
    "bi_gru": ("84.9", ".8572"),
    "multi_window_cnn": ("83.2", ".8374"),
    "hierarchical_cnn": ("83.9", ".8436"),
    "multi_head": ("84.2", ".8521"),
    "disan": ("85.6", ".8695"),
}
NONE = ("official", "paper_reward", "tiny")


def _config(variant="", name="resan_snli", **data):
    """A config of 30 steps, as `runs.finished` has it."""
    config = load_config(name, variant)
    config.train.steps = 30
    config.data.update(data)
    return config.to_dict()


def _run(folder, variant="", name="resan_snli"):
    """The recorded result of a run that selected 40 % of the heads and 20 % of the dependents."""
    return summarise(write_selections(write_run(folder, _config(variant, name)), 0.4), {})


def _cells(text, model):
    """Column -> cell of a model's line in a CSV file."""
    (line,) = (line for line in csv.DictReader(io.StringIO(text)) if line["model"] == model)
    return line


def test_every_variant_of_the_configs_is_tested():
    assert {*FIGURES, *NONE, "glove_100d"} == {"", "official", *RESAN_VARIANTS}


@pytest.mark.parametrize("variant", FIGURES)
def test_a_variant_has_the_figures_of_the_paper(variant):
    snli, sick = FIGURES[variant]
    assert paper_figures(_config(variant)) == snli
    assert paper_figures(_config(variant, "resan_sick")).split(" (")[0] == sick


@pytest.mark.parametrize("name", ["resan_snli", "resan_sick"])
@pytest.mark.parametrize("variant", NONE)
def test_other_variants_stand_in_no_table(name, variant):
    assert paper_figures(_config(variant, name)) == ""


@pytest.mark.parametrize("table", ["resan_table_1", "resan_table_4"])
def test_another_number_of_dimensions_is_another_model(table):
    config = _config(embedding_dim=50)
    assert not any(row.matches(config) for row in TABLES[table].rows)


def test_disan_of_one_paper_is_not_that_of_the_other():
    assert paper_figures(load_config("disan_snli").to_dict()) == "85.62"
    assert paper_figures(_config("disan")) == "85.6"


@pytest.mark.parametrize(
    "option, value", [("directions", ["diagonal", "diagonal"]), ("activation", "tanh")]
)
def test_another_encoder_stands_in_no_table(option, value):
    config = _config("disan")
    config["encoder"][option] = value
    assert paper_figures(config) == ""


def test_elu_stands_where_relu_does():
    config = _config("", "resan_sick")
    config["encoder"]["activation"] = "elu"
    assert paper_figures(config).startswith(".8720")


def test_resan_stands_in_tables_1_2_and_4(tmp_path):
    tables = render_tables({"mine": _run(tmp_path)})
    names = [name for name, text in tables.items() if name.endswith(".md") and "| mine |" in text]
    assert names == ["resan_table_1.md", "resan_table_2.md", "resan_table_4.md"]


def test_a_run_stands_beside_the_paper(tmp_path):
    text = render_tables({"mine": _run(tmp_path)})["resan_table_1.md"]
    assert text.startswith("# Table 1 of the ReSAN paper: SNLI\n")
    row = "| 3.1m | 1,000 | 622 | 5.5 | 50.00 | 92.6 | 86.3 | 47.50 | 49.00 | 0.40 | 0.20 |"
    seen = "| 900 of 8,544 trees (10.5 %) | 68.3 %"
    assert f"| ReSAN | mine | seed 1 {seen} {row}" in text
    assert "| selected heads | selected dependents |\n" in text


def test_sampling_one_after_another_stands_beside_sampling_in_parallel(tmp_path):
    text = render_tables({"mine": _run(tmp_path, "iterative")})["resan_table_4.md"]
    assert "| ReSAN w/ RSS | not run |" in text
    assert "| 4.0m | 1,000 | 2996 |" in text and "| ReSAN w/ Iteration | mine |" in text


def test_a_series_has_the_mean_of_what_its_members_selected(tmp_path):
    write_series(tmp_path, _config(name="resan_sick"))
    for seed, heads in enumerate((0.25, 0.5, 0.75), start=1):
        write_selections(tmp_path / f"seed-{seed}", heads)
    tables = render_tables({"mine": summarise(tmp_path, {})})
    assert tables["resan_table_3.md"].count(" | 0.50 (0.25) | 0.25 (0.12) |\n") == 1
    cells = _cells(tables["resan_table_3.csv"], "ReSAN")
    assert cells["selected heads"] == "0.50" and cells["Pearson's r, paper"] == ".8720 (.0014)"
    assert cells["selected dependents, standard deviation"] == "0.12"


def test_shares_that_no_evaluation_recorded_say_so(tmp_path):
    run = summarise(write_run(tmp_path, _config(name="resan_sick")), {})
    cells = _cells(render_tables({"mine": run})["resan_table_3.csv"], "ReSAN")
    assert cells["selected heads"] == cells["selected dependents"] == "not recorded"


def test_a_table_without_hard_attention_shows_no_selected_tokens(tmp_path):
    run = summarise(write_run(tmp_path, _config("bi_gru")), {})
    tables = render_tables({"mine": run})
    assert "| Bi-GRU | mine |" in tables["resan_table_1.md"]
    assert "selected" not in tables["resan_table_1.md"]
    assert "selected" not in tables["disan_table_1.csv"]
