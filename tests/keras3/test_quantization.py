"""Models after Keras 3's `quantize("int8")`: near outputs, and files that load."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf import layers
from disan_tf.common.keras_version import CHOICE, is_keras_3
from tests.layers.test_keras import DIM, OF_TOKENS, SLOW
from tests.support.layers.weights import draw_weights

pytestmark = [
    pytest.mark.skipif(not is_keras_3(), reason=f"needs TensorFlow 2.16 or later, and {CHOICE}=3"),
    pytest.mark.filterwarnings("ignore:Layer .*quantize"),  # of layers without a matrix
]
X = np.random.default_rng(1).normal(size=[16, 5, DIM]).astype(np.float32)
HARD = {"ReSAN", "SelectedSource2TokenEncoder"}  # a token with p near 0.5 may change sides
NAMES = [
    pytest.param(name, marks=pytest.mark.slow) if name in SLOW - HARD else name
    for name in sorted({*OF_TOKENS} - {"ReinforcedSelfAttention"})
]


def _model(name):
    model = tf.keras.Sequential([tf.keras.Input([5, DIM]), OF_TOKENS[name]()])
    draw_weights(model.weights, seed=4, size=0.4)
    return model


def test_a_quantised_matrix_is_a_hundred_and_twenty_seventh_exact():
    layer = layers.Linear(2)
    layer(tf.ones([1, 2]))
    layer.dense.set_weights([np.array([[1.27, -0.5], [0.014, 0.25]]), np.array([0.0, 1.0])])
    layer.dense.quantize("int8")
    assert layer.dense._kernel.dtype == "int8"
    # Steps of 1.27 / 127 and 0.5 / 127: 0.014 becomes 0.01, and 0.25 becomes 64 or 63 steps.
    np.testing.assert_allclose(layer.dense.kernel, [[1.27, -0.5], [0.01, 0.25]], atol=0.002)
    np.testing.assert_allclose(layer(np.eye(2)), layer.dense.kernel + [0.0, 1.0], atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_outputs_change_by_at_most_a_hundredth_and_the_file_gives_the_same(name, tmp_path):
    model = _model(name)
    x = X[:2] if name in HARD else X
    before = model(x).numpy()
    model.quantize("int8")
    after = model(x).numpy()
    assert np.abs(after - before).max() <= 0.01 * (before.max() - before.min())
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded(x), after)


def test_other_modes_leave_the_values_as_they_are():
    model = _model("Linear")
    expected = model(X)
    model.quantize("int4")
    np.testing.assert_array_equal(model(X), expected)
