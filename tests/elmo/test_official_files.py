"""Official options and weights: the official numbers, round trips, and what is refused."""

import json
import os
import re
import resource
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

from disan_tf.common.errors import UserError
from disan_tf.elmo.official_files import load_bilm, read_options, save_bilm
from tests.support.errors import user_error
from tests.support.models.bilm import SIZES, batch, small_bilm

REFERENCE = Path(os.environ.get("DISAN_TF_SHARED", Path(__file__).parents[3] / "shared"))
REFERENCE = REFERENCE / "reference"
WITHIN = 5e-6


def _batches(folder):
    """Batch k is the k-th sentence of each file."""
    (path,) = folder.glob("*sentences.json")
    for sentences in zip(*json.loads(path.read_text(encoding="utf-8"))):
        yield [sentence.split() for sentence in sentences]


@pytest.mark.skipif(not REFERENCE.is_dir(), reason=f"needs {REFERENCE}")
def test_all_layers_are_those_of_the_official_code_from_any_states():
    folder, golden = REFERENCE / "elmo_fixture", np.load(REFERENCE / "golden" / "bilm_fixture.npz")
    bilm, states = load_bilm(folder / "options.json", folder / "lm_weights.hdf5"), None
    zero_states = []
    for number, words in enumerate(_batches(folder)):
        ids, mask = batch(words)
        official = golden[f"in/char_ids_{number}"][:, 1:-1]
        np.testing.assert_array_equal(ids.numpy()[mask], official[mask.numpy()])
        layers, states = bilm.advance(ids, mask, states)
        wanted = golden[f"out/lm_embeddings_{number}"].transpose(0, 2, 1, 3)
        np.testing.assert_allclose(layers.numpy()[mask], wanted[mask], rtol=0, atol=WITHIN)
        if f"out/lm_embeddings_{number}_zero_state" in golden:
            wanted = golden[f"out/lm_embeddings_{number}_zero_state"].transpose(0, 2, 1, 3)
            alone = bilm(ids, mask=mask).numpy()
            np.testing.assert_allclose(alone[mask], wanted[mask], rtol=0, atol=WITHIN)
            zero_states.append(number)
    assert zero_states == [5]


def test_a_biLM_that_is_saved_and_loaded_gives_the_same(tmp_path):
    for options in (
        {},
        {"skip_connections": True},
        {"cells": 3, "highways": 0},
        {"units": 7, "cells": 8},
        {"cell_clip": 0, "projection_clip": 0},
    ):
        bilm = small_bilm(**options)
        save_bilm(bilm, tmp_path / "options.json", tmp_path / "weights.hdf5")
        loaded = load_bilm(tmp_path / "options.json", tmp_path / "weights.hdf5")
        np.testing.assert_array_equal(loaded(*batch()), bilm(*batch()))
        names = {"name", "dropout", "seed"}
        configs = [
            {k: v for k, v in it.get_config().items() if k not in names} for it in (loaded, bilm)
        ]
        assert configs[0] == configs[1]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    save_bilm(small_bilm(), folder / "options.json", folder / "weights.hdf5")
    return folder


@pytest.fixture
def files(whole, tmp_path):
    """A whole pair, options and weights."""
    return [shutil.copy(whole / name, tmp_path / name) for name in ("options.json", "weights.hdf5")]


def _refusal(files) -> str:
    return user_error(load_bilm, *files)


def _change(path, part, **values):
    content = json.loads(path.read_text())
    content[part].update(values)
    path.write_text(json.dumps(content))


def test_the_training_options_fit_too(files):
    content = json.loads(files[0].read_text())
    content.update(bidirectional=True, dropout=0.1, unroll_steps=20, n_tokens_vocab=793471)
    content["char_cnn"]["n_characters"] = 261
    files[0].write_text(json.dumps(content))
    assert load_bilm(*files).units == SIZES["units"]


@pytest.mark.parametrize(
    ("part", "name", "value", "wanted"),
    [
        ("char_cnn", "activation", "gelu", "must be relu or tanh"),
        ("char_cnn", "n_characters", 300, "must be 261 or 262"),
        ("char_cnn", "filters", [[1, 0]], "pairs of a width and a count"),
        ("char_cnn", "filters", [], "pairs of a width and a count"),
        ("char_cnn", "filters", [[51, 2]], "at most 50 wide"),
        ("char_cnn", "n_highway", -1, "at least 0"),
        ("lstm", "n_layers", 10**30, "at most 100"),
        ("lstm", "dim", 2**63, "at most 65,536"),
        ("char_cnn", "max_characters_per_token", 2, "at least 3"),
        ("char_cnn", "max_characters_per_token", 1001, "at most 1,000"),
        ("char_cnn", "embedding", 4, 'an object with "dim"'),
        ("lstm", "dim", "5", "at least 1"),
        ("lstm", "dim", 2, "at least lstm.projection_dim"),
        ("lstm", "n_layers", True, "at least 1"),
        ("lstm", "cell_clip", "3", "a number above 0, or null"),
        ("lstm", "proj_clip", 0, "a number above 0, or null"),  # officially all is clipped to 0
        ("lstm", "proj_clip", float("nan"), "a number above 0, or null"),
        ("lstm", "use_skip_connections", 1, "true or false"),
    ],
)
def test_a_wrong_option_is_named(files, part, name, value, wanted):
    _change(files[0], part, **{name: value})
    refusal = _refusal(files)
    assert refusal.startswith(f"{files[0]}: {part}.{name} is ") and wanted in refusal


