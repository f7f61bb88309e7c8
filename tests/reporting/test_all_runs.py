"""The table of all recorded runs, with hours and machines."""

import pytest

from disan_tf.reporting.all_runs import results_table
from disan_tf.reporting.report import summarise
from disan_tf.reporting.result_files import read_results
from disan_tf.reporting.results import describe_examples
from tests.support.runs.finished import MACHINE, config_of, write, write_run, write_series


def _row(results, start):
    text = results_table(results)["results.md"]
    (line,) = (line for line in text.splitlines() if line.startswith(f"| {start}"))
    return line.strip("| ").split(" | ")


def test_a_series_counts_the_hours_of_all_members(tmp_path):
    series = summarise(write_series(tmp_path / "series", config_of()), {})
    single = summarise(write_run(tmp_path / "single", config_of()), {})
    results = {"series": series, "single": single}
    assert _row(results, "series (seeds 1, 2, 3)")[-2:] == ["0.1", "not recorded"]  # 9 minutes
    assert "In all 2 runs, 4 trainings, 0.2 hours." in results_table(results)["results.md"]


def test_recorded_machines_stand_beside_trainings_without_one(tmp_path):
    folder = write_series(tmp_path / "series", config_of())
    for seed, machine in ((1, MACHINE), (2, {**MACHINE, "gpu": "none"})):
        write_run(folder / f"seed-{seed}", config_of(seed=seed), machine=machine)
    machines = _row({"series": summarise(folder, {})}, "series")[-1]
    assert machines == "Some CPU, 2 of 4: 2 trainings; not recorded: 1 training"


def test_a_gpu_stands_beside_its_processor(tmp_path):
    machine = {**MACHINE, "gpu": "Some GPU"}
    run = summarise(write_run(tmp_path, config_of(), machine=machine), {})
    assert _row({"run": run}, "run (")[-1] == "Some GPU beside Some CPU, 2 of 4"


def test_results_with_and_without_a_machine_are_read(tmp_path):
    known = summarise(write_run(tmp_path / "known", config_of(), machine=MACHINE), {})
    write(tmp_path / "results" / "known.json", known)
    older = summarise(write_run(tmp_path / "older", config_of()), {})
    write(tmp_path / "results" / "older.json", older)
    results = read_results(tmp_path / "results")
    assert results["known"]["machine"] == MACHINE and "machine" not in results["older"]


SEEN = "900 of 8,544 trees (10.5 %)"


def _table(run):
    return results_table({"mine": run})["results.md"]


def test_a_run_has_a_line(tmp_path):
    run = summarise(write_run(tmp_path, config_of()), {})
    line = f"| mine (seed 3) | {SEEN} | 68.3 % | 1,000 | 1.0 | 2 | 50.00 | 47.50 | 51.72 | 0.1 |"
    assert line in _table(run)


@pytest.mark.parametrize(
    "drawn, kept, trained",
    [(0, 900, "900"), (400, 900, "400"), (950, 900, "900"), (0, 15_000, "1,000")],
    ids=["all", "a draw", "more than there are", "phrases of the trees"],
)
def test_the_training_examples_are_those_that_were_trained_on(drawn, kept, trained):
    data = {"training_examples": kept, "training_read": 1000, "unit": "trees"}
    data["official_training_examples"] = 2000
    run = {"config": {"train": {"examples": drawn}}, "data": data}
    assert describe_examples(run).startswith(f"{trained} of 2,000 trees (")


def test_a_series_shows_its_mean_and_deviation(tmp_path):
    run = summarise(write_series(tmp_path, config_of()), {})
    assert "| mine (seeds 1, 2, 3) |" in _table(run)
    assert "| 50.00 (0.00) | 50.00 (10.00) | 51.72 |" in _table(run)


def test_relatedness_shows_pearsons_r_alone(tmp_path):
    run = summarise(write_run(tmp_path, config_of("sick")), {})
    scores = {"pearson": 0.86604, "spearman": 0.811, "mse": 0.33}
    text = _table({**run, "dev": scores, "test": scores})
    assert "| r 0.8660 | r 0.8660 | r .8695 (.0012) |" in text
    assert "0.811" not in text and ".2879" not in text


def test_a_loss_never_stands_beside_the_papers_accuracy(tmp_path):
    config = config_of("snli", encoder="drcn")
    config["name"] = "drcn_snli"
    paper = {"recurrence": "rnn", "aggregation": "words", "own_parameters": False}
    config["encoder"].update(paper, functions="Cs", bottleneck_units=0)
    config["task"] = {"hypothesis_only": False}
    run = summarise(write_run(tmp_path, config), {})
    assert run["paper"] == "0.574 / 77.46"
    assert "| 47.50 | 77.46 |" in _table(run)


def test_a_language_model_shows_its_perplexity(tmp_path):
    run = summarise(write_run(tmp_path, config_of("text")), {})
    scores = {"log_likelihood": -4.5, "perplexity": 90.017, "forward_perplexity": 91.0}
    text = _table({**run, "dev": scores, "test": scores})
    assert "| perplexity 90.02 | perplexity 90.02 |  |" in text


@pytest.mark.parametrize(
    "folds, shown", [([0, 1, 2], "seed 1, 3 folds"), ([0, 2], "seed 1, folds 0, 2 of 3")]
)
def test_folds_are_counted(tmp_path, folds, shown):
    run = summarise(write_series(tmp_path, config_of("cr", folds=3, fold=0)), {})
    run["members"] = [{"seed": 1, "fold": fold, "minutes": 1.0} for fold in folds]
    assert f"| mine ({shown}) |" in _table(run)


def test_the_share_of_the_data_counts_a_draw_and_the_lack_of_vectors(tmp_path):
    config = config_of(vectors="")
    config["train"]["examples"] = 200
    text = _table(summarise(write_run(tmp_path, config), {}))
    assert "| 200 of 8,544 trees (2.34 %) | no vectors |" in text


def test_a_corpus_without_official_counts_and_vectors_has_no_shares(tmp_path):
    run = summarise(write_run(tmp_path, config_of()), {})
    lacks = {"official_training_examples": None, "training_tokens_covered": None}
    text = _table({**run, "data": {**run["data"], **lacks}})
    assert "| not recorded | not recorded |" in text
