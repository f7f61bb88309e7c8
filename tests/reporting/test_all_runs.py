"""The table of all recorded runs, with hours and machines."""

from disan_tf.reporting.all_runs import results_table
from disan_tf.reporting.report import summarise
from disan_tf.reporting.result_files import read_results
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
