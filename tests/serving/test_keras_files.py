"""Strangers' `.keras` files: ours are loaded, and attacks are refused before Keras sees them."""

import io
import json
import pickle
import sys
import zipfile

import h5py
import numpy as np
import pytest
import tensorflow as tf

import disan_tf
from disan_tf.common import files, hdf5
from disan_tf.common.errors import UserError
from disan_tf.common.keras_version import is_keras_3
from tests.support.models.films import TEXTS

CONFIG, WEIGHTS = "config.json", "model.weights.h5"
IMPORT = {"module": "attack_of_a_test", "class_name": "s", "config": {}, "registered_name": None}
WRITE = {
    "module": "keras.layers",
    "class_name": "TFOpLambda",
    "config": {"name": "write", "trainable": True, "dtype": "float32", "function": "io.write_file"},
    "registered_name": "TFOpLambda",
    "name": "write",
    "inbound_nodes": [["MARKER", -1, "x", {"contents": "x"}]],
}
LAMBDA = {"module": "keras.layers", "class_name": "Lambda", "config": {}, "registered_name": None}
FUNCTION = {"class_name": "function", "config": "load_model", "module": "keras.models"}


@pytest.fixture(scope="module")
def members(shared_classifier, tmp_path_factory):
    """The content of a classifier's file by name."""
    path = tmp_path_factory.mktemp("saved") / "model.keras"
    shared_classifier.save(path)
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


