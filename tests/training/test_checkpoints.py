"""disan_tf/training/checkpoints.py: which checkpoint a training goes on from."""

import pytest
import tensorflow as tf

from disan_tf.common.errors import UserError
from disan_tf.training import checkpoints
from disan_tf.training.checkpoints import TrainingState


@pytest.fixture
def directory(tmp_path):
    """Checkpoints of the steps 2 and 10; the weight is the step."""
    model, state = _open(tmp_path)
    for step in (1, 2, 10):
        model.weight.assign(step)
        state.step.assign(step)
        state.save()
    return tmp_path


def _open(directory):
    model = tf.Module()
    model.weight = tf.Variable(0.0)
    return model, TrainingState(directory, model, {})


def _restored(directory):
    model, state = _open(directory)
    step = state.restore()
    assert float(model.weight) == step
    return state, step


def test_without_a_checkpoint_a_training_begins(tmp_path):
    assert _restored(tmp_path)[1] == 0


def test_the_newest_checkpoint_is_restored_in_silence(directory, capsys):
    assert _restored(directory)[1] == 10
    assert capsys.readouterr().out == ""


def test_a_first_checkpoint_that_was_cut_off_is_written_again(tmp_path, capsys):
    _, state = _open(tmp_path)
    state.step.assign(3)
    state.save()
    (tmp_path / "checkpoint").unlink()  # it is written after the others
    index = tmp_path / "step-3.index"
    index.write_bytes(index.read_bytes()[:40])
    assert _restored(tmp_path)[1] == 0
    assert capsys.readouterr().out == (
        f"No checkpoint in {tmp_path} is whole; the training begins again.\n"
    )


def test_what_was_cut_off_is_not_the_newest_whole_checkpoint(directory, capsys):
    (directory / "checkpoint").unlink()
    (directory / "step-10.index").write_bytes(b"\0" * 10)
    assert _restored(directory)[1] == 2
    assert "goes on from step 2, the newest whole" in capsys.readouterr().out


def test_what_a_killed_process_was_writing_is_removed(directory):
    (directory / "step-12_temp").mkdir()
    (directory / "step-12_temp" / "part-00000-of-00001.index.tempstate7").touch()
    (directory / "checkpoint.tmp2f92").touch()
    assert _restored(directory)[1] == 10
    assert not list(directory.glob("*_temp")) and not list(directory.glob("*tmp*"))


def test_a_checkpoint_that_a_killed_process_was_about_to_remove_is_removed(tmp_path, monkeypatch):
    model, state = _open(tmp_path)
    monkeypatch.setattr(checkpoints, "_remove_leftovers", lambda _: None)
    for step in (1, 2, 3):
        model.weight.assign(step)
        state.step.assign(step)
        state.save()
    monkeypatch.undo()
    assert len(list(tmp_path.glob("*.index"))) == 3
    assert _restored(tmp_path)[1] == 3
    assert {path.name for path in tmp_path.glob("*.index")} == {"step-2.index", "step-3.index"}


def test_the_disk_forgets_an_older_checkpoint(directory, monkeypatch):
    _, state = _open(directory)
    left = []
    monkeypatch.setattr(checkpoints, "sync", lambda it: left.append(len([*it.glob("*.index")])))
    state.step.assign(11)
    state.save()
    assert left == [3, 2]


@pytest.mark.parametrize(
    "content",
    [
        None,
        b"\xff\xfe",
        b"\0" * 40,
        b'model_checkpoint_path: "step-77"\n',
    ],
)
def test_a_damaged_file_that_names_the_newest_is_mended(content, directory, capsys):
    path = directory / "checkpoint"
    path.unlink() if content is None else path.write_bytes(content)
    state, step = _restored(directory)
    assert step == 10
    assert capsys.readouterr().out == (
        f"{path} was missing or damaged; the training goes on from step 10, the newest whole "
        "checkpoint.\n"
    )
    state.step.assign(11)
    state.save()
    assert {file.name for file in directory.glob("*.index")} == {"step-10.index", "step-11.index"}
    assert path.read_text().startswith('model_checkpoint_path: "step-11"')


def test_a_checkpoint_that_lacks_a_file_is_passed_over(directory):
    (directory / "checkpoint").unlink()
    (directory / "step-10.data-00000-of-00001").unlink()
    assert _restored(directory)[1] == 2


def test_a_checkpoint_with_damaged_content_is_refused(directory):
    (directory / "step-10.data-00000-of-00001").write_bytes(b"half")
    with pytest.raises(UserError, match=r"step-10\.\* cannot be restored"):
        _restored(directory)
