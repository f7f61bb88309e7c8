"""SavedModels of Keras models with our layers, which other processes load."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

from disan_tf import layers
from disan_tf.encoders import ENCODERS
from disan_tf.ops.native import runtime
from disan_tf.ops.tracing import is_saving
from tests.support.models.exports import Question, ask

IDS = np.array([[2, 3, 4, 5, 6], [7, 8, 0, 0, 0], [9, 0, 0, 0, 0]], np.int32)
SPEC = tf.TensorSpec([None, None], tf.int32, "ids")
needs_native = pytest.mark.skipif(bool(runtime.unavailable()), reason="no native operations")


@pytest.fixture(scope="module")
def model():
    """A functional model, whose functions are traced natively where that is possible."""
    tf.keras.utils.set_random_seed(1)
    ids = tf.keras.Input([None], dtype=tf.int32, name="ids")
    x = tf.keras.layers.Embedding(12, 8, mask_zero=True)(ids)
    x = layers.DirectionalSelfAttention(6, dropout=0.2)(x)
    logits = tf.keras.layers.Dense(2, name="logits")(layers.Source2Token()(x))
    model = tf.keras.Model(ids, logits)
    model.predict(IDS, verbose=0)
    return model


def _save(model, path):
    tf.saved_model.save(model, path)


def _export(model, path):
    model.export(path)


def _save_called_functions(model, path):
    module = tf.Module()
    module.weights, module.function = model.weights, tf.function(lambda ids: model(ids))
    module.function(IDS)
    signature = tf.function(lambda ids: {"logits": model(ids)}, input_signature=[SPEC])
    signature(IDS)
    tf.saved_model.save(module, path, signatures=signature)


SLOW = (_save_called_functions, _save)  # the last traces each layer
WAYS = [
    _export,
    *(pytest.param(save, marks=pytest.mark.slow) for save in SLOW),
]


@pytest.mark.parametrize("save", WAYS)
@pytest.mark.filterwarnings("ignore::UserWarning")  # Keras': the format of `save` is old
def test_a_saved_model_predicts_the_same_in_a_process_without_the_package(save, model, tmp_path):
    expected, path = model.predict(IDS, verbose=0), tmp_path / "saved"
    save(model, str(path))
    (meta,) = SavedModel.FromString((path / "saved_model.pb").read_bytes()).meta_graphs
    (name,) = meta.signature_def["serving_default"].inputs
    (answers,) = ask(Question(path, {"batch": {name: IDS}}, tmp_path, ("disan_tf",)))
    (logits,) = answers["batch", "serving_default"].values()
    np.testing.assert_allclose(logits, expected, atol=1e-5)


def _operations(function) -> set:
    return {operation.type for operation in function.graph.get_operations()}


def _is_native(function) -> bool:
    return any(name.startswith("Disan") for name in _operations(function))


@needs_native
def test_training_goes_on_natively_after_a_model_is_saved(model, tmp_path):
    _save_called_functions(model, str(tmp_path))
    assert runtime.is_used()
    assert _is_native(tf.function(model, input_signature=[SPEC]).get_concrete_function())


@needs_native
def test_a_layer_whose_form_is_native_cannot_be_saved(tmp_path):
    module = tf.Module()
    module.layer = layers.DirectionalSelfAttention(4, attention_form="native")
    spec = tf.TensorSpec([None, None, 4])
    module.function = tf.function(lambda x: module.layer(x), input_signature=[spec])
    module.function(tf.ones([1, 2, 4]))
    with pytest.raises(ValueError, match='form="native" cannot be saved.*use form="auto"'):
        tf.saved_model.save(module, str(tmp_path))


SMALL = {"resan": {"units": 3}, "dsa": {"attentions": 2, "layers": 1}}


@pytest.mark.slow  # traces each layer and its gradients
@pytest.mark.parametrize("name", SMALL)
def test_a_model_that_was_built_with_one_token_is_saved_with_its_gradients(name, tmp_path):
    """As released models are: Keras saves its layers for the length of their first call."""
    encoder = ENCODERS[name](**SMALL[name])
    encoder(tf.ones([1, 1, 4]), mask=tf.ones([1, 1], tf.bool))
    tokens = tf.keras.Input([None, 4])
    model = tf.keras.Model(tokens, encoder(tokens))
    x = tf.random.stateless_normal([2, 5, 4], [1, 2])
    tf.saved_model.save(model, str(tmp_path / "saved"))

    def slopes(function, weights):
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.reduce_sum(tf.square(function(x, training=False)))
        found = tape.gradient(total, [x, *weights], unconnected_gradients="zero")
        return [total, found[0], *(dict(zip((w.name for w in weights), found[1:])).values())]

    weights = sorted(model.trainable_weights, key=lambda weight: weight.name)
    expected = slopes(model, weights)
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    weights = sorted(loaded.trainable_variables, key=lambda weight: weight.name)
    for ours, theirs in zip(slopes(loaded, weights), expected):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    (name,) = loaded.signatures["serving_default"].structured_input_signature[1]
    question = Question(tmp_path / "saved", {"batch": {name: x.numpy()}}, tmp_path, ("disan_tf",))
    (vectors,) = ask(question)[0]["batch", "serving_default"].values()
    np.testing.assert_allclose(vectors, model(x), atol=1e-5)


@pytest.mark.parametrize(
    "path",
    [
        "/site-packages/keras/src/export/onnx.py",
        "C:\\site-packages\\tf_keras\\src\\export\\export_lib.py",
        "/site-packages/tensorflow/lite/python/lite.py",
        "/site-packages/tf2onnx/convert.py",
    ],
)
def test_a_function_that_an_exporter_traces_is_portable(path):
    exporter = {"tf": tf, "is_saving": is_saving}
    source = "def export(function): return tf.function(function).get_concrete_function()"
    exec(compile(source, path, "exec"), exporter)
    found = []
    exporter["export"](lambda: found.append((is_saving(), runtime.is_used())))
    assert found == [(True, False)]


def test_other_functions_are_not_taken_for_exports():
    found = []
    tf.function(lambda: found.append(is_saving())).get_concrete_function()
    assert found == [False] and not is_saving()
