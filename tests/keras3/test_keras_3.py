"""Our layers and models on native Keras 3, in a process with DISAN_TF_KERAS=3."""

import importlib.util
import os
import pickle
import re
import sys

import numpy as np
import pytest
import tensorflow as tf

import disan_tf
from disan_tf import encoders, layers
from disan_tf.common.installation import CHECKPOINTS
from disan_tf.common.keras_version import CHOICE, VARIABLE, is_keras_3
from disan_tf.runs.bundle import load_bundle
from disan_tf.runs.weight_files import read_weights
from tests.keras3 import outputs
from tests.support.notebooks import ROOT, run_notebook
from tests.support.processes import run_program

pytestmark = pytest.mark.skipif(
    not is_keras_3(), reason=f"needs TensorFlow 2.16 or later, and {CHOICE}=3 (make test-keras3)"
)
ROUNDED = ("Head", "pair")  # whose gradients Keras 3 sums in another order
IDS = np.array([[2, 3, 4, 5], [6, 7, 0, 0], [3, 0, 0, 0]])


@pytest.fixture(scope="module")
def keras_2(tmp_path_factory):
    """Returns the folder of the weights and outputs that a process with Keras 2 writes."""
    if importlib.util.find_spec("tf_keras") is None:
        pytest.skip("needs the package tf_keras")
    folder = tmp_path_factory.mktemp("keras_2")
    environment = {**os.environ, CHOICE: "2", VARIABLE: "1"}
    command = sys.executable, "-m", "tests.keras3.outputs", folder
    run_program(*command, env=environment, check=True, timeout=300)
    return folder


@pytest.mark.parametrize("case", outputs.CASES)
def test_outputs_dropout_losses_and_gradients_are_those_of_keras_2(case, keras_2):
    number = outputs.CASES.index(case)
    model, inputs, masks = outputs.make(case)
    model(*inputs, **masks)
    read_weights(model, keras_2 / f"{number}.weights.h5")
    found = outputs.compute(model, inputs, masks)
    with np.load(keras_2 / f"{number}.npz") as expected:
        assert {*found} == {*expected}
        for name in expected:
            if "gradient" in name and case.split("/")[0].endswith(ROUNDED):
                np.testing.assert_allclose(found[name], expected[name], atol=1e-6, err_msg=name)
            else:
                np.testing.assert_array_equal(found[name], expected[name], name)


@pytest.mark.parametrize("name", outputs.RELEASED)
def test_a_released_model_has_the_logits_of_keras_2(name, keras_2):
    with np.load(keras_2 / "released.npz") as expected:
        np.testing.assert_array_equal(outputs.loaded_outputs(name), expected[name])


def test_our_layers_are_layers_of_keras_3():
    import keras

    assert keras.__version__.startswith("3.")
    for public in (layers.DirectionalSelfAttention, encoders.DiSAN, layers.DSAHead):
        assert issubclass(public, keras.layers.Layer)
    model = disan_tf.load("demo")
    assert isinstance(model.encoder, keras.layers.Layer)
    assert isinstance(model.keras_model, keras.Model)


def test_the_example_of_the_readme_runs():
    text = (ROOT / "docs/how_to/keras.md").read_text()
    section = text.split("\n## Keras 3\n")[1].split("\n## ")[0]
    code = "\n".join(re.findall(r"^    (.*)$", section, re.M))
    found = {}
    exec(code, found)
    assert found["predictions"].shape == (64, 2)
    assert found["model"].layers[-1].__class__.__module__.startswith("keras.")


@pytest.mark.parametrize("policy", outputs.POLICIES)
def test_a_functional_model_fits_and_its_file_gives_the_same(policy, tmp_path):
    dtype = {"dtype": policy}
    ids = tf.keras.Input([None], dtype="int32")
    x = tf.keras.layers.Embedding(9, 6, mask_zero=True)(ids)
    x = layers.DirectionalSelfAttention(5, dropout=0.2, l2=1e-3, **dtype)(x)
    x = tf.keras.layers.LayerNormalization()(x)
    x = encoders.DiSAN(4, dropout=0.2, **dtype)(x)
    model = tf.keras.Model(ids, tf.keras.layers.Dense(2, dtype="float32")(x))
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    before = model.get_weights()
    model.fit(IDS, np.array([0, 1, 0]), epochs=2, verbose=0)
    assert all(np.isfinite(weight).all() for weight in model.get_weights())
    assert any(np.any(a != b) for a, b in zip(before, model.get_weights()))
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded.predict(IDS, verbose=0), model.predict(IDS, verbose=0))


