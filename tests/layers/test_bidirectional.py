"""Recurrent layers inside Keras' `Bidirectional`."""

import numpy as np
import pytest
import tensorflow as tf

from disan_tf.layers import BasicGRU, BasicLSTM, BasicRNN
from tests.support.layers.small import MASK, X
from tests.support.layers.weights import draw_weights
from tests.support.ops.backends import BACKENDS

KINDS = [BasicLSTM, BasicGRU, BasicRNN]


def _wrapped(layer, **options):
    """The wrapper, with random weights."""
    wrapper = tf.keras.layers.Bidirectional(layer, **options)
    wrapper.build(X.shape)
    draw_weights(wrapper.trainable_weights, seed=3)
    return wrapper


def _read(layer, backward):
    """h of each sentence's real tokens, read alone by a layer with the same weights; 0 on padding.

    A backward layer reads the reversed sentence.
    """
    reader = type(layer)(layer.units)
    reader.build(X.shape)
    for weight, value in zip(reader.trainable_weights, layer.trainable_weights):
        weight.assign(value)
    result = np.zeros([*MASK.shape, layer.units], np.float32)
    for sentence, mask in enumerate(MASK):
        places = np.flatnonzero(mask)[:: -1 if backward else 1]
        if len(places):
            result[sentence, places] = reader(tf.gather(X[sentence], places)[None])[0]
    return result


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_each_direction_reads_the_real_tokens(kind, backend):
    with backend():
        wrapper = _wrapped(kind(3))
        actual = wrapper(X, mask=tf.constant(MASK))
        forward = _read(wrapper.forward_layer, backward=False)
        backward = _read(wrapper.backward_layer, backward=True)
    np.testing.assert_allclose(actual, np.concatenate([forward, backward], -1), atol=1e-6)


@pytest.mark.parametrize("mode", ["sum", None])
def test_the_ways_to_merge(mode):
    wrapper = _wrapped(BasicLSTM(3), merge_mode=mode)
    actual = wrapper(X, mask=tf.constant(MASK))
    first = _read(wrapper.forward_layer, backward=False)
    second = _read(wrapper.backward_layer, backward=True)
    merged = {"sum": first + second, None: [first, second]}
    np.testing.assert_allclose(actual, merged[mode], atol=1e-6)


def test_a_model_with_an_embedding_trains_and_returns_from_a_file(tmp_path):
    ids = np.array([[2, 3, 4], [5, 0, 0]])
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Embedding(8, 4, mask_zero=True),
            tf.keras.layers.Bidirectional(BasicLSTM(3, dropout=0.25)),
            tf.keras.layers.GlobalAveragePooling1D(),
        ]
    )
    model.compile("sgd", "mse")
    model.fit(ids, np.ones([2, 6]), verbose=0)
    expected = model.predict(ids, verbose=0)
    longer = np.pad(ids, [[0, 0], [0, 2]])
    np.testing.assert_allclose(model.predict(longer, verbose=0), expected, atol=1e-6)
    model.save(tmp_path / "model.keras")
    again = tf.keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(again.predict(ids, verbose=0), expected)
    copy = tf.keras.models.clone_model(model)
    copy(ids)  # builds it
    copy.set_weights(model.get_weights())
    np.testing.assert_array_equal(copy.predict(ids, verbose=0), expected)


@pytest.mark.parametrize(
    "mode, only", [("return_sequences", True), ("return_state", False), ("stateful", False)]
)
def test_a_mode_of_keras_that_is_missing_is_refused_in_a_sentence(mode, only):
    BasicLSTM(3, **{mode: only})
    with pytest.raises(ValueError, match=f"^{mode}={not only} must be {only}: BasicLSTM returns"):
        BasicLSTM(3, **{mode: not only})


def test_an_initial_state_is_refused_in_a_sentence():
    states = [tf.zeros([4, 3])] * 2
    with pytest.raises(ValueError, match="initial_state must be None: BasicRNN begins with"):
        BasicRNN(3)(X, initial_state=states[0])
    with pytest.raises(ValueError, match="initial_state must be None: BasicRNN begins with"):
        tf.keras.layers.Bidirectional(BasicRNN(3))(X, initial_state=states)
