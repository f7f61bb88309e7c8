"""The size of a layer's input, which is fixed when the layer is built."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf import encoders, layers
from tests.layers.test_keras import DIM, OF_TOKENS

X = tf.random.stateless_normal([2, 3, DIM], [1, 2])
NAMES = [name for name in OF_TOKENS if "Encoder" not in name and name != "Dropout"]
REFUSED = f"(?s)expected axis -1.*{DIM}.*{DIM + 1}"


@pytest.mark.parametrize("name", NAMES)
def test_another_size_of_vectors_raises_the_error_of_keras(name):
    layer = OF_TOKENS[name]()
    layer(X)
    with pytest.raises(ValueError, match=REFUSED):
        layer(tf.ones([2, 3, DIM + 1]))
    layer(tf.ones([4, 2, DIM]))


@pytest.mark.parametrize(
    ["layer", "inputs"],
    [
        (layers.FusionGate(), 2 * [X]),
        (layers.MultiwayCoAttention("B"), [X, X, *2 * [np.ones([2, 3])]]),
        (layers.ClassificationHead(2, 3), [X[:, 0]]),
        (layers.DSAHead(2, 3), [X[:, 0]]),
        (layers.WordSoftmax(5, 2), [X[0], tf.zeros([3], tf.int32)]),
        (encoders.DRCN(3, 1), [X, X, *2 * [np.ones([2, 3])]]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_another_size_of_several_inputs_raises_it_too(layer, inputs):
    layer(*inputs)
    wider = [tf.ones([*x.shape[:-1], DIM + 1]) if x.shape[-1] == DIM else x for x in inputs]
    with pytest.raises(ValueError, match=REFUSED):
        layer(*wider)


@pytest.mark.parametrize("name", ["DirectionalSelfAttention", "Linear"])
def test_copies_and_files_keep_the_size_and_mixed_precision_too(name, tmp_path):
    layer = OF_TOKENS[name]()
    model = tf.keras.Sequential([tf.keras.Input([3, DIM]), layer])
    model.save(tmp_path / "model.keras")
    loaded = tf.keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded(X), model(X))
    clone = tf.keras.models.clone_model(model)
    half = type(layer).from_config({**layer.get_config(), "dtype": "mixed_bfloat16"})
    half(X)
    for each in (loaded.layers[-1], clone.layers[-1], half):
        with pytest.raises(ValueError, match=REFUSED):
            each(tf.ones([2, 3, DIM + 1]))


def test_a_copy_from_a_config_reads_vectors_of_any_size_until_it_is_built():
    layer = layers.Linear(4)
    layer(X)
    copy = layers.Linear.from_config(layer.get_config())
    assert copy(tf.ones([2, 9])).shape == [2, 4]
