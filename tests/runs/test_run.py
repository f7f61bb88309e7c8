"""disan_tf/runs/run.py: runs as they are read, evaluated or not."""

import io
import json
import zipfile

import numpy as np
import pytest

from disan_tf.runs import run as runs
from disan_tf.runs.run import find_runs, read_run
from disan_tf.runs.series_summary import summarise_series
from tests.support.errors import user_error
from tests.support.runs.finished import config_of, write_run, write_series


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
    labels = np.array([0, 1, 1, 0], np.uint8)
    np.savez(folder / "evaluation/test.npz", predictions=labels, labels=labels, step=step)
    assert ("test" in read_run(str(folder)).members[0].predictions) == found


def test_a_run_that_was_never_evaluated_is_refused(tmp_path):
    folder = write_run(tmp_path / "run", config_of())
    (folder / "best" / "model.json").unlink()
    assert "never evaluated" in user_error(read_run, str(folder))


def test_a_series_has_a_member_for_each_evaluated_training(tmp_path):
    folder = write_series(tmp_path / "run", config_of(), tests=(0.4, 0.5, 0.6))
    assert read_run(str(folder)).values("test", "accuracy") == [0.4, 0.5, 0.6]
    (folder / "seed-2" / "best" / "model.json").unlink()
    assert read_run(str(folder)).values("test", "accuracy") == [0.4, 0.6]
    (folder / "series.json").unlink()  # which the first finished member writes
    assert read_run(str(folder)).values("test", "accuracy") == [0.4, 0.6]


def test_members_with_another_number_of_steps_do_not_count(tmp_path):
    folder = write_series(tmp_path / "run", config_of(), tests=(0.4, 0.5, 0.6))
    path = folder / "seed-2" / "config.json"
    path.write_text(path.read_text().replace('"steps": 30', '"steps": 20'))
    assert read_run(str(folder)).values("test", "accuracy") == [0.4, 0.6]
    assert [member["seed"] for member in summarise_series(folder)["members"]] == [1, 3]


def _archive(member: bytes, flag=0) -> bytes:
    """A zip archive with one array; `flag` is set in the archive's record of it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("step.npy", member)
        archive.infolist()[0].flag_bits |= flag
    return file.getvalue()


def _array(header: str) -> bytes:
    return b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header.encode()


def test_predictions_that_expand_too_much_are_not_read(tmp_path, monkeypatch):
    folder = write_run(tmp_path / "run", config_of())
    zeros = np.zeros(5000, np.uint8)
    np.savez_compressed(folder / "evaluation/test.npz", predictions=zeros, labels=zeros, step=20)
    assert len(read_run(str(folder)).members[0].predictions["test"].labels) == 5000
    monkeypatch.setattr(runs, "LARGEST_ARRAYS", 10_000)
    assert "test.npz is damaged (it expands to 10," in user_error(read_run, str(folder))


_HEADER = "{'descr': '<f8', 'fortran_order': False, 'shape': (SHAPE)}"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(_archive(_array(_HEADER), flag=1), id="encrypted"),
        pytest.param(_archive(_array(_HEADER[:-1])), id="no literal"),
        pytest.param(_archive(_array(_HEADER.replace("SHAPE", "10**15,"))), id="no number"),
        pytest.param(_archive(_array(_HEADER.replace("SHAPE", f"{10**15},"))), id="no memory"),
        pytest.param(_array(_HEADER.replace("SHAPE", "")) + bytes(8), id="no archive"),
    ],
)
def test_damaged_predictions_are_refused(content, tmp_path):
    folder = write_run(tmp_path / "run", config_of())
    (folder / "evaluation/test.npz").write_bytes(content)
    assert "test.npz is damaged (" in user_error(read_run, str(folder))


def test_predictions_of_an_infinite_step_are_refused(tmp_path):
    folder = write_run(tmp_path / "run", config_of())
    labels = np.zeros(3, np.uint8)
    np.savez(folder / "evaluation/test.npz", predictions=labels, labels=labels, step=np.inf)
    assert "test.npz is damaged (" in user_error(read_run, str(folder))


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


def test_runs_and_series_are_found_and_what_is_inside_them_is_not(tmp_path):
    plain = write_run(tmp_path / "runs" / "plain", config_of())
    series = write_series(tmp_path / "runs" / "later" / "series", config_of())
    assert list(find_runs(tmp_path / "runs")) == [series, plain]
    assert list(find_runs(plain / "best")) == []
