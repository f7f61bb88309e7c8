"""The papers' tables with ours beside them; most tests take those of DiSAN."""

import csv
import io
from dataclasses import replace

import pytest

from disan_tf.common.installation import CHECKPOINTS
from disan_tf.reporting.all_runs import results_table
from disan_tf.reporting.benchmark_tables import benchmark_tables
from disan_tf.reporting.fine_tuning import fine_tuning_tables
from disan_tf.reporting.paper_tables import render_tables
from disan_tf.reporting.papers import TABLES, paper_figures
from disan_tf.reporting.report import summarise
from disan_tf.reporting.result_files import read_predictions, read_results, read_speeds
from disan_tf.runs.work_directory import flatten
from tests.support.runs.finished import config_of, write_run, write_series
from tests.support.runs.training import load_config

ROWS = [row for table in TABLES.values() for row in table.rows]
DISAN = TABLES["disan_table_1"].main_row
SEEN = "| 900 of 8,544 trees (10.5 %) | 68.3 %"
MODELS = sorted({(row.config, row.variant) for row in ROWS})


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.config}-{row.variant}")
def test_the_command_of_each_row_names_its_config(row):
    suffix = f":{row.variant}" if row.variant else ""
    assert row.command.startswith(f"python run.py --config=configs/{row.config}.py{suffix}")


@pytest.mark.parametrize("name, variant", MODELS)
def test_a_config_matches_the_rows_of_its_own_model_alone(name, variant):
    config = load_config(name, variant).to_dict()
    classes = config["data"].get("classes")
    for table in TABLES.values():
        own = [
            row
            for row in table.rows
            if (row.config, row.variant) == (name, variant)
            and ("data.classes" not in row.where or row.where["data.classes"] == classes)
        ]
        assert [row for row in table.rows if row.matches(config)] == own
        assert len(own) <= 1


def test_a_name_stands_for_one_model_and_its_recorded_result_is_a_run_of_it():
    results = read_results(CHECKPOINTS / "results")
    for row in ROWS:
        namesakes = [other for other in ROWS if other.name == row.name]
        assert all(replace(other, **_printed(row)) == row for other in namesakes)
        assert not row.recorded or row.recorded in row.runs(results)


def _printed(row):
    """What may differ between the lines of one model in several tables."""
    return {key: getattr(row, key) for key in ("model", "figures", "seconds", "inference")}


@pytest.mark.parametrize(
    "value, pattern, fits",
    [
        ("elu", ("relu", "elu"), True),
        ("tanh", ("relu", "elu"), False),
        (True, True, True),
        (1, 1, True),
        (8, 1, False),
        (None, "", True),
        ("glove.txt", "?*", True),
        ("", "?*", False),
        (["diagonal", "diagonal"], "diagonal, diagonal", True),
        (["forward"], ("", "forward, backward"), False),
    ],
)
def test_a_condition_has_patterns_for_an_option(value, pattern, fits):
    config = config_of("snli")
    config["encoder"]["option"] = value
    assert replace(DISAN, where={"encoder.option": pattern}).matches(config) == fits


def test_a_condition_on_an_option_that_a_config_lacks_is_one_for_nothing():
    config = config_of("snli")
    assert replace(DISAN, where={"policy.reward": ("", "product")}).matches(config)
    assert not replace(DISAN, where={"policy.reward": "product"}).matches(config)


def test_two_classes_and_five_stand_in_tables_of_their_own():
    config = load_config("dsa_sst", "self_attention").to_dict()
    assert paper_figures(config) == "50.6"
    config["data"]["classes"] = 2
    assert paper_figures(config) == "88.3"


@pytest.mark.parametrize(
    "config",
    [
        config_of("sst", classes=2),
        config_of("trec", classes=50),
        config_of("snli", embedding_dim=16),
        config_of("snli", encoder="resan"),
        config_of("imdb"),
    ],
)
def test_other_models_stand_in_no_table(config):
    assert paper_figures(config) == ""


def test_diagonal_directions_are_none():
    config = config_of()
    config["encoder"]["directions"] = ["diagonal", "diagonal"]
    assert paper_figures(config) == "49.41"


