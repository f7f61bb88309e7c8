"""Released models by name: the manifest, its digests, and folders of the same name."""

import shutil
from pathlib import Path

import pytest

from disan_tf.common.errors import UserError
from disan_tf.common.files import sha256
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.runs.bundle import read_info
from disan_tf.serving.presets import COLUMNS, find_bundle, presets, read_manifest
from tests.support.errors import user_error


@pytest.fixture
def beside(quick_bundle, tmp_path, monkeypatch):
    """A released model, and a work directory of its name in the current folder."""
    monkeypatch.chdir(tmp_path)
    folder = shutil.copytree(quick_bundle.directory, tmp_path / "checkpoints" / "small")
    row = ("small", "disan_sst", sha256(folder / "model.json"), "9", "accuracy", "0.5", "0.25")
    lines = ("\t".join(cells) for cells in (COLUMNS, row))
    (tmp_path / "checkpoints/manifest.tsv").write_text("\n".join(lines))
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "best").symlink_to(quick_bundle.directory)
    return folder


def test_a_released_name_wins_over_a_folder_of_that_name(beside, capsys):
    assert find_bundle("small", beside.parent) == beside
    warning = "warning: small names the released model; write ./small for the folder.\n"
    assert capsys.readouterr().err == warning
    (beside / "model.json").write_text("{}")
    with pytest.raises(UserError, match="is not the file that the manifest describes"):
        find_bundle("small", beside.parent)


def test_a_folder_without_a_model_causes_no_warning(beside, tmp_path, capsys):
    (tmp_path / "small" / "best").unlink()
    assert find_bundle("small", beside.parent) == beside and capsys.readouterr().err == ""


@pytest.mark.parametrize("name", ["./small", Path("small")])
def test_a_path_names_a_folder_beside_a_released_model(name, beside, monkeypatch, capsys):
    assert find_bundle(name, beside.parent).samefile("small/best")
    monkeypatch.chdir("/")
    assert find_bundle(Path("small"), beside.parent) == beside == find_bundle(beside)
    assert capsys.readouterr().err == ""


def test_a_misspelt_work_directory_is_refused_with_the_nearest_one(beside, tmp_path):
    message = user_error(find_bundle, f"{tmp_path}/smal")
    assert message.startswith(f"{tmp_path}/smal is neither a work directory with a trained model ")
    assert message.endswith(f"did you mean {tmp_path}/small?") and "(demo, " in message


def test_a_training_that_was_never_evaluated_is_called_so(tmp_path):
    (tmp_path / "config.json").touch()
    message = user_error(find_bundle, tmp_path)
    assert message == f"{tmp_path} holds a training that was never evaluated; train it longer."


@pytest.mark.parametrize(
    "line, message",
    [
        (["a\rb", *COLUMNS[1:]], "a control character, or a name"),
        (["twice", *COLUMNS[1:]], "a control character, or a name"),
        (["name", "only"], "not the columns name, config"),
    ],
)
def test_a_damaged_line_of_a_manifest_is_refused(line, message, tmp_path):
    lines = [COLUMNS, ["twice", *COLUMNS[1:]], line]
    (tmp_path / "manifest.tsv").write_bytes("\n".join(map("\t".join, lines)).encode())
    with pytest.raises(UserError, match=rf"manifest\.tsv, line 3: {message}"):
        read_manifest(tmp_path / "manifest.tsv")


@pytest.mark.parametrize("content", ["", "\t".join(COLUMNS) + "\n"])
def test_a_manifest_without_models_is_refused(content, tmp_path):
    (tmp_path / "manifest.tsv").write_text(content)
    message = user_error(presets, tmp_path)
    assert message == f"{tmp_path / 'manifest.tsv'} lists no models; restore the file."


@pytest.mark.parametrize(
    "column, value",
    [("criterion", "bleu"), ("test", "nan"), ("parameters", "1.5")],
)
def test_a_wrong_value_of_a_manifest_is_refused_with_its_row(column, value, tmp_path):
    row = {**dict.fromkeys(COLUMNS, "1"), "name": "small", "criterion": "pearson", column: value}
    lines = [COLUMNS, row.values()]
    (tmp_path / "manifest.tsv").write_text("\n".join(map("\t".join, lines)))
    assert user_error(presets, tmp_path) == (
        f"{tmp_path / 'manifest.tsv'}, row small: parameters and test must be numbers, and "
        "criterion accuracy or pearson; restore the file."
    )


def test_every_model_of_the_repository_is_whole_and_small():
    released = read_manifest(CHECKPOINTS / "manifest.tsv")
    assert "demo" in released
    sizes = []
    for name, row in released.items():
        folder = find_bundle(name)
        assert sha256(folder / "model.json") == row["sha256"]
        assert read_info(folder)["parameters"] == int(row["parameters"])
        sizes.append(sum(path.stat().st_size for path in folder.iterdir()))
    assert max(sizes) < 20_000_000 and sum(sizes) < 100_000_000