def test_the_implicit_mask_reaches_a_layer_with_two_inputs():
    h = tf.keras.layers.Embedding(9, 6, mask_zero=True)(IDS)
    gate, s = layers.FusionGate(), tf.ones([3, 4, 6])
    expected = gate(tf.identity(h), s, mask=tf.constant(IDS != 0))
    np.testing.assert_array_equal(gate(h, s), expected)


def test_ids_that_keras_made_floats_keep_their_value_in_half_precision():
    embedding = layers.WordEmbedding(1000, 0, 4, dtype="mixed_bfloat16")
    ids = np.array([[2, 259, 901]])
    np.testing.assert_array_equal(embedding(ids.astype(np.float32)), embedding(ids))


@pytest.mark.parametrize("make", [layers.Source2Token, encoders.DiSAN])
def test_a_frozen_layer_has_no_trainable_weights_in_a_model(make):
    model = tf.keras.Sequential([tf.keras.layers.Embedding(9, 6), make(trainable=False)])
    model(IDS)
    assert len(model.trainable_weights) == 1
    model.layers[1].trainable = True
    assert len(model.trainable_weights) > 4


@pytest.mark.parametrize("name", ["disan_sst5", "disan_snli"])
def test_a_loaded_model_fits_by_name_and_its_file_gives_the_same(name, tmp_path):
    model = load_bundle(CHECKPOINTS / name).model
    batch = dict.fromkeys(model.reads, IDS)
    model.compile("adam")
    model.fit(batch, np.array([0, 1, 0]), verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded.predict(batch, verbose=0), model.predict(batch, verbose=0))


class _Batches(tf.keras.utils.Sequence):
    num_batches = 2  # and no length

    def __getitem__(self, index):
        return ["fine", "dull"][index : index + 1], ["good", "bad"][index : index + 1]


def test_a_text_classifier_learns_from_texts_and_names(tmp_path):
    classifier = disan_tf.TextClassifier.from_preset("demo", classes=("bad", "good"))
    texts, labels = ["fine", "dull", "a warm zorbix"], ["good", "bad", "good"]
    row = f"zorbix {' '.join(['0.5'] * classifier.embedding.dim)}\n"
    (tmp_path / "vectors.txt").write_text(row)
    assert classifier.adapt(texts, tmp_path / "vectors.txt") == 1
    classifier.fit(texts, labels, validation_data=(np.array(texts), [1, 0, 1]), verbose=0)
    assert classifier.evaluate({"text": texts}, labels, verbose=0)
    expected = classifier.evaluate(["fine", "dull"], ["good", "bad"], verbose=0)
    for batches in (_Batches(workers=2), (_Batches()[index] for index in range(2))):
        assert classifier.evaluate(batches, steps=2, verbose=0) == pytest.approx(expected, rel=1e-5)
    expected = classifier.predict(texts, verbose=0)
    loaded = pickle.loads(pickle.dumps(classifier))  # through a .keras file
    np.testing.assert_array_equal(loaded.predict(texts, verbose=0), expected)
    loaded.fine_tune(texts, labels, epochs=1, verbose=0)
    classifier.save_to_preset(tmp_path / "preset")
    loaded = disan_tf.TextClassifier.from_preset(tmp_path / "preset")
    np.testing.assert_array_equal(loaded.predict(texts, verbose=0), expected)
    names = [row["label"] for row in disan_tf.load(tmp_path / "preset").predict(texts)]
    assert names == classifier.predict_labels(texts)


def test_the_tutorial_on_layers_runs(tmp_path):
    notebook = ROOT / "docs" / "tutorials" / "keras_layers.ipynb"
    result = run_notebook(notebook, tmp_path, **{CHOICE: "3"})
    assert result.returncode == 0, result.stdout + result.stderr