def test_options_that_are_absent_are_named_or_have_the_official_meaning(files):
    content = json.loads(files[0].read_text())
    del content["lstm"]["use_skip_connections"], content["lstm"]["n_layers"]
    content["lstm"]["cell_clip"] = content["char_cnn"]["n_highway"] = None
    files[0].write_text(json.dumps(content))
    found = read_options(files[0])
    assert found["skip_connections"] is False and found["layers"] == 1
    assert found["cell_clip"] == found["highways"] == 0
    del content["lstm"]["dim"]
    files[0].write_text(json.dumps(content))
    assert _refusal(files).startswith(f"{files[0]} has no lstm.dim; ")
    files[0].write_text("[]")
    assert _refusal(files).startswith(f"{files[0]}: the file must be an object; ")


def test_files_that_are_no_files_are_named(files, tmp_path):
    assert f"{tmp_path / 'no.json'} does not exist" in _refusal((tmp_path / "no.json", files[1]))
    assert f"{tmp_path / 'no.hdf5'} is missing" in _refusal((files[0], tmp_path / "no.hdf5"))
    shutil.copy(files[0], files[1])
    assert f"{files[1]} cannot be read as HDF5" in _refusal(files)


@pytest.mark.parametrize("share", [0.001, 0.5, 0.99])
def test_a_file_that_is_cut_short_is_refused(files, share):
    content = files[1].read_bytes()
    files[1].write_bytes(content[: int(len(content) * share)])
    refusal = _refusal(files)
    assert refusal.startswith(f"{files[1]} cannot be read as HDF5") and "\n" not in refusal


def test_a_link_to_another_file_is_refused(files):
    with h5py.File(files[1], "r+") as file:
        del file["char_embed"]
        file["char_embed"] = h5py.ExternalLink("/secret.hdf5", "/x")
    assert "cannot be read as HDF5 (//char_embed is a link)" in _refusal(files)


def test_weights_for_which_there_is_no_room_are_an_error_and_leave_nothing(tmp_path):
    before, bilm = resource.getrlimit(resource.RLIMIT_FSIZE), small_bilm()
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            save_bilm(bilm, tmp_path / "options.json", tmp_path / "weights.hdf5")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "tensor", "found", "asked"),
    [
        ({"units": 4}, "CNN_proj/W_proj", [7, 4], [7, 3]),
        ({"cells": 6}, "RNN_0/RNN/MultiRNNCell/Cell0/LSTMCell/W_0", [6, 24], [6, 20]),
        ({"filters": [(1, 3), (2, 3), (4, 2)]}, "CNN/W_cnn_0", [1, 1, 4, 3], [1, 1, 4, 2]),
        ({"character_dim": 5}, "char_embed", [261, 5], [261, 4]),
    ],
)
def test_weights_of_another_size_are_refused_by_tensor_and_shapes(
    files, tmp_path, options, tensor, found, asked
):
    save_bilm(small_bilm(**options), tmp_path / "other.json", files[1])
    refusal = _refusal(files)
    assert re.search(re.escape(f"tensor {tensor} has the shape {found}"), refusal)
    assert f"{files[0]} asks for {asked}" in refusal


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"layers": 1}, "has no tensor RNN_0/RNN/MultiRNNCell/Cell1/LSTMCell/W_0"),
        ({"layers": 3}, "lstm.n_layers of 2 alone"),
        ({"highways": 3}, "char_cnn.n_highway of 2 alone"),
    ],
)
def test_weights_with_fewer_or_more_layers_are_refused(files, tmp_path, options, told):
    save_bilm(small_bilm(**options), tmp_path / "other.json", files[1])
    assert told in _refusal(files)


def test_weights_that_are_not_finite_are_refused(files):
    with h5py.File(files[1], "a") as file:
        file["CNN_proj/b_proj"][0] = np.nan
    assert "the tensor CNN_proj/b_proj has values that are not finite" in user_error(
        load_bilm, *files
    )


def test_nothing_is_assigned_where_one_tensor_does_not_fit(files):
    from disan_tf.elmo.official_files import load_weights

    with h5py.File(files[1], "a") as file:
        del file["CNN_proj/b_proj"]
    bilm = small_bilm(seed=9)
    before = [weight.numpy() for weight in bilm.weights]
    with pytest.raises(UserError, match="has no tensor CNN_proj/b_proj"):
        load_weights(bilm, files[1])
    for weight, old in zip(bilm.weights, before):
        np.testing.assert_array_equal(weight, old)
