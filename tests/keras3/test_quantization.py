"""Models after Keras 3's `quantize("int8")`: near outputs, and files that load."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf import TextClassifier, layers
from disan_tf.common.keras_version import CHOICE, is_keras_3
from tests.layers.test_keras import DIM, SLOW
from tests.layers.test_output_shape import NAMES as ALL
from tests.layers.test_output_shape import SEVERAL, new_layer
from tests.support.layers.weights import draw_weights

pytestmark = [
    pytest.mark.skipif(not is_keras_3(), reason=f"needs TensorFlow 2.16 or later, and {CHOICE}=3"),
    pytest.mark.filterwarnings("ignore:Layer .*quantize"),  # of layers without a matrix
]
X = np.random.default_rng(1).normal(size=[16, 5, DIM]).astype(np.float32)
HARD = {"ReSAN", "SelectedSource2TokenEncoder"}  # a token with p near 0.5 may change sides
UNFIT = {"ReinforcedSelfAttention", "WordSoftmax"}  # of two outputs; of losses in training
NAMES = [
    pytest.param(name, marks=pytest.mark.slow) if name in {*SLOW, *SEVERAL} - HARD else name
    for name in sorted({*ALL} - UNFIT)
]


def _model_and_inputs(name):
    layer, small = new_layer(name)
    x = {
        key: X[:, 0] if value.ndim == 2 else X[:, : value.shape[1]] for key, value in small.items()
    }
    inputs = [tf.keras.Input(value.shape[1:]) for value in x.values()]
    model = tf.keras.Model(inputs, layer(*inputs))
    draw_weights(model.trainable_weights, seed=4, size=0.4)  # a variance is not negative
    x = [value[:2] if name in HARD else value for value in x.values()]
    return model, x


def test_a_quantised_matrix_is_a_hundred_and_twenty_seventh_exact():
    layer = layers.Linear(2)
    layer(tf.ones([1, 2]))
    layer.dense.set_weights([np.array([[1.27, -0.5], [0.014, 0.25]]), np.array([0.0, 1.0])])
    layer.dense.quantize("int8")
    # Steps of 1.27 / 127 and 0.5 / 127: 0.014 becomes 0.01, and 0.25 becomes 64 or 63 steps.
    np.testing.assert_allclose(layer.dense.kernel, [[1.27, -0.5], [0.01, 0.25]], atol=0.002)
    np.testing.assert_allclose(layer(np.eye(2)), layer.dense.kernel + [0.0, 1.0], atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_outputs_change_by_at_most_a_hundredth_and_the_file_gives_the_same(name, tmp_path):
    model, x = _model_and_inputs(name)
    before = tf.nest.flatten(model(x))
    model.quantize("int8")
    after = tf.nest.flatten(model(x))
    for old, new in zip(before, after, strict=True):
        assert np.abs(new - old).max() <= 0.01 * np.ptp(old)
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    for new, found in zip(after, tf.nest.flatten(loaded(x)), strict=True):
        np.testing.assert_array_equal(found, new)


def test_the_logits_of_a_released_model_change_by_at_most_a_hundredth():
    model = TextClassifier.from_preset("disan_trec")
    texts = ["Who wrote this book ?", "How many people live in Rome ?", "Where is the Nile ?"]
    before = model.predict(texts, verbose=0)
    model.quantize("int8")
    after = model.predict(texts, verbose=0)
    assert 0 < np.abs(after - before).max() <= 0.01 * np.ptp(before)


def test_other_modes_leave_the_values_as_they_are():
    model, x = _model_and_inputs("Linear")
    expected = model(x)
    model.quantize("int4")
    np.testing.assert_array_equal(model(x), expected)
