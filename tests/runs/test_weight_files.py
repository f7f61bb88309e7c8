"""disan_tf/runs/weight_files.py: what is believed of a file of weights."""

import io

import h5py
import numpy as np
import pytest
import tensorflow as tf

from configs.disan_sst import get_config
from disan_tf.common.errors import UserError
from disan_tf.common.hdf5 import DEEPEST, datasets
from disan_tf.models.factory import build_model
from disan_tf.runs.weight_files import PRECISIONS, read_weights, weights_as_hdf5
from tests.support.runs.training import load_config

PLACE = "layers/dense/vars/0"


def _model():
    return tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(4, name="dense")])


@pytest.fixture
def path(tmp_path):
    (tmp_path / "a.weights.h5").write_bytes(weights_as_hdf5(_model()))
    return tmp_path / "a.weights.h5"


def test_weights_come_back(tmp_path):
    model, again = _model(), _model()
    (tmp_path / "a.weights.h5").write_bytes(weights_as_hdf5(model))
    read_weights(again, tmp_path / "a.weights.h5")
    for weight, expected in zip(again.weights, model.weights):
        np.testing.assert_array_equal(weight, expected)


def test_the_names_of_arrays_are_those_of_keras_2(tmp_path):
    model = build_model(get_config("tiny"), (5, 3), 5)
    (tmp_path / "ours.weights.h5").write_bytes(weights_as_hdf5(model))
    model.save_weights(tmp_path / "theirs.weights.h5")
    ours, theirs = (_arrays(tmp_path / f"{name}.weights.h5") for name in ("ours", "theirs"))
    assert ours.keys() == theirs.keys() and len(ours) > 20
    for name, array in ours.items():
        np.testing.assert_array_equal(array, theirs[name])


def _arrays(path):
    """Returns the arrays of a file by name."""
    found = {}
    with h5py.File(path) as file:
        file.visititems(
            lambda name, item: found.update({name: item[()]} if hasattr(item, "dtype") else {})
        )
    return found


def test_weights_in_float16_have_the_digits_of_bfloat16(tmp_path):
    model, again, path = _model(), _model(), tmp_path / "a.weights.h5"
    kernel = tf.cast(model.weights[0], tf.float16)
    model.weights[0].assign(tf.cast(kernel, tf.float32))
    path.write_bytes(weights_as_hdf5(model, "float16"))
    with h5py.File(path) as file:
        assert file[PLACE].dtype == np.float16
    read_weights(again, path)
    rounded = tf.cast(tf.cast(kernel, tf.bfloat16), tf.float32)
    np.testing.assert_array_equal(again.weights[0], rounded)
    np.testing.assert_array_equal(again.weights[1], model.weights[1])


@pytest.mark.parametrize(
    "name, tables",
    [
        ("disan_sst", ["word_embedding"]),
        ("dsa_sst", ["word_embedding"]),  # with kernels of convolutions
        ("drcn_snli", [f"word_character_embedding/{part}" for part in ("constant", "learned")]),
    ],
)
def test_weights_in_int8_come_back_within_half_a_step(name, tables, tmp_path):
    """Each row of word vectors has a scale; in other matrices, each output has one."""
    model, again = (build_model(load_config(name, "tiny"), (5, 3), 3) for _ in range(2))
    (tmp_path / "a.weights.h5").write_bytes(weights_as_hdf5(model, "int8"))
    read_weights(again, tmp_path / "a.weights.h5")
    rows = {
        f"layers/{table}/vars/{number}": (127, 20)[number]
        for table in tables
        for number in range(2)
    }
    before, after = (_arrays(io.BytesIO(weights_as_hdf5(each))) for each in (model, again))
    assert {*rows} < {*before}
    for place, array in before.items():
        if array.ndim < 2:
            np.testing.assert_array_equal(after[place], array)
            continue
        axis = 1 if place in rows else tuple(range(array.ndim - 1))
        step = np.abs(array).max(axis, keepdims=True) / rows.get(place, 127)
        error = np.abs(after[place] - array)
        assert np.all(error <= 0.5 * (1 + 2.0**-7) * step) and error.max() > 0.0


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_table_may_have_no_words(precision, tmp_path):
    model, again = (build_model(get_config("tiny"), (5, 0), 5) for _ in range(2))
    (tmp_path / "a.weights.h5").write_bytes(weights_as_hdf5(model, precision))
    read_weights(again, tmp_path / "a.weights.h5")
    trained = model.embedding.trained
    np.testing.assert_allclose(again.embedding.trained, trained, atol=0.51 / 127 * 0.05)


def test_a_file_of_int8_holds_codes_and_scales(tmp_path):
    path = tmp_path / "a.weights.h5"
    path.write_bytes(weights_as_hdf5(build_model(get_config("tiny"), (5, 3), 5), "int8"))
    stored = _arrays(path)
    dtypes = {array.dtype for array in stored.values() if array.ndim > 1}
    assert dtypes == {np.dtype(np.int8), np.dtype(np.float32)}
    for name, array in stored.items():
        assert (array.dtype == np.int8) == (f"scales/{name}" in stored)
    assert stored["scales/layers/word_embedding/vars/1"].shape == (3, 1)
    assert np.abs(stored["layers/word_embedding/vars/0"]).max(1).min() >= 126


