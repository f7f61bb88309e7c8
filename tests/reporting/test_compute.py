"""Hours and machines of the trainings behind each table."""

from disan_tf.common.installation import CHECKPOINTS
from disan_tf.reporting.compute import PAGE, render_compute
from disan_tf.reporting.report import summarise
from disan_tf.reporting.result_files import read_results
from tests.support.runs.finished import MACHINE, config_of, write, write_run, write_series


def _row(text, start):
    (line,) = (line for line in text.splitlines() if line.startswith(f"| {start}"))
    return line.strip("| ").split(" | ")[1:]


def test_a_series_counts_the_hours_of_all_members(tmp_path):
    series = summarise(write_series(tmp_path / "series", config_of()), {})
    single = summarise(write_run(tmp_path / "single", config_of()), {})
    text = render_compute({"series": series, "single": single})
    unknown = ["not recorded", "not recorded"]
    assert _row(text, "[DiSAN, 2]") == ["2", "4", "0.2", *unknown]  # 4 * 3 minutes
    assert _row(text, "all runs") == ["2", "4", "0.2", *unknown]
    assert _row(text, "runs in no table") == ["0", "0", "0.0", *unknown]
    assert "[DiSAN, 1]" not in text


def test_a_run_in_two_tables_counts_once_in_all(tmp_path):
    config = {**config_of("snli", "resan"), "name": "resan_snli"}
    config["encoder"] = {"name": "resan", "activation": "relu", "unselected": "mean"}
    config["encoder"] |= {"shared": False, "sampling": "parallel"}
    text = render_compute({"one": summarise(write_run(tmp_path, config), {})})
    assert _row(text, "[ReSAN, 1]")[:2] == _row(text, "[ReSAN, 2]")[:2] == ["1", "1"]
    assert _row(text, "all runs")[:2] == ["1", "1"]


def test_recorded_machines_stand_beside_runs_without_one(tmp_path):
    folder = write_series(tmp_path / "series", config_of())
    for seed, machine in ((1, MACHINE), (2, {**MACHINE, "gpu": "none"})):
        write_run(folder / f"seed-{seed}", config_of(seed=seed), machine=machine)
    text = render_compute({"series": summarise(folder, {})})
    machines, load = _row(text, "all runs")[3:]
    assert machines == "Some CPU, 2 of 4: 2 trainings; not recorded: 1 training"
    assert load == "0.5 to 2.2"


def test_a_gpu_stands_beside_its_processor(tmp_path):
    machine = {**MACHINE, "gpu": "Some GPU"}
    run = summarise(write_run(tmp_path, config_of(), machine=machine), {})
    machines, _ = _row(render_compute({"run": run}), "all runs")[3:]
    assert machines == "Some GPU beside Some CPU, 2 of 4"


def test_results_with_and_without_a_machine_are_read(tmp_path):
    known = summarise(write_run(tmp_path / "known", config_of(), machine=MACHINE), {})
    write(tmp_path / "results" / "known.json", known)
    older = summarise(write_run(tmp_path / "older", config_of()), {})
    write(tmp_path / "results" / "older.json", older)
    results = read_results(tmp_path / "results")
    assert results["known"]["machine"] == MACHINE and "machine" not in results["older"]


def test_the_page_of_the_repository_is_that_of_its_results():
    page = (CHECKPOINTS / PAGE).read_text("utf-8")
    assert page == render_compute(read_results(CHECKPOINTS / "results"))