def test_train_figures_stand_only_in_the_tables():
    assert paper_figures(config_of("snli", encoder="additive")) == "79.81"


def _tables(run, name="mine"):
    return render_tables({name: run})


def _lines(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_a_row_without_a_run_says_so():
    text = render_tables({})["disan_table_5.md"]
    assert "| DiSAN, CR | not run | 84.8 (2.0) |" in text
    assert "`python run.py --config=configs/disan_cr.py --folds=all`" in text


def test_a_run_stands_beside_the_paper(tmp_path):
    run = summarise(write_run(tmp_path, config_of("snli")), {})
    run["train"] = {"accuracy": 0.75}
    tables = _tables(run)
    row = "| 2.35m | 1,000 | 587 | 50.00 | 91.08 | 75.00 | 85.62 | 47.50 | 49.00 |"
    assert f"| DiSAN | mine | seed 3 {SEEN} {row}" in tables["disan_table_1.md"]
    (line,) = (line for line in _lines(tables["disan_table_1.csv"]) if line["run"] == "mine")
    assert (line["test, paper"], line["test, ours"]) == ("85.62", "47.50")
    assert line["test, best of its own curve (optimistic)"] == "49.00"
    assert line["command"] == "python run.py --config=configs/disan_sst.py"


def test_a_series_has_its_deviation_in_parentheses(tmp_path):
    run = summarise(write_series(tmp_path, config_of("trec", classes=6)), {})
    tables = _tables(run)
    assert "| 94.2 (0.1) | 50.0 (10.0) | 53.0 (6.1) |" in tables["disan_table_5.md"]
    line = next(line for line in _lines(tables["disan_table_5.csv"]) if line["run"] == "mine")
    assert (line["test, ours"], line["test, ours, standard deviation"]) == ("50.0", "10.0")


def test_relatedness_has_three_scores(tmp_path):
    run = summarise(write_run(tmp_path, config_of("sick")), {})
    del run["best_on_test"]
    run["dev"] = run["test"] = {"pearson": 0.8661, "spearman": 0.8112, "mse": 0.3303}
    text = _tables(run)["disan_table_4.md"]
    assert "| .8695 (.0012) | 0.8661 | .8139 (.0012) | 0.8112 | .2879 (.0036) | 0.3303 |" in text


def test_two_runs_of_a_model_have_a_line_each(tmp_path):
    run = summarise(write_run(tmp_path, config_of()), {})
    text = render_tables({"one": run, "two": run})["disan_table_2.md"]
    assert "| DiSAN | one |" in text and "| DiSAN | two |" in text


def _two_kinds(tmp_path, name):
    """A run on 300 dimensions, and a series on 100 of another encoder than DiSAN's own."""
    wide = summarise(write_run(tmp_path / "wide", config_of(name)), {})
    config = config_of(name, "additive", embedding_dim=100)
    return {"wide": wide, "narrow": summarise(write_series(tmp_path / "narrow", config), {})}


def test_runs_with_other_vectors_stand_apart(tmp_path):
    text = render_tables(_two_kinds(tmp_path, "snli"))["disan_table_1.md"]
    narrow, wide = text.partition("## With glove/some.txt, 300 dimensions\n")[::2]
    assert "## With glove/some.txt, 100 dimensions\n" in narrow
    assert "additive attention | narrow |" in narrow and "| wide |" not in narrow
    table, _, remarks = wide.partition("![")
    assert "| DiSAN | wide |" in table and "| narrow |" not in table
    assert "| not run |" in narrow and "| not run |" not in table
    assert ", [narrow](" in remarks and ", [wide](" in remarks


def test_rows_that_differ_in_vectors_are_one_kind(tmp_path):
    runs = _two_kinds(tmp_path, "sst")
    table = TABLES["disan_table_2"]
    assert list(table.by_inputs(runs)) == [
        "glove/some.txt, 100 dimensions",
        "glove/some.txt, 300 dimensions",
    ]
    padded = {"padded": {"config": config_of(vector_dim=100)}}
    both = {"wide": runs["wide"], **padded}
    assert "glove/some.txt, 100 dimensions padded to 300 dimensions" in table.by_inputs(both)
    alike = replace(table, distinguishing_options=("vectors",))
    assert alike.by_inputs(runs) == {"": ["narrow", "wide"]}
    assert table.by_inputs({}) == {"": []}


def test_runs_on_a_subset_stand_apart(tmp_path):
    whole = summarise(write_run(tmp_path / "whole", config_of("snli")), {})
    part = summarise(write_run(tmp_path / "part", config_of("snli", subset="some_pairs")), {})
    runs = {"whole": whole, "part": part}
    table = TABLES["disan_table_1"]
    assert table.by_inputs(runs) == {
        "glove/some.txt, 300 dimensions": ["whole"],
        "glove/some.txt, 300 dimensions, subset some_pairs": ["part"],
    }
    alike = replace(table, distinguishing_options=("vectors",))
    assert alike.by_inputs(runs) == {"": ["whole"], "subset some_pairs": ["part"]}


def test_the_note_of_a_run_stands_beside_its_command(tmp_path):
    (tmp_path / "note.txt").write_text("Few\nvectors.\n")
    text = _tables(summarise(write_run(tmp_path, config_of()), {}))["disan_table_2.md"]
    assert "- DiSAN, [mine](../results/mine.json): Few vectors.\n" in text


def test_a_remark_has_the_row_that_reproduces_the_run_and_two_lines_at_most(tmp_path):
    (tmp_path / "note.txt").write_text(f"{'Some vectors are missing. ' * 20}\n")
    run = summarise(write_run(tmp_path, config_of()), {})
    tables = _tables(run, "disan_sst_glove_100d")
    (remark,) = (line for line in tables["disan_table_2.md"].splitlines() if line[:8] == "- DiSAN,")
    assert "_100d.json): `--mode=reproduce --row=disan/sst`. Some vectors are missing." in remark
    assert remark.endswith(" ...") and len(remark.partition("`. ")[2]) <= 160
    (line,) = (
        line for line in _lines(tables["disan_table_2.csv"]) if line["run"].startswith("disan")
    )
    assert line["row"] == "disan/sst" and len(line["note"]) > 500


def test_a_line_tells_how_many_examples_were_drawn(tmp_path):
    config = config_of()
    config["train"]["examples"] = 200
    tables = _tables(summarise(write_run(tmp_path, config), {}))
    assert "| 200 of 8,544 trees (2.34 %) |" in tables["disan_table_2.md"]
    line = next(line for line in _lines(tables["disan_table_2.csv"]) if line["run"] == "mine")
    assert line["training examples"] == "200 of 8,544 trees (2.34 %)"


REMAINING = [(table.name, run) for table in TABLES.values() for run in table.remaining]


@pytest.mark.parametrize("name, run", REMAINING)
def test_a_remaining_run_is_possible_and_shown_below_its_table(name, run):
    assert f"- {run.hours} hours: `{run.run}`.\n" in render_tables({})[f"{name}.md"]
    config, *flags = run.run.split()
    options = flatten(load_config(*config.removeprefix("--config=").split(":")).to_dict())
    for flag in flags:
        option, _, value = flag.partition("=")
        assert option == "--seeds" or option.removeprefix("--config.") in options
        assert value and 0 < run.hours < 24


def test_accuracy_by_length_is_the_mean_over_a_series(tmp_path):
    run = summarise(write_series(tmp_path, config_of()), {})
    (line,) = _lines(_tables(run)["disan_figure_5.csv"])
    assert line == {
        "run": "mine",
        "tokens": "1-4",
        "sentences": "4.0",
        "accuracy, %": "50.00",
        "standard deviation, %": "0.00",
    }


def test_figures_without_data_have_no_file():
    assert not any("figure" in name for name in render_tables({}))


def test_times_of_encoders_on_the_papers_vectors_stand_beside_no_narrower_ones(tmp_path):
    speeds = {"source2token": {"epoch_seconds": 137.0}}
    column = "seconds an epoch of the whole corpus, ours"
    runs = {
        str(dim): summarise(
            write_run(tmp_path / str(dim), config_of("snli", "source2token", embedding_dim=dim)), {}
        )
        for dim in (100, 300)
    }
    lines = _lines(render_tables(runs, speeds=speeds)["disan_table_1.csv"])
    shown = {line["run"]: line[column] for line in lines if line["run"] in runs}
    assert shown == {"100": "", "300": "137"}


def test_an_empty_cell_of_a_recorded_run_says_why(tmp_path):
    run = summarise(write_run(tmp_path, config_of("snli")), {})
    evaluated = {**run, "train": {"accuracy": 0.75}}
    plain = {key: value for key, value in run.items() if key != "best_on_test"}
    speeds = {"disan": {"epoch_seconds": 137.0}}
    narrow = {**plain, "config": {**run["config"], "data": {**run["config"]["data"]}}}
    narrow["config"]["data"]["embedding_dim"] = 100
    runs = {"evaluated": evaluated, "plain": plain, "narrow": narrow}
    text = render_tables(runs, speeds=speeds)["disan_table_1.md"]
    row = "| 2.35m | 1,000 | 587 | 137 | 50.00 | 91.08 | not evaluated | 85.62 | 47.50 |"
    assert f"| DiSAN | plain | seed 3 {SEEN} {row} not watched |" in text
    assert "137 | 50.00 | 91.08 | 75.00 | 85.62 | 47.50 | 49.00 |" in text
    assert not any("not evaluated" in line for line in text.splitlines() if "not run" in line)
    lines = _lines(render_tables(runs)["disan_table_1.csv"])
    assert {line["train, ours"] for line in lines if line["run"] == "plain"} == {""}


def test_a_difference_that_cannot_be_computed_says_why(tmp_path):
    main = summarise(write_run(tmp_path / "main", config_of("snli")), {})
    other = summarise(write_run(tmp_path / "other", config_of("snli", "additive")), {})
    column = "test, difference to DiSAN (95 % interval)"

    def difference(runs):
        lines = _lines(render_tables(runs)["disan_table_1.csv"])
        return {line["run"]: line[column] for line in lines if line["run"] in runs}

    assert difference({"main": main, "other": other}) == {
        "main": "",
        "other": "no predictions recorded",
    }
    assert difference({"other": other}) == {"other": "no run of DiSAN on these data"}


def test_one_model_on_several_corpora_has_no_difference(tmp_path):
    runs = {
        name: summarise(write_run(tmp_path / name, config_of(name, folds=10)), {})
        for name in ("cr", "mpqa")
    }
    assert "difference" not in render_tables(runs)["disan_table_5.md"]


def test_every_table_links_to_the_deviations_of_its_paper():
    texts = render_tables({})
    for name in TABLES:
        paper = TABLES[name].paper.lower()
        assert f"](../deviations.md#{paper})" in texts[f"{name}.md"]
    assert "](../deviations.md#elmo-disan)" in texts["elmo_disan_tables_2_3.md"]
    assert "of sampled selections" in texts["resan_table_3.md"]
    assert "917 of its 9,832 pairs" in texts["disan_table_3.md"]


def test_table_3_is_in_per_cent(tmp_path):
    run = summarise(write_run(tmp_path, config_of("multinli")), {})
    assert run["paper"] == "70.977 / 71.402"
    assert "| 50.000 | 70.977 | 47.500 |" in _tables(run)["disan_table_3.md"]


def test_the_tables_of_the_repository_are_those_of_its_results():
    tables = {path.name: path.read_text("utf-8") for path in (CHECKPOINTS / "tables").iterdir()}
    results = read_results(CHECKPOINTS / "results")
    predictions = read_predictions(CHECKPOINTS / "predictions")
    made = {
        **render_tables(results, predictions, read_speeds(CHECKPOINTS / "benchmarks")),
        **fine_tuning_tables(CHECKPOINTS),
        **results_table(results),
        **benchmark_tables(CHECKPOINTS / "benchmarks"),
    }
    assert tables == made
