"""disan_tf/runs/weight_files.py: what is believed of a file of weights."""

import h5py
import numpy as np
import pytest
import tensorflow as tf

from configs.disan_sst import get_config
from disan_tf.common.errors import UserError
from disan_tf.models.factory import build_model
from disan_tf.runs.weight_files import DEEPEST, datasets, read_weights, weights_as_hdf5

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
    assert ours == theirs and len(ours) > 20


def _arrays(path):
    """Returns the shapes of the arrays and groups of a file by name."""
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: getattr(item, "shape", None)}))
    return found


def test_halved_weights_have_the_digits_of_bfloat16(tmp_path):
    model, again, path = _model(), _model(), tmp_path / "a.weights.h5"
    kernel = tf.cast(model.weights[0], tf.float16)
    model.weights[0].assign(tf.cast(kernel, tf.float32))
    path.write_bytes(weights_as_hdf5(model, halve=True))
    with h5py.File(path) as file:
        assert file[PLACE].dtype == np.float16
    read_weights(again, path)
    rounded = tf.cast(tf.cast(kernel, tf.bfloat16), tf.float32)
    np.testing.assert_array_equal(again.weights[0], rounded)
    np.testing.assert_array_equal(again.weights[1], model.weights[1])


def _put(content):
    def put(file):
        del file[PLACE]
        file[PLACE] = content

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
    monkeypatch.setattr(
        "disan_tf.runs.weight_files.MOST_LINKS", 10 if change is _link_often else 99
    )
    with h5py.File(path, "r+") as file:
        change(file)
        with pytest.raises(ValueError, match="it has more than .* links or 64 levels"):
            list(datasets(file))
