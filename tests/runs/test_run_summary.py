"""What a work directory tells of its training."""

import json
from dataclasses import replace

import pytest

from disan_tf.common.errors import UserError
from disan_tf.runs.run_summary import is_finished, summarise_run
from disan_tf.runs.schedule import Schedule
from disan_tf.runs.series_summary import summarise_series
from tests.support.runs.finished import MACHINE, choose_by_macro_f1, config_of, write, write_run

SCHEDULE = Schedule(100, evaluate_every=10, checkpoint_every=5, log_every=5, patience=3)


@pytest.fixture
def workdir(tmp_path):
    return write_run(tmp_path / "run", config_of())


@pytest.mark.parametrize(
    "step, best_step, over",
    [
        *((100, 90, True), (60, 30, True), (60, 40, False), (0, 0, False)),
        *((68, 38, False), (70, 38, True)),  # no evaluation after 68 steps
    ],
)
def test_a_training_is_over_at_its_last_step_or_without_patience(step, best_step, over):
    assert SCHEDULE.is_over(step, best_step) == over


def test_steps_times_and_curves_of_a_run(workdir):
    run = summarise_run(workdir)
    assert (run["steps"], run["epochs"], run["minutes"]) == (30, 1.5, 3.0)
    assert (run["best_step"], run["best_epoch"], run["minutes_to_best"]) == (20, 1.0, 2.0)
    assert run["dev_curve"] == [[10, 0.25], [20, 0.5], [30, 0.375]]
    assert run["command"].startswith("python run.py") and run["data"]["training_read"] == 1000


def test_the_machine_of_a_run_is_known_unless_the_run_is_older(workdir):
    assert "machine" not in summarise_run(workdir)
    described = json.loads((workdir / "run.json").read_text())
    write(workdir / "run.json", {**described, "machine": MACHINE})
    assert summarise_run(workdir)["machine"] == MACHINE
    write(workdir / "run.json", {**described, "machine": {**MACHINE, "threads": "two"}})
    with pytest.raises(UserError, match="machine.threads"):
        summarise_run(workdir)


def test_the_seconds_of_an_epoch_leave_evaluations_out(workdir):
    assert summarise_run(workdir)["seconds_per_epoch"] == round((50 + 50) / 1.5, 1)


def test_the_best_of_a_watched_curve_stands_apart(workdir):
    run = summarise_run(workdir)
    assert run["best_on_test"] == {"step": 10, "accuracy": 0.49}
    assert run["test_curve"] == [[10, 0.49], [20, 0.475]]
    assert run["test"]["accuracy"] == 0.475


def test_the_criterion_of_the_config_makes_the_curves_and_the_best(workdir):
    choose_by_macro_f1(workdir)
    run = summarise_run(workdir)
    assert run["dev_curve"] == [[10, 0.75], [20, 0.5], [30, 0.625]]
    assert run["best_on_test"] == {"step": 20, "accuracy": 0.475, "macro_f1": 0.525}
    log = workdir / "metrics.jsonl"
    log.write_text(log.read_text().replace('"macro_f1"', '"micro_f1"'))
    with pytest.raises(UserError, match="macro_f1 is missing; train"):
        summarise_run(workdir)


def test_the_fractions_selected_before_each_evaluation_are_a_curve(workdir):
    assert "selection_curve" not in summarise_run(workdir)
    lines = []
    for line in (workdir / "metrics.jsonl").read_text().splitlines():
        record = json.loads(line)
        if record["split"] == "train":
            record |= {"head_fraction": record["step"] / 128, "dependent_fraction": 0.5}
            lines.append(json.dumps({**record, "step": record["step"] - 5}) + "\n")
        lines.append(json.dumps(record) + "\n")
    (workdir / "metrics.jsonl").write_text("".join(lines))
    assert summarise_run(workdir)["selection_curve"] == [[10, 0.0781, 0.5], [30, 0.2344, 0.5]]


@pytest.mark.parametrize("other", [{"step": 10}, {"step": 20, "temperature": 2.0}])
def test_scores_of_another_model_are_not_those_of_the_best_model(other, workdir):
    write(workdir / "evaluation" / "test.json", {"accuracy": 0.75, **other})
    with pytest.raises(UserError, match="no scores of its best model on test"):
        summarise_run(workdir)


def test_a_run_whose_log_lacks_the_best_step_is_refused(workdir):
    log = workdir / "metrics.jsonl"
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:2]))
    with pytest.raises(UserError, match=r"metrics\.jsonl lacks the step of the best model; train"):
        summarise_run(workdir)


def test_a_measurement_without_a_score_is_refused(workdir):
    log = workdir / "metrics.jsonl"
    log.write_text(log.read_text().replace('"accuracy": 0.25', '"accuracy": "x"'))
    with pytest.raises(UserError, match=r"metrics\.jsonl: accuracy must be a number; train"):
        summarise_run(workdir)


@pytest.mark.parametrize(
    "section, wrong",
    [({"train": "x"}, "train must be an object"), ({"seed": "1"}, "seed must be a whole number")],
)
def test_a_config_with_a_wrong_type_is_refused(workdir, section, wrong):
    path = workdir / "config.json"
    write(path, {**json.loads(path.read_text()), **section})
    with pytest.raises(UserError, match=rf"config\.json: {wrong}; choose another --workdir"):
        summarise_run(workdir)


def test_a_run_is_finished_at_its_last_step_with_all_scores(workdir):
    schedule = Schedule.of_file("config.json", config_of()["train"])
    assert is_finished(workdir, schedule)
    assert not is_finished(workdir, replace(schedule, steps=40))


def test_a_corpus_without_test_needs_no_scores_on_it(workdir):
    path = workdir / "run.json"
    run = json.loads(path.read_text())
    del run["data"]["splits"]["test"]
    write(path, run)
    (workdir / "evaluation" / "test.json").unlink()
    folder = workdir.rename(workdir.with_name("seed-3"))
    write(folder.parent / "config.json", json.loads((folder / "config.json").read_text()))
    assert summarise_series(folder.parent)["mean"].keys() == {"dev", "best_on_test"}


@pytest.mark.parametrize("name", ["run.json", "best/model.json", "evaluation/dev.json"])
def test_a_run_that_lacks_a_file_is_not_finished(workdir, name):
    (workdir / name).unlink()
    assert not is_finished(workdir, Schedule.of_file("config.json", config_of()["train"]))