@pytest.fixture
def marker(tmp_path, monkeypatch):
    """The file that an attack writes."""
    path = tmp_path / "marker"
    (tmp_path / "attack_of_a_test.py").write_text(f"s = open({str(path)!r}, 'w').close()\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield path
    sys.modules.pop("attack_of_a_test", None)


def _write(path, members, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def _refused(path, reason):
    with pytest.raises(UserError, match=rf"{path}.*{reason}") as caught:
        disan_tf.load_keras(path)
    assert "TextClassifier.save_to_preset" in str(caught.value)


def test_a_classifier_comes_back_with_its_optimizer(classifier, members, tmp_path):
    loaded = disan_tf.load_keras(_write(tmp_path / "model.keras", members))
    expected = classifier.predict(TEXTS, verbose=0)
    np.testing.assert_array_equal(loaded.predict(TEXTS, verbose=0), expected)
    assert int(loaded.optimizer.iterations) == int(classifier.optimizer.iterations) == 40
    assert loaded.classes == classifier.classes and loaded.words == classifier.words


def test_a_model_of_our_layers_and_those_of_keras_comes_back(tmp_path):
    x = tf.keras.Input([None, 4])
    y = disan_tf.layers.Linear(4)(tf.keras.layers.Bidirectional(disan_tf.layers.BasicLSTM(4))(x))
    y = tf.keras.layers.Dense(2, "relu", kernel_regularizer="l2", dtype="mixed_bfloat16")(y)
    model = tf.keras.Model(x, y)
    model.compile(tf.keras.optimizers.SGD(0.1), tf.keras.losses.MeanSquaredError())
    model.fit(np.ones([1, 2, 4]), np.ones([1, 2, 2]), verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = disan_tf.load_keras(tmp_path / "model.keras")
    inputs = np.ones([1, 3, 4], np.float32)
    np.testing.assert_array_equal(loaded(inputs), model(inputs))
    assert float(loaded.optimizer.learning_rate) == pytest.approx(0.1)


@pytest.mark.parametrize(
    "put, attack",
    [
        (lambda config, it: config["config"].update(model=it), IMPORT),
        (lambda config, it: config["config"]["model"].update(more=[[{"deep": it}]]), WRITE),
        (lambda config, it: config["build_config"].update(fields=[it]), LAMBDA),
        (lambda config, it: config["compile_config"].update(metrics=[it]), FUNCTION),
    ],
)
def test_another_class_is_refused_at_any_depth(put, attack, members, marker, tmp_path):
    config = json.loads(members[CONFIG])
    put(config, json.loads(json.dumps(attack).replace("MARKER", str(marker))))
    path = _write(tmp_path / "model.keras", {**members, CONFIG: json.dumps(config)})
    _refused(path, f"names {attack['module']}.{attack['class_name']}, which load_keras does not")
    assert not marker.exists()


@pytest.mark.parametrize(
    "change",
    [
        {"registered_name": "Custom>Other"},
        {"module": "keras.layers"},
        {"class_name": ["s"]},
    ],
)
def test_a_known_class_has_its_own_module_and_name(change, members, tmp_path):
    config = json.loads(members[CONFIG])
    config["config"]["model"].update(change)
    path = _write(tmp_path / "model.keras", {**members, CONFIG: json.dumps(config)})
    _refused(path, "config.json.config.model names")


def test_words_are_as_many_as_those_of_the_embedding(members, tmp_path):
    config = json.loads(members[CONFIG])
    config["config"]["words"].pop()
    path = _write(tmp_path / "model.keras", {**members, CONFIG: json.dumps(config)})
    _refused(path, "different words, one for each of the embedding")


def _largest(file):
    """Returns the name of the largest array of floating-point numbers."""
    return max(
        (item for item in hdf5.datasets(file) if item.dtype.kind == "f"),
        key=lambda item: item.size,
    ).name


def _put_nan(file, name):
    file[name][0] = np.nan


def _link_softly(file, name):
    file["more"] = h5py.SoftLink(name)


def _promise(file, name):
    del file[name]
    file.create_dataset(name, [10**6, 10**6], np.float32, chunks=(100, 100))


def _write_text(file, name):
    file["more"] = np.array([b"x"])


@pytest.mark.parametrize(
    "change, reason",
    [
        (_put_nan, "weights that are not finite"),
        (_link_softly, "more is a link"),
        (_promise, "bytes, more than the file"),
        (_write_text, "other types than numbers"),
    ],
)
def test_weights_of_other_content_are_refused(change, reason, members, tmp_path):
    content = io.BytesIO(members[WEIGHTS])
    with h5py.File(content, "r+") as file:
        change(file, _largest(file))
    path = _write(tmp_path / "model.keras", {**members, WEIGHTS: content.getvalue()})
    _refused(path, reason)


def test_a_model_larger_than_its_file_is_refused_before_it_has_memory(tmp_path):
    tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(4)]).save(tmp_path / "a.keras")
    with zipfile.ZipFile(tmp_path / "a.keras") as file:
        members = {name: file.read(name) for name in file.namelist()}
    members[CONFIG] = members[CONFIG].replace(b'"units": 4', b'"units": 9000000000')
    _refused(_write(tmp_path / "b.keras", members), "3 x 9000000000 numbers the model needs 108 GB")


def test_a_long_sequence_takes_no_memory_before_texts_are_read(members, tmp_path):
    config = json.loads(members[CONFIG])
    config["config"]["sequence_length"] = 10**9
    path = _write(tmp_path / "model.keras", {**members, CONFIG: json.dumps(config)})
    assert disan_tf.load_keras(path).preprocessor.sequence_length == 10**9


@pytest.mark.skipif(is_keras_3(), reason="Keras 3 reads bfloat16")
def test_keras_2_neither_writes_nor_reads_bfloat16(members, tmp_path):
    model = disan_tf.TextClassifier.from_preset("demo", dtype="bfloat16")
    path = tmp_path / "model.keras"
    named = {"overwrite": True, "filepath": path}
    for write in (model.save, lambda _: model.save(**named), lambda _: pickle.dumps(model)):
        with pytest.raises(ValueError, match="Keras 2 cannot load a .keras file or a copy with"):
            write(path)
    model.save(tmp_path / "folder")  # a SavedModel of a model that was not called
    assert tf.keras.models.load_model(tmp_path / "folder").predict(TEXTS[:2]).shape == (2, 2)
    content = io.BytesIO(members[WEIGHTS])
    with h5py.File(content, "r+") as file:
        name = _largest(file)
        values = file[name][()].astype(tf.bfloat16.as_numpy_dtype)
        del file[name]
        file[name] = values
    path = _write(tmp_path / "other.keras", {**members, WEIGHTS: content.getvalue()})
    _refused(path, "Keras 2 reads no bfloat16; save the model in float32")


def test_a_bomb_a_long_config_and_a_repeated_key_are_refused(members, tmp_path, monkeypatch):
    path = tmp_path / "model.keras"
    _refused(_write(path, members, zipfile.ZIP_DEFLATED), "compressed members")
    _refused(_write(path, {**members, CONFIG: b'{"a": 1, "a": 2}'}), "the key 'a' is repeated")
    _refused(_write(path, {**members, CONFIG: b"[" * 10**5}), "config.json is not readable JSON")
    _refused(_write(path, {**members, "assets/x": b""}), "must have the members")
    _refused(_write(path, {CONFIG: b"{}"}), "must have the members")
    monkeypatch.setattr("disan_tf.serving.keras_files.LONGEST_JSON", 100)
    monkeypatch.setattr(files, "LONGEST_JSON", 100)
    _refused(_write(path, members), "config.json has more than 100 bytes of JSON")


@pytest.mark.parametrize(
    "damage", [lambda content: content[:1000], lambda content: content.replace(b'"plot', b'"plan')]
)
def test_a_damaged_file_is_refused(damage, members, tmp_path):
    path = _write(tmp_path / "model.keras", members)
    path.write_bytes(damage(path.read_bytes()))
    _refused(path, "is no .keras file, or is damaged")


@pytest.mark.parametrize(
    "name, reason", [("a.keras", "No such file or directory"), ("", "Is a directory")]
)
def test_a_file_that_cannot_be_opened_is_named(name, reason, tmp_path):
    path = tmp_path / name
    with pytest.raises(UserError, match=rf"{path} cannot be opened \({reason}\); check the path"):
        disan_tf.load_keras(path)
