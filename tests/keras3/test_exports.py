"""Keras 3's `export` to ONNX and LiteRT, which writes portable operations without being asked."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf import encoders, layers
from disan_tf.common.keras_version import CHOICE, is_keras_3
from tests.layers.test_keras import DIM, OF_TOKENS, SLOW
from tests.support.layers.weights import draw_weights

pytestmark = [
    pytest.mark.skipif(not is_keras_3(), reason=f"needs TensorFlow 2.16 or later, and {CHOICE}=3"),
    pytest.mark.filterwarnings("ignore:In the future `np.object`"),  # in tf2onnx
]
BATCH, LENGTH = 20, 9
GENERATOR = np.random.default_rng(1)
X = GENERATOR.normal(size=[BATCH, LENGTH, DIM]).astype(np.float32)
MASK = np.arange(LENGTH) < GENERATOR.integers(1, LENGTH, size=[BATCH, 1])
OF_PAIRS = {
    "DRCN": lambda: encoders.DRCN(3, 2),
    "DRCN with bottlenecks": lambda: encoders.DRCN(3, 3, "lstm", bottleneck_units=5),
    "MultiwayCoAttention": lambda: layers.MultiwayCoAttention("B-Ca-Cs-D-M"),
}
MADE = {
    **{name: OF_TOKENS[name] for name in (*SLOW, "BasicLSTM", "DiSAN")},
    "DSAEncoder of three attentions": lambda: encoders.DSAEncoder(5, 3),
    "IterativeSequenceSampling": lambda: layers.IterativeSequenceSampling(4, backward=True),
    "ReSAN with iterative sampling": lambda: encoders.ReSAN(4, sampling="iterative"),
    **OF_PAIRS,
}
LOOPS = {  # over tokens
    *("BasicLSTM", "BiGRUEncoder", "BiLSTMEncoder", "PooledBiLSTMEncoder", *OF_PAIRS),
    *("IterativeSequenceSampling", "ReSAN with iterative sampling"),
}
QUICK = {"BasicLSTM", "DiSAN", "DRCN", "DSAEncoder", "IterativeSequenceSampling"}
each = pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in sorted(MADE)]
)


def _model_and_inputs(name, fixed=False):
    """A model of vectors and masks whose weights differ from the initial ones, and its inputs."""
    values, mask_names = [X, MASK], ["mask"]
    if name in OF_PAIRS:
        values = [X, X[::-1, :7], MASK, MASK[::-1, :7]]
        mask_names = ["first_mask", "second_mask"]
    inputs = [
        tf.keras.Input(
            batch_shape=value.shape if fixed else (None, None, *value.shape[2:]),
            dtype=value.dtype.name,
            name=f"input_{number}",
        )
        for number, value in enumerate(values)
    ]
    x, masks = inputs[: len(mask_names)], inputs[len(mask_names) :]
    model = tf.keras.Model(inputs, MADE[name]()(*x, **dict(zip(mask_names, masks))))
    draw_weights(model.weights, seed=4, size=0.4)
    model(values)  # natively, where that is possible
    return model, values


def _assert_equal(found, model, values):
    for actual, expected in zip(found, tf.nest.flatten(model(values)), strict=True):
        np.testing.assert_allclose(actual, expected, atol=1e-5)


@each
def test_an_onnx_file_gives_the_same(name, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("tf2onnx")
    (model, values), path = _model_and_inputs(name), str(tmp_path / "model.onnx")
    model.export(path, format="onnx", verbose=False)
    session = runtime.InferenceSession(path)
    found = session.run(None, dict(zip((i.name for i in session.get_inputs()), values)))
    _assert_equal(found, model, values)


@each
def test_a_litert_file_gives_the_same(name, tmp_path):
    if name in LOOPS:
        pytest.skip("LiteRT runs loops over tokens with its Flex delegate alone")
    (model, values), path = _model_and_inputs(name, fixed=True), tmp_path / "model.tflite"
    model.export(str(path), format="litert", verbose=False)
    assert b"Disan" not in path.read_bytes()
    run = tf.lite.Interpreter(str(path)).get_signature_runner()
    found = run(**{f"input_{number}": value for number, value in enumerate(values)})
    _assert_equal([found[key] for key in sorted(found)], model, values)