def test_an_unknown_precision_is_refused():
    with pytest.raises(ValueError, match="precision='int4' must be float32, float16 or int8"):
        weights_as_hdf5(_model(), "int4")


def _put(content, place=PLACE):
    def put(file):
        del file[place]
        file[place] = content

    return put


def _enlarge(file):
    del file[PLACE]
    file.create_dataset(PLACE, [10**6, 10**6], np.float32, chunks=(100, 100))


def _make_virtual(file):
    del file[PLACE]
    layout = h5py.VirtualLayout((3, 4), np.float32)
    layout[:] = h5py.VirtualSource("other.h5", "x", (3, 4))
    file.create_virtual_dataset(PLACE, layout)


@pytest.mark.parametrize(
    "change, reason",
    [
        (_put(np.zeros([4, 3], np.float32)), "does not hold the weights of the model"),
        (_enlarge, r"it lacks 1 arrays \(3, 4\)"),
        (_put(np.full([3, 4], 1e300)), "has weights that are not finite"),
        (_put(np.full([3, 4], b"x")), "it lacks 1 arrays"),
        (_put(h5py.ExternalLink("other.h5", "/x")), "vars/0 is a link"),
        (_make_virtual, "is in another file"),
        (lambda file: file.pop(PLACE), "it lacks 1 arrays"),
        (lambda file: file.move("layers/dense", "layers/other"), "does not hold the weights"),
        (
            lambda file: file.update(more=np.zeros(5, "f")),
            r"it has 1 arrays \(5,\) of kind f too many",
        ),
    ],
)
def test_a_file_of_other_content_is_refused(change, reason, path):
    with h5py.File(path, "r+") as file:
        change(file)
    with pytest.raises(UserError, match=rf"{path}.*{reason}"):
        read_weights(_model(), path)


SCALE = f"scales/{PLACE}"


@pytest.mark.parametrize(
    "change, reason",
    [
        (lambda file: file.pop(SCALE), f"/{SCALE} is missing"),
        (lambda file: file.pop("scales"), f"/{SCALE} is missing"),
        (lambda file: file.update({"scales/more": np.ones([1, 4], "f")}), "belongs to no int8"),
        (_put(np.zeros([3, 4], "f")), f"/{SCALE} belongs to no int8 array"),
        (_put(np.zeros([4, 3], np.int8)), r"it lacks 1 arrays \(3, 4\) of kind f"),
        (_put(np.ones([1, 3], "f"), SCALE), r"has the shape \(3, 4\), and scales \(1, 3\)"),
        (_put(np.ones([2, 4], "f"), SCALE), r"and scales \(2, 4\)"),
        (_put(np.ones([4], "f"), SCALE), r"and scales \(4,\)"),
        (_put(np.ones([1, 1, 4], "f"), SCALE), r"and scales \(1, 1, 4\)"),
        (_put(np.ones([10**6, 4], "f"), SCALE), r"and scales \(1000000, 4\)"),
        (_put(np.ones([1, 4], "d"), SCALE), "no scales of type float32"),
        (_put(np.full([1, 4], b"x"), SCALE), "no scales of type float32"),
        (_put(np.float32([[1, 1, -1e-9, 1]]), SCALE), "negative, too large or not finite"),
        (_put(np.float32([[1, np.nan, 1, 1]]), SCALE), "negative, too large or not finite"),
        (_put(np.float32([[np.inf, 1, 1, 1]]), SCALE), "negative, too large or not finite"),
        (_put(np.float32([[1, 1, 1, 3e38]]), SCALE), "negative, too large or not finite"),
        (_put(h5py.ExternalLink("other.h5", "/x"), SCALE), "vars/0 is a link"),
        (_put(h5py.SoftLink(f"/{PLACE}"), SCALE), "vars/0 is a link"),
    ],
)
def test_scales_that_do_not_fit_are_refused(change, reason, path):
    path.write_bytes(weights_as_hdf5(_model(), "int8"))
    with h5py.File(path, "r+") as file:
        change(file)
    with pytest.raises(UserError, match=rf"{path} does not hold the weights.*{reason}"):
        read_weights(_model(), path)


def test_groups_that_are_linked_often_are_visited_once(tmp_path):
    """Without that, 40 levels of two links each are a trillion groups."""
    with h5py.File(tmp_path / "a.h5", "w") as file:
        group = file
        for _ in range(40):
            new = group.create_group("one")
            group["other"], new["circle"] = new, file
            group = new
        group["x"] = np.zeros(3)
        assert [item.shape for item in datasets(file)] == [(3,)]


def _deepen(file):
    file.create_group("/".join("g" * DEEPEST))["x"] = np.zeros(3)


def _link_often(file):
    for number in range(11):
        file[f"more-{number}"] = file[PLACE]


@pytest.mark.parametrize("change", [_deepen, _link_often])
def test_the_links_and_levels_of_a_file_are_limited(change, path, monkeypatch):
    monkeypatch.setattr("disan_tf.common.hdf5.MOST_LINKS", 10 if change is _link_often else 99)
    with h5py.File(path, "r+") as file:
        change(file)
        with pytest.raises(ValueError, match="it has more than .* links or 64 levels"):
            list(datasets(file))
