"""Keras 3's `export` in every format, which writes portable operations without being asked."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.common.keras_version import CHOICE, is_keras_3
from tests.layers.test_keras import DIM, OF_TOKENS, SLOW
from tests.support.layers.weights import draw_weights

pytestmark = [
    pytest.mark.skipif(not is_keras_3(), reason=f"needs TensorFlow 2.16 or later, and {CHOICE}=3"),
    pytest.mark.filterwarnings("ignore:In the future `np.object`"),  # in tf2onnx
]
X = np.random.default_rng(1).normal(size=[2, 5, DIM]).astype(np.float32)
ENCODERS = [
    pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name
    for name in sorted(SLOW - {"DSAEncoder"} | {"DiSAN", "Linear", "BasicLSTM"})
]


def _model(name):
    model = tf.keras.Sequential([tf.keras.Input([5, DIM], batch_size=2), OF_TOKENS[name]()])
    draw_weights(model.weights, seed=4, size=0.4)
    model.predict(X, verbose=0)  # natively, where that is possible
    return model


@pytest.mark.parametrize("name", ENCODERS)
def test_an_onnx_file_gives_the_same(name, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("tf2onnx")
    model, path = _model(name), str(tmp_path / "model.onnx")
    model.export(path, format="onnx", verbose=False)
    session = runtime.InferenceSession(path)
    (found,) = session.run(None, {session.get_inputs()[0].name: X})
    np.testing.assert_allclose(found, model(X), atol=1e-5)


@pytest.mark.parametrize("name", ["DiSAN", "BasicLSTM"])
def test_a_litert_file_has_no_operation_of_ours(name, tmp_path):
    model, path = _model(name), tmp_path / "model.tflite"
    model.export(str(path), format="litert", verbose=False)
    assert b"Disan" not in path.read_bytes()
