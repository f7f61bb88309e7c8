"""study/own_runs.py: runs as they are read, evaluated or not, from folders or results."""

import json

import numpy as np
import pytest

from disan_tf.study.own_runs import read_run
from disan_tf.study.report import record
from tests.support.errors import user_error
from tests.support.runs.finished import config_of, write_run, write_series


def _write_predictions(workdir, step=20):
    labels = np.array([0, 1, 1, 0], np.uint8)
    np.savez(workdir / "evaluation/test.npz", predictions=labels, labels=labels, step=step)


def test_a_run_has_its_options_scores_and_curve(tmp_path):
    folder = write_run(tmp_path / "run", config_of(classes=2), dev=0.5, test=0.475)
    run = read_run(str(folder))
    assert run.config["data.classes"] == 2 and run.criterion == "accuracy"
    assert (run.values("dev", "accuracy"), run.values("test", "accuracy")) == ([0.5], [0.475])
    assert run.members[0].curve == [(0.5, 0.25), (1.0, 0.5), (1.5, 0.375)]


def test_a_run_that_no_mode_has_evaluated_has_the_dev_score_of_its_training(tmp_path):
    folder = write_run(tmp_path / "run", config_of(), dev=0.625)
    for path in (folder / "evaluation").iterdir():
        path.unlink()
    run = read_run(str(folder))
    assert run.values("dev", "accuracy") == [0.625] and run.values("test", "accuracy") == []


@pytest.mark.parametrize("step, found", [(20, True), (10, False)])
def test_predictions_count_if_they_are_the_best_models(step, found, tmp_path):
    folder = write_run(tmp_path / "run", config_of())
    _write_predictions(folder, step)
    assert ("test" in read_run(str(folder)).members[0].predictions) == found


def test_a_series_has_a_member_for_each_evaluated_training(tmp_path):
    folder = write_series(tmp_path / "run", config_of(), tests=(0.4, 0.5, 0.6))
    assert read_run(str(folder)).values("test", "accuracy") == [0.4, 0.5, 0.6]
    (folder / "seed-2" / "best" / "model.json").unlink()
    assert read_run(str(folder)).values("test", "accuracy") == [0.4, 0.6]


def test_a_recorded_result_equals_the_run_that_was_recorded(tmp_path):
    folder = write_series(tmp_path / "runs" / "mine", config_of(), tests=(0.4, 0.6))
    for seed in (1, 2):
        _write_predictions(folder / f"seed-{seed}")
    record(tmp_path / "runs", tmp_path / "out")
    own, recorded = read_run(str(folder)), read_run("mine", tmp_path / "out")
    assert recorded.config == own.config
    for mine, theirs in zip(own.members, recorded.members):
        assert (mine.best, mine.curve) == (theirs.best, theirs.curve)
        assert mine.scores["test"] == theirs.scores["test"]
        np.testing.assert_array_equal(mine.predictions["test"], theirs.predictions["test"])


def test_an_unknown_run_is_refused_with_the_nearest_and_one_that_was_never_evaluated(tmp_path):
    folder = write_run(tmp_path / "first", config_of())
    message = user_error(read_run, f"{tmp_path}/frist")
    assert message.endswith(f"nor a recorded result; did you mean {folder}?")
    (folder / "best" / "model.json").unlink()
    assert "never evaluated" in user_error(read_run, str(folder))


@pytest.mark.parametrize(
    "name, content",
    [
        ("evaluation/test.npz", b"PK\3\4"),
        ("evaluation/test.json", b'{"step": 20, "accuracy": "high"}'),
        ("metrics.jsonl", b'{"step": 20, "epoch": 1.0, "split": "dev", "seconds": 1.0}\n'),
        ("metrics.jsonl", b'{"step": 9, "epoch": 1, "split": "dev", "seconds": 1, "accuracy": 1}'),
        ("config.json", b"[]"),
    ],
)
def test_a_damaged_file_is_refused(name, content, tmp_path):
    folder = write_run(tmp_path / "run", config_of())
    (folder / name).write_bytes(content)
    assert str(folder) in user_error(read_run, str(folder))


def test_a_language_model_has_its_likelihood_and_perplexity(tmp_path):
    folder = write_run(tmp_path / "run", config_of())
    log = (folder / "metrics.jsonl").read_text()
    (folder / "metrics.jsonl").write_text(log.replace('"accuracy"', '"log_likelihood"'))
    for split in ("dev", "test"):
        path = folder / "evaluation" / f"{split}.json"
        path.write_text(json.dumps({"step": 20, "perplexity": 70.5}))
    run = read_run(str(folder))
    assert run.criterion == "log_likelihood" and run.values("dev", "perplexity") == [70.5]
